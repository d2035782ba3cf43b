use sealed::IntoWork;

use super::single::Single;
use super::{Effects, Insert, Upsert, UpsertNext};

/// What a handler may return.
///
/// It is [`Effects`] (a transaction with the inbox key), or one of [`Insert`], [`Upsert`] and [`UpsertNext`] (one
/// conditional write that needs no inbox row); or, with the feature `remote`, a call over HTTP. There are no others: a write that the engine does not know the meaning of
/// could not be told from a duplicate.
pub trait Outcome: sealed::IntoWork + Send + 'static {}

pub(crate) mod sealed {
    use super::Work;

    /// An outcome from the engine's side.
    pub trait IntoWork {
        /// Whether the consumer needs an inbox table for it.
        const NEEDS_INBOX: bool;

        /// Whether every event of the aggregate has to be counted, also of types without a handler.
        const NEEDS_EVERY_EVENT: bool = false;

        /// Whether it calls a provider.
        #[cfg(feature = "remote")]
        const NEEDS_PROVIDER: bool = false;

        /// The work.
        fn into_work(self) -> Work;
    }
}

/// One event's work.
#[derive(Debug)]
pub enum Work {
    /// Inbox key, effects and outbox rows in one transaction.
    Transaction(Effects),
    /// One conditional write.
    Single(Single),
    /// A call, and what follows from its answer.
    #[cfg(feature = "remote")]
    Remote(Box<super::remote::Remote>),
    /// None, since the event's type has no handler; but its item may have to advance.
    Unhandled(Option<Single>),
}

impl Outcome for Effects {}

impl IntoWork for Effects {
    const NEEDS_INBOX: bool = true;

    fn into_work(self) -> Work {
        Work::Transaction(self)
    }
}

impl Outcome for Insert {}

impl IntoWork for Insert {
    const NEEDS_INBOX: bool = false;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}

impl Outcome for Upsert {}

impl IntoWork for Upsert {
    const NEEDS_INBOX: bool = false;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}

impl Outcome for UpsertNext {}

impl IntoWork for UpsertNext {
    const NEEDS_INBOX: bool = false;
    const NEEDS_EVERY_EVENT: bool = true;

    fn into_work(self) -> Work {
        Work::Single(Single::new(self))
    }
}

#[cfg(feature = "remote")]
impl Outcome for super::remote::Remote {}

#[cfg(feature = "remote")]
impl IntoWork for super::remote::Remote {
    const NEEDS_INBOX: bool = true;
    const NEEDS_PROVIDER: bool = true;

    fn into_work(self) -> Work {
        Work::Remote(Box::new(self))
    }
}
