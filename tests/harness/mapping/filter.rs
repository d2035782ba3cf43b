use serde_json::{Map, Value};

/// One pattern of `FilterCriteria`: an object whose leaves list the values that match, such as
/// `{"eventName": ["INSERT"]}` (`invocation-eventfiltering.html`).
///
/// Only plain values are known here; comparisons such as `prefix` or `numeric` are refused.
#[derive(Debug, Clone)]
pub struct Filter(Map<String, Value>);

/// A pattern that is none, or that is not known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no pattern of objects and lists of plain values")]
pub struct FilterError(String);

impl Filter {
    /// # Errors
    /// [`FilterError`] for anything but objects whose leaves are lists of texts, numbers, booleans or null.
    pub fn new(pattern: &str) -> Result<Self, FilterError> {
        match serde_json::from_str(pattern) {
            Ok(Value::Object(fields)) if is_known(&fields) => Ok(Self(fields)),
            _ => Err(FilterError(pattern.to_owned())),
        }
    }

    pub(super) fn matches(&self, record: &Value) -> bool {
        matches(&self.0, record)
    }
}

fn is_known(fields: &Map<String, Value>) -> bool {
    fields.values().all(|value| match value {
        Value::Object(fields) => is_known(fields),
        Value::Array(values) => values.iter().all(|value| !value.is_object() && !value.is_array()),
        _ => false,
    })
}

/// All fields of a pattern must match, each any of its values.
fn matches(fields: &Map<String, Value>, data: &Value) -> bool {
    fields.iter().all(|(name, wanted)| match (wanted, data.get(name)) {
        (Value::Object(fields), Some(data)) => matches(fields, data),
        (Value::Array(values), Some(data)) => values.contains(data),
        _ => false,
    })
}
