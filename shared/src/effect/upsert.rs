use aws_sdk_dynamodb::types::AttributeValue;
use std::fmt;

use super::UpsertNext;
use super::expression::Expression;
use super::single::{Guarded, Settled, Write};
use super::stored::Stored;
use super::values::{Values, check};
use crate::event::Envelope;
use crate::store::Item;
use crate::telemetry::Hidden;

/// An absolute write guarded by a version: naturally idempotent, one conditional `UpdateItem`, no inbox row.
///
/// The item keeps the version in `version` and the event's key in `event_id` ([`names`](super::names)), so that the
/// same event again is a duplicate, an older one is stale, and another event with the same version is permanent.
///
/// It is for absolute values ("status is RESERVED") of which each event carries all: an older event that comes late is
/// not applied at all. Where events carry parts, or changes, use [`Upsert::next`] or [`Effects`](super::Effects).
///
/// An item without `version` counts as one that no event has written: the write adds to it, and leaves its other
/// attributes alone. An item with a `version` but no `event_id` counts versions of its own, which say nothing about
/// events: the event is permanent. So whoever backfills versions writes both.
///
/// The guard lasts as long as the item and these two attributes. Other code may update the item, but not replace it;
/// an item that was deleted has forgotten its events.
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::AttributeValue;
/// use oncebox::effect::Upsert;
///
/// let key = [("order_id".to_owned(), AttributeValue::S("o-1".into()))];
/// let upsert = Upsert::if_newer("order_status", key.into(), 2).set("status", AttributeValue::S("RESERVED".into()));
/// # drop(upsert);
/// ```
#[must_use = "an upsert happens only when the handler returns it"]
pub struct Upsert {
    table: String,
    key: Item,
    version: u64,
    values: Values,
}

impl Upsert {
    /// Writes when the item is absent or its version is older than `version`. Every `u64` is a version, 0 too; holes do
    /// not matter.
    pub fn if_newer(table: impl Into<String>, key: Item, version: u64) -> Self {
        Self { table: table.into(), key, version, values: Values::default() }
    }

    /// Writes when `sequence` is the one after the item's: see [`UpsertNext`].
    pub fn next(table: impl Into<String>, key: Item, sequence: u64) -> UpsertNext {
        UpsertNext::new(table.into(), key, sequence)
    }

    /// Sets an attribute. `version`, `event_id` and the key's attributes are not for setting, and none is set twice:
    /// otherwise the event is permanent, before any call.
    pub fn set(mut self, name: impl Into<String>, value: AttributeValue) -> Self {
        self.values.push(name, value);
        self
    }
}

impl Guarded for Upsert {
    fn write(&self, event: &Envelope) -> Result<Write, String> {
        check(&self.table, &self.key, &[&self.values])?;
        let expression = Expression::new(self.version, event)
            .set(&self.values)
            .only_if("attribute_not_exists(#version) OR (#version < :version AND attribute_exists(#event))");
        expression.update(&self.table, &self.key).map(Write::Update)
    }

    fn settle(&self, old: Option<&Item>, event: &Envelope) -> Settled {
        Stored::read(old).settle(&self.table, self.version, event)
    }
}

impl fmt::Debug for Upsert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upsert")
            .field("table", &self.table)
            .field("key", &Hidden::attributes(&self.key))
            .field("version", &self.version)
            .field("values", &self.values)
            .finish()
    }
}
