use aws_sdk_dynamodb::types::AttributeValue;

use super::{Operand, Source, UpdateExpression};
use crate::store::Item;
use crate::testing::memory::expression::path::Path;
use crate::testing::memory::refusal::Refusal;
use crate::testing::memory::value::{number, sum};

/// All values are worked out over `before`, written in path order, and removals come last from the highest path
/// down: so no clause of one expression sees or moves what another one names.
pub(super) fn apply(update: &UpdateExpression, before: &Item) -> Result<Item, Refusal> {
    let mut writes: Vec<(&Path, AttributeValue)> = Vec::new();
    let mut removals: Vec<&Path> = Vec::new();
    for (path, value) in &update.adds {
        writes.push((path, added(path.get(before), value)?));
    }
    for (path, value) in &update.deletes {
        match path.get(before).map(|stored| without(stored, value)).transpose()? {
            Some(Some(left)) => writes.push((path, left)),
            Some(None) => removals.push(path),
            None => {}
        }
    }
    for (path, source) in &update.sets {
        writes.push((path, computed(source, before)?));
    }
    removals.extend(&update.removes);
    writes.sort_by_key(|(path, _)| *path);
    removals.sort_by_key(|path| std::cmp::Reverse(*path));

    let mut item = before.clone();
    for (path, value) in writes {
        path.set(&mut item, value)?;
    }
    for path in removals {
        // An append of the same expression may stand where there was nothing; it is not what REMOVE named.
        if path.get(before).is_some() {
            path.remove(&mut item)?;
        } else {
            path.remove(&mut before.clone())?;
        }
    }
    Ok(item)
}

fn computed(source: &Source, item: &Item) -> Result<AttributeValue, Refusal> {
    match source {
        Source::One(operand) => resolve(operand, item),
        Source::Plus(left, right) => {
            let (left, right) = (resolve(left, item)?, resolve(right, item)?);
            let (AttributeValue::N(left), AttributeValue::N(right)) = (&left, &right) else {
                return Err(wrong_type());
            };
            sum(number(left)?.add(number(right)?))
        }
        Source::Minus(left, right) => {
            let (left, right) = (resolve(left, item)?, resolve(right, item)?);
            let (AttributeValue::N(left), AttributeValue::N(right)) = (&left, &right) else {
                return Err(wrong_type());
            };
            sum(number(left)?.subtract(number(right)?))
        }
    }
}

fn resolve(operand: &Operand, item: &Item) -> Result<AttributeValue, Refusal> {
    match operand {
        Operand::Value(value) => Ok(value.clone()),
        Operand::Path(path) => path.get(item).cloned().ok_or_else(|| {
            Refusal::invalid("the provided expression refers to an attribute that does not exist in the item")
        }),
        Operand::IfNotExists(path, otherwise) => match path.get(item) {
            Some(stored) => Ok(stored.clone()),
            None => resolve(otherwise, item),
        },
        Operand::ListAppend(first, second) => match (resolve(first, item)?, resolve(second, item)?) {
            (AttributeValue::L(mut values), AttributeValue::L(more)) => {
                values.extend(more);
                Ok(AttributeValue::L(values))
            }
            _ => Err(wrong_type()),
        },
    }
}

fn added(stored: Option<&AttributeValue>, value: &AttributeValue) -> Result<AttributeValue, Refusal> {
    match (stored, value) {
        (None, value) => Ok(value.clone()),
        (Some(AttributeValue::N(one)), AttributeValue::N(other)) => sum(number(one)?.add(number(other)?)),
        (Some(AttributeValue::Ss(one)), AttributeValue::Ss(other)) => {
            Ok(AttributeValue::Ss(union(one, other)))
        }
        (Some(AttributeValue::Ns(one)), AttributeValue::Ns(other)) => {
            Ok(AttributeValue::Ns(union(one, other)))
        }
        (Some(AttributeValue::Bs(one)), AttributeValue::Bs(other)) => {
            Ok(AttributeValue::Bs(union(one, other)))
        }
        _ => Err(wrong_type()),
    }
}

/// The set without `value`'s members, or `None` where nothing is left of it.
fn without(stored: &AttributeValue, value: &AttributeValue) -> Result<Option<AttributeValue>, Refusal> {
    match (stored, value) {
        (AttributeValue::Ss(one), AttributeValue::Ss(other)) => Ok(rest(one, other).map(AttributeValue::Ss)),
        (AttributeValue::Ns(one), AttributeValue::Ns(other)) => Ok(rest(one, other).map(AttributeValue::Ns)),
        (AttributeValue::Bs(one), AttributeValue::Bs(other)) => Ok(rest(one, other).map(AttributeValue::Bs)),
        _ => Err(wrong_type()),
    }
}

fn union<T: Clone + AsRef<[u8]>>(one: &[T], other: &[T]) -> Vec<T> {
    let mut members = [one, other].concat();
    members.sort_by(|a, b| a.as_ref().cmp(b.as_ref()));
    members.dedup_by(|a, b| a.as_ref() == b.as_ref());
    members
}

fn rest<T: Clone + PartialEq>(one: &[T], other: &[T]) -> Option<Vec<T>> {
    let left: Vec<_> = one.iter().filter(|member| !other.contains(member)).cloned().collect();
    (!left.is_empty()).then_some(left)
}

fn wrong_type() -> Refusal {
    Refusal::invalid("an operand in the update expression has an incorrect data type")
}
