use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, TransactWriteItem, Update};
use std::fmt;

use crate::event::Emit;
use crate::telemetry::Hidden;

/// Writes and events that the engine commits together with the inbox key, in one transaction.
///
/// A handler can only return it: there is no way to commit it from outside the engine.
///
/// The actions are the SDK's own types. An action may carry a condition; [`on_failed`](Self::on_failed) says what it
/// means when that condition is false.
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::{AttributeValue, Update};
/// use oncebox::effect::{Effects, OnFailed};
///
/// let credit = Update::builder()
///     .table_name("accounts")
///     .key("account_id", AttributeValue::S("a-1".into()))
///     .update_expression("ADD balance_cents :amount")
///     .condition_expression("attribute_exists(account_id)")
///     .expression_attribute_values(":amount", AttributeValue::N("100".into()))
///     .build()?;
/// let effects = Effects::new().update(credit).on_failed(OnFailed::Permanent("no such account".into()));
/// # drop(effects);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
#[must_use = "effects happen only when the handler returns them"]
pub struct Effects {
    pub(crate) actions: Vec<(TransactWriteItem, OnFailed)>,
    pub(crate) emits: Vec<Emit>,
    pub(crate) misuse: Option<&'static str>,
}

/// What it means when an effect's own condition is false.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OnFailed {
    /// The handler decided on an outdated read: read again and run it again, at most 3 times in a delivery, then
    /// transient. The default.
    #[default]
    Rerun,
    /// It will never become true: the event is permanent, for this reason. The reason is stored and logged, so
    /// keep payload out of it.
    Permanent(String),
    /// Something newer has already happened: acknowledge and count as stale. Nothing is written, the inbox key
    /// neither.
    Stale,
}

impl Effects {
    /// No effect yet. Returned as it is, it still writes the inbox key: the event was seen, and needed nothing.
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

    /// Says what a false condition of the action added last means.
    pub fn on_failed(mut self, on_failed: OnFailed) -> Self {
        match self.actions.last_mut() {
            Some((_, last)) => *last = on_failed,
            None => self.misuse = Some("on_failed was called before any action was added"),
        }
        self
    }

    /// Adds an event to the outbox. Trace and correlation come from the event that is being handled, and its id
    /// becomes the causation id, unless `emit` states its own.
    pub fn emit(mut self, emit: impl Into<Emit>) -> Self {
        self.emits.push(emit.into());
        self
    }

    fn action(mut self, action: TransactWriteItem) -> Self {
        self.actions.push((action, OnFailed::default()));
        self
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects")
            .field("actions", &Hidden::items(&self.actions))
            .field("emits", &self.emits)
            .field("misuse", &self.misuse)
            .finish()
    }
}
