use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::AttributeValue;

use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value;

/// The `#names` and `:values` of one action, and which of them its expressions have used.
///
/// An action's condition and update share them, hence one counter for both: DynamoDB refuses a request that
/// defines what it does not use.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
    used: HashSet<String>,
}

impl Attributes {
    pub(crate) fn new(
        names: Option<HashMap<String, String>>,
        values: Option<HashMap<String, AttributeValue>>,
    ) -> Result<Self, Refusal> {
        for (what, empty) in [
            ("ExpressionAttributeNames", names.as_ref().is_some_and(HashMap::is_empty)),
            ("ExpressionAttributeValues", values.as_ref().is_some_and(HashMap::is_empty)),
        ] {
            if empty {
                return Err(Refusal::invalid(format!("{what} must not be empty")));
            }
        }
        let (names, values) = (names.unwrap_or_default(), values.unwrap_or_default());
        for (sign, key) in names.keys().map(|key| ('#', key)).chain(values.keys().map(|key| (':', key))) {
            if !key.strip_prefix(sign).is_some_and(is_placeholder) {
                return Err(Refusal::invalid(format!("invalid expression attribute key: {key:?}")));
            }
        }
        let canonical = |(key, given): (String, AttributeValue)| Ok((key, value::canonical(&given, 1)?));
        Ok(Self {
            names,
            values: values.into_iter().map(canonical).collect::<Result<_, Refusal>>()?,
            used: HashSet::new(),
        })
    }

    /// The attribute name behind `#placeholder`, which comes with its sign.
    pub(super) fn name(&mut self, placeholder: &str) -> Result<String, Refusal> {
        let name = self.names.get(placeholder).cloned();
        let name = name.ok_or_else(|| {
            Refusal::invalid(format!("an expression attribute name is not defined: {placeholder}"))
        })?;
        self.used.insert(placeholder.to_owned());
        Ok(name)
    }

    /// The value behind `:placeholder`, which comes with its sign.
    pub(super) fn value(&mut self, placeholder: &str) -> Result<AttributeValue, Refusal> {
        let value = self.values.get(placeholder).cloned();
        let value = value.ok_or_else(|| {
            Refusal::invalid(format!("an expression attribute value is not defined: {placeholder}"))
        })?;
        self.used.insert(placeholder.to_owned());
        Ok(value)
    }

    /// Bytes of the values, for the size of a transaction.
    pub(crate) fn value_bytes(&self) -> usize {
        value::item_bytes(&self.values)
    }

    /// Refuses names and values that no expression used.
    pub(crate) fn all_used(&self) -> Result<(), Refusal> {
        let mut unused: Vec<_> =
            self.names.keys().chain(self.values.keys()).filter(|key| !self.used.contains(*key)).collect();
        unused.sort();
        match unused.as_slice() {
            [] => Ok(()),
            unused => Err(Refusal::invalid(format!("unused in expressions: {unused:?}"))),
        }
    }
}

fn is_placeholder(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
