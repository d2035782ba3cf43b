use serde_json::{Map, Value};

/// One pattern of `FilterCriteria` (`invocation-eventfiltering`): every field that it names has to match one of the rules in
/// its list; what it does not name does not matter.
///
/// The pages contradict each other about fields outside `dynamodb`: `with-ddb-filtering` says that only that key is
/// supported, while AWS's own examples filter by `eventName`, as the template here does. They match here.
#[derive(Debug, Clone)]
pub struct Filter {
    pattern: Map<String, Value>,
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// It is no JSON.
    #[error("the pattern is no JSON object")]
    NotAnObject(#[from] serde_json::Error),
    /// A field's rules are no list.
    #[error("{0:?} needs a list of rules or an object")]
    NoList(String),
    /// A rule that Lambda may know and this filter does not.
    #[error("the rule {0} is not known here")]
    Unknown(String),
}

impl Filter {
    /// Takes a pattern as text, as the template has it.
    ///
    /// Rules: equal values (`null` among them), `exists`, `prefix`, `suffix`, `anything-but` with values. Others are refused
    /// rather than passed over.
    ///
    /// # Errors
    /// [`FilterError`] names what is wrong.
    ///
    /// # Examples
    /// ```
    /// use oncebox_tests::poller::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::parse(r#"{"eventName":["INSERT"]}"#)?;
    /// assert!(filter.matches(&json!({ "eventName": "INSERT", "dynamodb": {} })));
    /// assert!(!filter.matches(&json!({ "eventName": "REMOVE", "dynamodb": {} })));
    /// # Ok::<(), oncebox_tests::poller::FilterError>(())
    /// ```
    pub fn parse(pattern: &str) -> Result<Self, FilterError> {
        let pattern: Map<String, Value> = serde_json::from_str(pattern)?;
        check(&pattern)?;
        Ok(Self { pattern })
    }

    /// Whether a record passes.
    #[must_use]
    pub fn matches(&self, record: &Value) -> bool {
        matches_all(&self.pattern, Some(record))
    }
}

fn check(pattern: &Map<String, Value>) -> Result<(), FilterError> {
    for (name, wanted) in pattern {
        match wanted {
            Value::Object(inner) => check(inner)?,
            Value::Array(rules) => {
                if let Some(rule) = rules.iter().find(|rule| !is_known(rule)) {
                    return Err(FilterError::Unknown(rule.to_string()));
                }
            }
            _ => return Err(FilterError::NoList(name.clone())),
        }
    }
    Ok(())
}

fn is_known(rule: &Value) -> bool {
    let Value::Object(rule) = rule else { return !rule.is_array() };
    let mut rules = rule.iter();
    let only = rules.next().filter(|_| rules.next().is_none());
    only.is_some_and(|(name, wanted)| match name.as_str() {
        "exists" => wanted.is_boolean(),
        "prefix" | "suffix" => wanted.is_string(),
        "anything-but" => wanted.is_array(),
        _ => false,
    })
}

fn matches_all(pattern: &Map<String, Value>, record: Option<&Value>) -> bool {
    pattern.iter().all(|(name, wanted)| {
        let found = record.and_then(|record| record.get(name));
        match wanted {
            Value::Object(inner) => matches_all(inner, found),
            Value::Array(rules) => rules.iter().any(|rule| matches(rule, found)),
            _ => false,
        }
    })
}

fn matches(rule: &Value, found: Option<&Value>) -> bool {
    let text = found.and_then(Value::as_str);
    let Some((name, wanted)) = rule.as_object().and_then(|rule| rule.iter().next()) else {
        return found == Some(rule);
    };
    let part = wanted.as_str().unwrap_or_default();
    match name.as_str() {
        "exists" => Some(found.is_some()) == wanted.as_bool(),
        "prefix" => text.is_some_and(|text| text.starts_with(part)),
        "suffix" => text.is_some_and(|text| text.ends_with(part)),
        "anything-but" => {
            found.is_some_and(|found| wanted.as_array().is_some_and(|others| !others.contains(found)))
        }
        _ => false,
    }
}
