//! The only code that calls DynamoDB, behind a trait so that tests can run without it.
//!
//! Everything else in the crate speaks [`Store`]. [`DynamoStore`] is the real one; the feature `test-util` adds
//! an in-memory twin that is held to the same contract suite.

mod dynamo;
mod error;

use std::collections::HashMap;
use std::fmt::{self, Debug};

use crate::telemetry::Hidden;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem, Update};
use futures::future::BoxFuture;

pub use dynamo::DynamoStore;
pub use error::{CancelCode, CancelReason, StoreError, TransactError, WriteError};

/// One DynamoDB item, or the key of one: attribute name to value.
pub type Item = HashMap<String, AttributeValue>;

/// What [`Store::page`] goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages<'a> {
    /// A whole table, read consistently.
    Table(&'a str),
    /// A whole global secondary index, which lags behind its table, usually by less than a second.
    Index {
        /// The table.
        table: &'a str,
        /// The index.
        index: &'a str,
    },
    /// What has one value of a string partition key: of the table, read consistently, or of an index.
    Partition {
        /// The table.
        table: &'a str,
        /// The index; `None` for the table itself.
        index: Option<&'a str>,
        /// The partition key's attribute.
        key: &'a str,
        /// Its value.
        value: &'a str,
    },
}

impl<'a> Pages<'a> {
    /// The table.
    #[must_use]
    pub fn table(self) -> &'a str {
        let (Self::Table(table) | Self::Index { table, .. } | Self::Partition { table, .. }) = self;
        table
    }

    /// The operation that reads it, as errors name it.
    #[cfg(feature = "test-util")]
    pub(crate) fn operation(self) -> &'static str {
        if matches!(self, Self::Partition { .. }) { "Query" } else { "Scan" }
    }
}

/// One page of items.
#[derive(Clone, Default, PartialEq)]
pub struct Page {
    /// The items.
    pub items: Vec<Item>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<Item>,
}

/// Items of one page.
pub(crate) const PAGE: usize = 200;

/// What oncebox asks of DynamoDB.
///
/// Each method is one call, not a loop: retries belong to the caller, who knows its deadline and what an
/// unknown outcome means to it.
pub trait Store: Debug + Send + Sync + 'static {
    /// `TransactWriteItems` with `token` as the `ClientRequestToken`.
    ///
    /// # Errors
    /// [`TransactError`] says whether nothing was written ([`Cancelled`](TransactError::Cancelled),
    /// [`Refused`](TransactError::Refused), [`Throttled`](TransactError::Throttled)) or the answer is not known
    /// ([`Unknown`](TransactError::Unknown)).
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>>;

    /// `GetItem` with a strongly consistent read.
    ///
    /// # Errors
    /// [`StoreError`] when the read failed; an absent item is `Ok(None)`.
    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>>;

    /// One conditional `PutItem` that returns the old item when its condition fails.
    ///
    /// # Errors
    /// [`WriteError::ConditionFailed`] carries the item that stood in the way, where there was one.
    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>>;

    /// One conditional `UpdateItem` that returns the old item when its condition fails.
    ///
    /// # Errors
    /// [`WriteError::ConditionFailed`] carries the item that stood in the way, where there was one.
    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>>;

    /// One page of a `Scan` or `Query`, at most 200 items, from `start` on. Items of one partition key follow each other
    /// in the order of their sort keys.
    ///
    /// # Errors
    /// [`StoreError`] when the read failed.
    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// [`page`](Self::page) of a whole table.
    ///
    /// # Errors
    /// [`StoreError`] when the read failed.
    fn scan<'a>(&'a self, table: &'a str, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        self.page(Pages::Table(table), start)
    }

    /// `BatchWriteItem` of deletes; at most 25 keys a call. Answers the keys DynamoDB left unprocessed.
    ///
    /// # Errors
    /// [`StoreError`] when the call as a whole failed.
    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>>;
}

/// A primary key of two texts, by the names that its table has for them.
pub(crate) fn key_item(parts: [(&str, &str); 2]) -> Item {
    Item::from(parts.map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned()))))
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("items", &Hidden::items(&self.items))
            .field("next", &self.next.as_ref().map(Hidden::attributes))
            .finish()
    }
}
