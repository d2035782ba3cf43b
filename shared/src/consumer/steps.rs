//! Single steps of an invocation, for `tests/bench` to measure. No API: they change with the code that they lead to.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::lanes::{Entry, into_lanes};
use super::packing;
use super::record::{self, Record};

/// The records of a batch, without their bodies' contents.
#[derive(Debug)]
pub struct Records<'a>(Vec<Record<'a>>);

/// The records of a batch with their decoded bodies.
pub struct Entries<'a>(Vec<Entry<'a>>);

impl<'a> Records<'a> {
    /// Splits `event`; what is no batch has no records.
    #[must_use]
    pub fn split(event: &'a str) -> Self {
        Self(record::split(event).unwrap_or_default())
    }

    /// Decodes the bodies.
    #[must_use]
    pub fn decode(&'a self) -> Entries<'a> {
        Entries(self.0.iter().enumerate().map(|(index, record)| Entry::new(index, record)).collect())
    }
}

impl Entries<'_> {
    /// How many bodies are events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.0.iter().filter(|entry| entry.body.is_ok()).count()
    }

    /// Sorts them into lanes, and answers how many.
    #[must_use]
    pub fn into_lanes(self) -> usize {
        into_lanes(self.0.into_iter()).len()
    }
}

/// Sorts records' transactions into packs, and answers how many.
#[must_use]
pub fn packs(transactions: &[Vec<TransactWriteItem>]) -> usize {
    packing::packs(transactions)
}
