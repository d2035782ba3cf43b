use super::{Effects, Upsert};

/// What a handler may return.
///
/// Implemented for [`Effects`] (a transaction with the inbox key) and [`Upsert`] (one conditional write that needs no
/// inbox row).
pub trait Outcome: Send + 'static {
    /// Whether the consumer needs an inbox table for it.
    const NEEDS_INBOX: bool;

    /// The work for the engine.
    fn into_work(self) -> Work;
}

/// One event's work, for the engine alone.
#[derive(Debug)]
#[non_exhaustive]
pub enum Work {
    /// Inbox key, effects and outbox rows in one transaction.
    Transaction(Effects),
    /// One conditional update.
    Upsert(Upsert),
}

impl Outcome for Effects {
    const NEEDS_INBOX: bool = true;

    fn into_work(self) -> Work {
        Work::Transaction(self)
    }
}

impl Outcome for Upsert {
    const NEEDS_INBOX: bool = false;

    fn into_work(self) -> Work {
        Work::Upsert(self)
    }
}
