use std::borrow::Cow;
use std::cmp::Ordering;

use aws_sdk_dynamodb::types::AttributeValue;

use super::condition::{Comparator, Condition, Operand};
use super::path::Path;
use crate::store::Item;
use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value::{number, type_name};

/// Evaluates `condition` over `item`, whose values are canonical.
pub(super) fn holds(condition: &Condition, item: &Item) -> Result<bool, Refusal> {
    Ok(match condition {
        Condition::And(left, right) => holds(left, item)? && holds(right, item)?,
        Condition::Or(left, right) => holds(left, item)? || holds(right, item)?,
        Condition::Not(inner) => !holds(inner, item)?,
        Condition::Exists(path) => path.get(item).is_some(),
        Condition::NotExists(path) => path.get(item).is_none(),
        Condition::HasType(path, wanted) => path.get(item).is_some_and(|value| type_name(value) == wanted),
        Condition::BeginsWith(whole, prefix) => {
            resolve(whole, item).zip(resolve(prefix, item)).is_some_and(|(w, p)| begins_with(&w, &p))
        }
        Condition::Contains(whole, part) => {
            resolve(whole, item).zip(resolve(part, item)).is_some_and(|(w, p)| contains(&w, &p))
        }
        Condition::Compare(left, comparator, right) => compare(left, *comparator, right, item)?,
        Condition::Between(middle, low, high) => {
            compare(middle, Comparator::GreaterOrEqual, low, item)?
                && compare(middle, Comparator::LessOrEqual, high, item)?
        }
        Condition::In(left, candidates) => {
            let left = resolve(left, item);
            left.is_some() && candidates.iter().any(|one| resolve(one, item) == left)
        }
    })
}

fn resolve<'i>(operand: &'i Operand, item: &'i Item) -> Option<Cow<'i, AttributeValue>> {
    match operand {
        Operand::Value(value) => Some(Cow::Borrowed(value)),
        Operand::Path(path) => path.get(item).map(Cow::Borrowed),
        Operand::Size(path) => size(path, item).map(|size| Cow::Owned(AttributeValue::N(size.to_string()))),
    }
}

/// `size()` of what is at the path; numbers, booleans and null have none.
fn size(path: &Path, item: &Item) -> Option<usize> {
    Some(match path.get(item)? {
        // The guide says "the length of the string", which the service counts in UTF-16 code units.
        AttributeValue::S(text) => text.encode_utf16().count(),
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(members) | AttributeValue::Ns(members) => members.len(),
        AttributeValue::Bs(members) => members.len(),
        AttributeValue::L(values) => values.len(),
        AttributeValue::M(fields) => fields.len(),
        _ => return None,
    })
}

/// A missing attribute differs from everything and is neither less nor greater than anything.
fn compare(left: &Operand, comparator: Comparator, right: &Operand, item: &Item) -> Result<bool, Refusal> {
    let Some((left, right)) = resolve(left, item).zip(resolve(right, item)) else {
        return Ok(comparator == Comparator::Different);
    };
    Ok(match comparator {
        Comparator::Equal => left == right,
        Comparator::Different => left != right,
        Comparator::Less => order(&left, &right)?.is_some_and(Ordering::is_lt),
        Comparator::LessOrEqual => order(&left, &right)?.is_some_and(Ordering::is_le),
        Comparator::Greater => order(&left, &right)?.is_some_and(Ordering::is_gt),
        Comparator::GreaterOrEqual => order(&left, &right)?.is_some_and(Ordering::is_ge),
    })
}

/// The order of two values; only strings (by bytes), numbers and binaries have one, each among its own kind.
pub(super) fn order(left: &AttributeValue, right: &AttributeValue) -> Result<Option<Ordering>, Refusal> {
    Ok(match (left, right) {
        (AttributeValue::S(one), AttributeValue::S(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
        (AttributeValue::N(one), AttributeValue::N(other)) => Some(number(one)?.cmp(&number(other)?)),
        (AttributeValue::B(one), AttributeValue::B(other)) => Some(one.as_ref().cmp(other.as_ref())),
        _ => None,
    })
}

fn begins_with(whole: &AttributeValue, prefix: &AttributeValue) -> bool {
    match (whole, prefix) {
        (AttributeValue::S(whole), AttributeValue::S(prefix)) => whole.starts_with(prefix.as_str()),
        (AttributeValue::B(whole), AttributeValue::B(prefix)) => whole.as_ref().starts_with(prefix.as_ref()),
        _ => false,
    }
}

fn contains(whole: &AttributeValue, part: &AttributeValue) -> bool {
    match (whole, part) {
        (AttributeValue::S(whole), AttributeValue::S(part)) => whole.contains(part.as_str()),
        (AttributeValue::B(whole), AttributeValue::B(part)) => {
            let (whole, part) = (whole.as_ref(), part.as_ref());
            part.is_empty() || whole.windows(part.len()).any(|window| window == part)
        }
        (AttributeValue::Ss(members), AttributeValue::S(one)) => members.contains(one),
        (AttributeValue::Ns(members), AttributeValue::N(one)) => members.contains(one),
        (AttributeValue::Bs(members), AttributeValue::B(one)) => members.contains(one),
        (AttributeValue::L(values), one) => values.contains(one),
        _ => false,
    }
}
