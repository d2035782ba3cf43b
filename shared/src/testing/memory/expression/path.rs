use aws_sdk_dynamodb::types::AttributeValue;

use crate::store::Item;
use crate::testing::memory::refusal::Refusal;

/// A document path such as `a.b[0]`, names resolved.
///
/// The order is the one in which an update writes: by name, then by index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    pub(super) root: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Field(String),
    Index(usize),
}

impl Path {
    pub(super) fn get<'i>(&self, item: &'i Item) -> Option<&'i AttributeValue> {
        self.steps.iter().try_fold(item.get(&self.root)?, |here, step| match (here, step) {
            (AttributeValue::M(fields), Step::Field(name)) => fields.get(name),
            (AttributeValue::L(values), Step::Index(index)) => values.get(*index),
            _ => None,
        })
    }

    /// Writes `value` at the path; an index past the end of a list appends.
    pub(super) fn set(&self, item: &mut Item, value: AttributeValue) -> Result<(), Refusal> {
        let Some((last, parents)) = self.steps.split_last() else {
            item.insert(self.root.clone(), value);
            return Ok(());
        };
        match (self.parent(item, parents)?, last) {
            (AttributeValue::M(fields), Step::Field(name)) => {
                fields.insert(name.clone(), value);
            }
            (AttributeValue::L(values), Step::Index(index)) => match values.get_mut(*index) {
                Some(slot) => *slot = value,
                None => values.push(value),
            },
            _ => return Err(invalid_path()),
        }
        Ok(())
    }

    /// Takes out what is at the path; nothing there is no error, but a missing parent is.
    pub(super) fn remove(&self, item: &mut Item) -> Result<(), Refusal> {
        let Some((last, parents)) = self.steps.split_last() else {
            item.remove(&self.root);
            return Ok(());
        };
        match (self.parent(item, parents)?, last) {
            (AttributeValue::M(fields), Step::Field(name)) => {
                fields.remove(name);
            }
            (AttributeValue::L(values), Step::Index(index)) => {
                if *index < values.len() {
                    values.remove(*index);
                }
            }
            _ => return Err(invalid_path()),
        }
        Ok(())
    }

    fn parent<'i>(&self, item: &'i mut Item, parents: &[Step]) -> Result<&'i mut AttributeValue, Refusal> {
        let mut here = item.get_mut(&self.root).ok_or_else(invalid_path)?;
        for step in parents {
            let next = match (here, step) {
                (AttributeValue::M(fields), Step::Field(name)) => fields.get_mut(name),
                (AttributeValue::L(values), Step::Index(index)) => values.get_mut(*index),
                _ => None,
            };
            here = next.ok_or_else(invalid_path)?;
        }
        Ok(here)
    }

    /// Whether one of the two contains the other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let shared = self.steps.len().min(other.steps.len());
        self.root == other.root && self.steps.iter().take(shared).eq(other.steps.iter().take(shared))
    }
}

fn invalid_path() -> Refusal {
    Refusal::invalid("the document path provided in the update expression is invalid for update")
}
