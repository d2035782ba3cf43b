//! What an order has to look like. No AWS types.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::problem::{FieldError, Problem};

/// Longest id of an account or an article.
const MAX_ID: usize = 128;
/// Largest quantity of one order.
const MAX_QUANTITY: u64 = 1_000_000;
/// Largest amount of one order: 10 billion.
const MAX_AMOUNT_CENTS: u64 = 1_000_000_000_000;

/// An order that passed every check. Repeats are compared by what it is written as: a field that is added later has to be
/// left out where it is absent, and none may change its name or place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NewOrder {
    pub(crate) account_id: String,
    pub(crate) sku: String,
    pub(crate) quantity: u32,
    pub(crate) amount_cents: u64,
}

/// The fields of an object. JSON does not say which one counts of two with one name, so that whoever has looked at the order
/// on its way here may have read another.
struct Fields {
    once: Map<String, Value>,
    twice: Vec<String>,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self { once: Map::new(), twice: Vec::new() })
    }
}

impl<'de> Visitor<'de> for Fields {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if self.once.contains_key(&name) && !self.twice.contains(&name) {
                self.twice.push(name.clone());
            }
            self.once.insert(name, value);
        }
        Ok(self)
    }
}

impl NewOrder {
    /// Reads and checks a request body; names every field that is wrong.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Problem> {
        let Fields { once: mut fields, twice } =
            serde_json::from_slice(body).map_err(|error| Problem::not_json(&error))?;
        let mut errors: Vec<_> = twice.iter().map(|name| FieldError::new(name, "is there twice")).collect();
        let account_id = id(&mut fields, "account_id", &mut errors);
        let sku = id(&mut fields, "sku", &mut errors);
        let quantity = count(&mut fields, "quantity", MAX_QUANTITY, &mut errors);
        let amount_cents = count(&mut fields, "amount_cents", MAX_AMOUNT_CENTS, &mut errors);
        errors.extend(fields.keys().map(|name| FieldError::new(name, "is not a field of an order")));
        let quantity = u32::try_from(quantity).unwrap_or_default();
        if errors.is_empty() {
            Ok(Self { account_id, sku, quantity, amount_cents })
        } else {
            Err(Problem::fields(errors))
        }
    }
}

fn id(fields: &mut Map<String, Value>, name: &'static str, errors: &mut Vec<FieldError>) -> String {
    let problem = match fields.remove(name) {
        None => "is missing",
        Some(Value::String(text)) if text.is_empty() || text.len() > MAX_ID => "must have 1 to 128 bytes",
        Some(Value::String(text)) if text.chars().any(is_unfit) => {
            "must not have control characters, U+FFFE or U+FFFF"
        }
        Some(Value::String(text)) => return text,
        Some(_) => "must be a text",
    };
    errors.push(FieldError::new(name, problem));
    String::new()
}

/// What no queue takes, or nobody can see.
fn is_unfit(character: char) -> bool {
    character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}')
}

fn count(fields: &mut Map<String, Value>, name: &'static str, max: u64, errors: &mut Vec<FieldError>) -> u64 {
    match fields.remove(name).map(|value| value.as_u64()) {
        None => errors.push(FieldError::new(name, "is missing")),
        Some(Some(number)) if (1..=max).contains(&number) => return number,
        Some(_) => errors.push(FieldError::new(name, &format!("must be a whole number from 1 to {max}"))),
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(body: &str) -> Vec<String> {
        let problem = NewOrder::read(body.as_bytes()).unwrap_err();
        problem.errors.iter().map(|error| format!("{} {}", error.field, error.problem)).collect()
    }

    #[test]
    fn a_good_order_is_read() {
        let order =
            NewOrder::read(br#"{"account_id":"a","sku":"s","quantity":2,"amount_cents":300}"#).unwrap();
        assert_eq!((order.quantity, order.amount_cents), (2, 300));
    }

    #[test]
    fn every_wrong_field_is_named() {
        assert_eq!(
            errors(r#"{"account_id":"","sku":7,"quantity":0,"colour":"red"}"#),
            [
                "account_id must have 1 to 128 bytes",
                "sku must be a text",
                "quantity must be a whole number from 1 to 1000000",
                "amount_cents is missing",
                "colour is not a field of an order",
            ]
        );
    }

    #[test]
    fn numbers_that_are_no_counts_are_refused() {
        for bad in ["-1", "1.5", "\"2\"", "null", "1e3", "18446744073709551616"] {
            let body = format!(r#"{{"account_id":"a","sku":"s","quantity":{bad},"amount_cents":1}}"#);
            assert_eq!(errors(&body), ["quantity must be a whole number from 1 to 1000000"], "{bad}");
        }
    }

    #[test]
    fn what_is_no_object_is_a_bad_request() {
        for body in ["", "[]", "null", "{", "\u{0}"] {
            assert_eq!(NewOrder::read(body.as_bytes()).unwrap_err().status.as_u16(), 400, "{body:?}");
        }
    }
}
