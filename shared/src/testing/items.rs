use aws_sdk_dynamodb::types::AttributeValue;

use crate::store::Item;

/// An item, or a key, from name and value pairs.
///
/// ```
/// use oncebox::testing::{item, number, text};
///
/// let account = item([("pk", text("account#1")), ("balance", number(250))]);
/// assert_eq!(account["balance"], number(250));
/// ```
#[must_use]
pub fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A string attribute.
#[must_use]
pub fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// A number attribute, for anything that prints as a DynamoDB number.
#[must_use]
pub fn number(value: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
