use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::decimal::{Decimal, NotANumber};
use super::refusal::Refusal;
use crate::store::Item;

/// Levels of lists and maps that DynamoDB stores.
const MAX_DEPTH: usize = 32;
/// Bytes that DynamoDB stores in one item, names included.
pub(crate) const MAX_ITEM_BYTES: usize = 400 * 1024;

/// Checks every value of `item` and brings it to the one spelling the twin compares by.
pub(crate) fn canonical_item(item: &Item) -> Result<Item, Refusal> {
    let one = |(name, value): (&String, &AttributeValue)| {
        if name.is_empty() {
            return Err(Refusal::invalid("an attribute name is empty"));
        }
        Ok((name.clone(), canonical(value, 1)?))
    };
    item.iter().map(one).collect()
}

/// Checks `value`; numbers get one spelling and sets one order, so that `==` is DynamoDB's equality.
pub(crate) fn canonical(value: &AttributeValue, depth: usize) -> Result<AttributeValue, Refusal> {
    if depth > MAX_DEPTH {
        return Err(Refusal::invalid("nesting levels have exceeded supported limits"));
    }
    Ok(match value {
        AttributeValue::N(text) => AttributeValue::N(number(text)?.to_string()),
        AttributeValue::Ss(members) => AttributeValue::Ss(set(members.clone())?),
        AttributeValue::Ns(members) => {
            let spelled = members.iter().map(|text| Ok(number(text)?.to_string()));
            AttributeValue::Ns(set(spelled.collect::<Result<_, Refusal>>()?)?)
        }
        AttributeValue::Bs(members) => AttributeValue::Bs(set(members.clone())?),
        AttributeValue::L(values) => {
            AttributeValue::L(values.iter().map(|one| canonical(one, depth + 1)).collect::<Result<_, _>>()?)
        }
        AttributeValue::M(fields) => {
            let one = |(name, value): (&String, _)| Ok((name.clone(), canonical(value, depth + 1)?));
            AttributeValue::M(fields.iter().map(one).collect::<Result<HashMap<_, _>, Refusal>>()?)
        }
        AttributeValue::Null(false) => {
            return Err(Refusal::invalid("null attribute value types must have the value of true"));
        }
        AttributeValue::S(_)
        | AttributeValue::B(_)
        | AttributeValue::Bool(_)
        | AttributeValue::Null(true) => value.clone(),
        other => return Err(Refusal::unsupported(format_args!("the attribute type of {other:?}"))),
    })
}

/// Orders the members and refuses what DynamoDB refuses in a set.
pub(crate) fn set<T: AsRef<[u8]>>(mut members: Vec<T>) -> Result<Vec<T>, Refusal> {
    let given = members.len();
    members.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    members.dedup_by(|one, other| one.as_ref() == other.as_ref());
    match (given, members.len()) {
        (0, _) => Err(Refusal::invalid("a set may not be empty")),
        (given, left) if given != left => Err(Refusal::invalid("a set contains duplicates")),
        _ => Ok(members),
    }
}

pub(crate) fn number(text: &str) -> Result<Decimal, Refusal> {
    Decimal::parse(text).map_err(|error| Refusal::invalid(format!("{error}: {text:?}")))
}

/// A sum or difference as the service would store it.
pub(crate) fn sum(result: Result<Decimal, NotANumber>) -> Result<AttributeValue, Refusal> {
    match result {
        Ok(sum) => Ok(AttributeValue::N(sum.to_string())),
        Err(NotANumber::Digits) => {
            Err(Refusal::unsupported("arithmetic whose result has more than 38 digits"))
        }
        Err(error) => Err(Refusal::invalid(error.to_string())),
    }
}

/// The type's name in `attribute_type` and in DynamoDB's messages.
pub(crate) fn type_name(value: &AttributeValue) -> &'static str {
    match value {
        AttributeValue::S(_) => "S",
        AttributeValue::N(_) => "N",
        AttributeValue::B(_) => "B",
        AttributeValue::Ss(_) => "SS",
        AttributeValue::Ns(_) => "NS",
        AttributeValue::Bs(_) => "BS",
        AttributeValue::L(_) => "L",
        AttributeValue::M(_) => "M",
        AttributeValue::Bool(_) => "BOOL",
        AttributeValue::Null(_) => "NULL",
        _ => "unknown",
    }
}

/// Bytes the item counts for, by the rules of "DynamoDB item sizes and formats" in the developer guide.
pub(crate) fn item_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(text) => number_bytes(text),
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(members) => members.iter().map(String::len).sum(),
        AttributeValue::Ns(members) => members.iter().map(|text| number_bytes(text)).sum(),
        AttributeValue::Bs(members) => members.iter().map(|blob| blob.as_ref().len()).sum(),
        AttributeValue::L(values) => 3 + values.iter().map(|one| 1 + value_bytes(one)).sum::<usize>(),
        AttributeValue::M(fields) => {
            3 + fields.iter().map(|(name, one)| 1 + name.len() + value_bytes(one)).sum::<usize>()
        }
        _ => 1,
    }
}

/// One byte for two significant digits, and one more; the guide calls it approximate, and so is this.
fn number_bytes(text: &str) -> usize {
    let digits = text.chars().filter(char::is_ascii_digit).collect::<String>();
    digits.trim_matches('0').len().div_ceil(2) + 1 + usize::from(text.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sets_get_one_spelling() {
        let numbers =
            |texts: &[&str]| AttributeValue::Ns(texts.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(canonical(&numbers(&["10", "1.0"]), 1), canonical(&numbers(&["1", "1e1"]), 1));
        assert!(canonical(&numbers(&["1", "1.0"]), 1).unwrap_err().to_string().contains("duplicates"));
        assert!(canonical(&numbers(&[]), 1).is_err());
        assert!(canonical(&AttributeValue::Null(false), 1).is_err());
    }

    #[test]
    fn nesting_stops_at_32_levels() {
        let nested = |levels: usize| {
            (1..levels).fold(AttributeValue::S("leaf".to_owned()), |inner, _| AttributeValue::L(vec![inner]))
        };
        assert!(canonical(&nested(32), 1).is_ok());
        assert!(canonical(&nested(33), 1).is_err());
    }

    #[test]
    fn sizes_follow_the_guide() {
        let of = |value| item_bytes(&Item::from([("ab".to_owned(), value)]));
        assert_eq!(of(AttributeValue::S("é".to_owned())), 4);
        assert_eq!(of(AttributeValue::N("1500".to_owned())), 4);
        assert_eq!(of(AttributeValue::Bool(true)), 3);
        assert_eq!(of(AttributeValue::L(vec![AttributeValue::S("x".to_owned())])), 7);
        let map = HashMap::from([("k".to_owned(), AttributeValue::S("x".to_owned()))]);
        assert_eq!(of(AttributeValue::M(map)), 8);
    }
}
