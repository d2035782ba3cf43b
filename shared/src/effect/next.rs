use aws_sdk_dynamodb::types::AttributeValue;
use std::fmt;

use super::expression::Expression;
use super::single::{Guarded, Settled, Write};
use super::stored::Stored;
use super::values::{Values, check};
use crate::event::Envelope;
use crate::store::Item;
use crate::telemetry::Hidden;

/// The first sequence of an aggregate.
const FIRST: u64 = 1;

/// A write guarded by a sequence without holes: every event of the aggregate is applied once and in order, with one
/// conditional `UpdateItem` and no inbox row. Made by [`Upsert::next`](super::Upsert::next).
///
/// It applies when the item's `version` is one less than `sequence`, or when the item has no `version` and `sequence`
/// is 1. The same event again is a duplicate, one that lies behind is stale, another event with the same sequence is
/// permanent. A gap is transient: the event waits for the ones before it, and on a FIFO queue so does the rest of its
/// group. An item with a `version` but no `event_id` is permanent, as with [`Upsert`](super::Upsert).
///
/// Since each event is applied exactly once, it may [`add`](Self::add) too. Do not compute a value from
/// [`Reads`](super::Reads) and set it: an event between the read and the write would be lost.
///
/// # What it asks for
/// * The producer numbers the events of an aggregate 1, 2, 3 …, without holes.
/// * The queue gets all of them: no filter policy by event type.
/// * The consumer advances the item for each of them, with [`on_unhandled`](crate::consumer::Builder::on_unhandled) for
///   the types that it does not handle. It refuses to start without.
/// * Whatever is quarantined leaves a gap: later events of that aggregate wait, and are quarantined on their last
///   receive in their turn. Redrive them in order, once the first one can be applied.
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::AttributeValue;
/// use oncebox::effect::Upsert;
///
/// let key = [("account_id".to_owned(), AttributeValue::S("a-1".into()))];
/// let next = Upsert::next("balances", key.into(), 7).add("cents", AttributeValue::N("250".into()));
/// # drop(next);
/// ```
#[must_use = "an upsert happens only when the handler returns it"]
pub struct UpsertNext {
    table: String,
    key: Item,
    sequence: u64,
    values: Values,
    amounts: Values,
}

impl UpsertNext {
    pub(super) fn new(table: String, key: Item, sequence: u64) -> Self {
        Self { table, key, sequence, values: Values::default(), amounts: Values::default() }
    }

    /// Sets an attribute. `version`, `event_id` and the key's attributes are not for setting, and none is set or added to
    /// twice: otherwise the event is permanent, before any call.
    pub fn set(mut self, name: impl Into<String>, value: AttributeValue) -> Self {
        self.values.push(name, value);
        self
    }

    /// Adds a number to an attribute, or elements to a set. An absent attribute counts as 0, or as empty. The same names
    /// are excluded as with [`set`](Self::set).
    pub fn add(mut self, name: impl Into<String>, amount: AttributeValue) -> Self {
        self.amounts.push(name, amount);
        self
    }
}

impl Guarded for UpsertNext {
    fn write(&self, event: &Envelope) -> Result<Write, String> {
        check(&self.table, &self.key, &[&self.values, &self.amounts])?;
        let Some(previous) = self.sequence.checked_sub(FIRST) else {
            return Err(format!("sequence 0 cannot be next in table {:?}: sequences begin at 1", self.table));
        };
        let expression = Expression::new(self.sequence, event).set(&self.values).add(&self.amounts);
        let expression = if self.sequence == FIRST {
            expression.only_if("attribute_not_exists(#version)")
        } else {
            expression
                .only_if("#version = :previous AND attribute_exists(#event)")
                .number(":previous", previous)
        };
        expression.update(&self.table, &self.key).map(Write::Update)
    }

    fn settle(&self, old: Option<&Item>, event: &Envelope) -> Settled {
        let stored = Stored::read(old);
        let expected = match &stored {
            Stored::Nothing => FIRST,
            Stored::Version(version, _) => version.saturating_add(1),
            Stored::Foreign(_) => return stored.settle(&self.table, self.sequence, event),
        };
        if self.sequence > expected {
            return Settled::Transient(format!(
                "gap in the sequence of the item in table {:?}: expected {expected}, found {}; the events between have to \
                 come first",
                self.table, self.sequence
            ));
        }
        stored.settle(&self.table, self.sequence, event)
    }
}

impl fmt::Debug for UpsertNext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpsertNext")
            .field("table", &self.table)
            .field("key", &Hidden::attributes(&self.key))
            .field("sequence", &self.sequence)
            .field("values", &self.values)
            .field("amounts", &self.amounts)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Upsert;
    use crate::effect::samples::{event, key, versioned};

    fn settle(sequence: u64, old: Option<&Item>) -> Settled {
        Upsert::next("t", key(), sequence).settle(old, &event("b"))
    }

    fn gap(settled: &Settled, expected: &str) -> bool {
        matches!(settled, Settled::Transient(why) if why.contains(expected))
    }

    #[test]
    fn a_gap_says_what_is_expected() {
        assert!(gap(&settle(2, None), "expected 1, found 2"));
        assert!(gap(&settle(2, Some(&Item::new())), "expected 1, found 2"));
        assert!(gap(&settle(7, Some(&versioned(4, "a"))), "expected 5, found 7"));
        assert!(gap(&settle(7, Some(&versioned(4, "b"))), "expected 5, found 7"));
    }

    #[test]
    fn what_lies_behind_is_settled_as_with_if_newer() {
        assert_eq!(settle(2, Some(&versioned(3, "c"))), Settled::Stale);
        assert_eq!(settle(2, Some(&versioned(2, "b"))), Settled::Ours);
        assert!(matches!(settle(2, Some(&versioned(2, "x"))), Settled::Permanent(_)));
        assert_eq!(settle(1, None), Settled::Unexplained);
        assert_eq!(settle(2, Some(&versioned(1, "a"))), Settled::Unexplained);
        assert_eq!(settle(u64::MAX, Some(&versioned(u64::MAX, "b"))), Settled::Ours);
    }

    #[test]
    fn sequences_begin_at_1() {
        let zero = Upsert::next("t", key(), 0).write(&event("b"));
        assert!(zero.unwrap_err().contains("begin at 1"));
        assert!(Upsert::next("t", key(), u64::MAX).write(&event("b")).is_ok());
    }
}
