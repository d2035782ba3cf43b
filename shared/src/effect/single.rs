use std::fmt;

use aws_sdk_dynamodb::types::{Put, Update};
use futures::future::BoxFuture;

use crate::event::Envelope;
use crate::store::{Item, Store, WriteError};

/// One conditional write whose own item tells a duplicate apart, for the engine alone.
#[derive(Debug)]
pub struct Single(Box<dyn Guarded>);

/// A write under a condition, and what a false condition means.
pub(crate) trait Guarded: fmt::Debug + Send + Sync + 'static {
    /// The write on behalf of `event`.
    ///
    /// # Errors
    /// Why what the handler asks for can never be written, found before any call.
    fn write(&self, event: &Envelope) -> Result<Write, String>;

    /// Reads the item that stood in the way of `event`.
    fn settle(&self, old: Option<&Item>, event: &Envelope) -> Settled;
}

/// A single write of either kind.
#[derive(Debug)]
pub(crate) enum Write {
    Put(Put),
    Update(Update),
}

/// What a false condition means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// What is there was written for this very event.
    Ours,
    /// This event had been applied before.
    Duplicate,
    /// Something newer has been applied.
    Stale,
    /// Something older has to come first.
    Transient(String),
    /// It can never be applied.
    Permanent(String),
    /// The item does not explain it: somebody changed it in between.
    Unexplained,
}

impl Single {
    pub(crate) fn new(write: impl Guarded) -> Self {
        Self(Box::new(write))
    }

    pub(crate) fn guarded(&self) -> &dyn Guarded {
        self.0.as_ref()
    }
}

impl Write {
    pub(crate) fn send<'a>(&self, store: &'a dyn Store) -> BoxFuture<'a, Result<(), WriteError>> {
        match self {
            Self::Put(put) => store.put(put.clone()),
            Self::Update(update) => store.update(update.clone()),
        }
    }
}
