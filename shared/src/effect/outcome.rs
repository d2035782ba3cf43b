use super::single::Single;
use super::{Effects, Insert, Upsert, UpsertNext};

/// What a handler may return.
///
/// Implemented for [`Effects`] (a transaction with the inbox key), and for [`Insert`], [`Upsert`] and [`UpsertNext`]
/// (one conditional write that needs no inbox row).
pub trait Outcome: Send + 'static {
    /// Whether the consumer needs an inbox table for it.
    const NEEDS_INBOX: bool;

    /// Whether every event of the aggregate has to be counted, also of types without a handler: then the consumer needs
    /// [`on_unhandled`](crate::consumer::Builder::on_unhandled).
    const NEEDS_EVERY_EVENT: bool = false;

    /// The work for the engine.
    fn into_work(self) -> Work;
}

/// One event's work, for the engine alone.
#[derive(Debug)]
#[non_exhaustive]
pub enum Work {
    /// Inbox key, effects and outbox rows in one transaction.
    Transaction(Effects),
    /// One conditional write.
    Single(Single),
    /// None, since the event's type has no handler; but its item may have to advance.
    Unhandled(Option<Single>),
}

impl Outcome for Effects {
    const NEEDS_INBOX: bool = true;

    fn into_work(self) -> Work {
        Work::Transaction(self)
    }
}

impl Outcome for Insert {
    const NEEDS_INBOX: bool = false;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}

impl Outcome for Upsert {
    const NEEDS_INBOX: bool = false;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}

impl Outcome for UpsertNext {
    const NEEDS_INBOX: bool = false;
    const NEEDS_EVERY_EVENT: bool = true;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}
