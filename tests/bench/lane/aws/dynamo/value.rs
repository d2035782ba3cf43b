use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An attribute as DynamoDB's JSON has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    S(String),
    N(String),
    B(String),
    #[serde(rename = "BOOL")]
    Bool(bool),
    #[serde(rename = "NULL")]
    Null(bool),
    M(Item),
    L(Vec<Value>),
    #[serde(rename = "SS")]
    Texts(Vec<String>),
    #[serde(rename = "NS")]
    Numbers(Vec<String>),
}

/// Attributes by name.
pub(crate) type Item = BTreeMap<String, Value>;

impl Value {
    /// The number, exactly; money and times are whole.
    pub(crate) fn whole(&self) -> Option<i128> {
        match self {
            Self::N(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}
