use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, TransactWriteItem, Update};
use std::fmt;

use crate::event::Emit;
use crate::telemetry::Hidden;

/// Business writes and the events they announce: written together or not at all.
///
/// DynamoDB takes at most 100 actions and 4 MB a transaction, and no two actions on one item.
///
/// # Examples
/// See [`Outbox`](crate::outbox::Outbox).
#[derive(Default)]
#[must_use = "a transaction does nothing until Outbox::commit"]
pub struct Transaction {
    pub(super) actions: Vec<TransactWriteItem>,
    pub(super) emits: Vec<Emit>,
}

impl Transaction {
    /// An empty transaction.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a put.
    pub fn put(self, put: Put) -> Self {
        self.action(TransactWriteItem::builder().put(put).build())
    }

    /// Adds an update.
    pub fn update(self, update: Update) -> Self {
        self.action(TransactWriteItem::builder().update(update).build())
    }

    /// Adds a delete.
    pub fn delete(self, delete: Delete) -> Self {
        self.action(TransactWriteItem::builder().delete(delete).build())
    }

    /// Adds a condition on an item that is not written.
    pub fn check(self, check: ConditionCheck) -> Self {
        self.action(TransactWriteItem::builder().condition_check(check).build())
    }

    /// Adds an event.
    pub fn emit(mut self, emit: impl Into<Emit>) -> Self {
        self.emits.push(emit.into());
        self
    }

    fn action(mut self, action: TransactWriteItem) -> Self {
        self.actions.push(action);
        self
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("actions", &Hidden::items(&self.actions))
            .field("emits", &self.emits)
            .finish()
    }
}
