//! The in-memory twin of DynamoDB: conditions, transactions, tokens, streams.

mod action;
mod decimal;
mod expression;
mod index;
mod refusal;
mod state;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod tokens;
mod value;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::FutureExt;
use futures::future::{self, BoxFuture};

pub use self::stream::{Change, StreamEntry};

use self::state::State;
use self::table::Table;
use super::TestClock;
use crate::store::{Item, Page, Pages, Store, StoreError, TransactError, WriteError};
use crate::time::Clock;

/// A [`Store`] in memory that answers as DynamoDB answers. Clones are one store.
///
/// # What it evaluates
/// * Conditions: `=`, `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `IN`, `AND`, `OR`, `NOT`, parentheses,
///   `attribute_exists`, `attribute_not_exists`, `attribute_type`, `begins_with`, `contains` and `size`.
/// * Updates: `SET` with `=`, `+`, `-`, `if_not_exists` and `list_append`; `REMOVE`; `ADD` and `DELETE`.
/// * `#names`, `:values` and document paths (`a.b[0]`), reserved words refused without a `#name`.
/// * Numbers exactly, up to 38 digits.
///
/// Anything else is refused with code `NotInTheTwin` and a message that names the construct: parentheses in a
/// `SET`, expressions nested deeper than 40 levels, arithmetic whose result has more than 38 digits.
///
/// # Limits it enforces
/// 100 actions and 4 MB per transaction, 400 KB per item, 4 KB per expression, 25 deletes per batch, 32 levels of
/// nesting, one action per item, no unused names and values. A `ClientRequestToken` is remembered for 10 minutes
/// of the store's clock.
///
/// # Where it differs
/// Keys are strings. A scan goes through the partitions in key order. An index never lags. There is no throttling, no TTL deletes (a row past its `expires_at` is still
/// there, as it may be in DynamoDB), and no `TransactionConflict`: every call is atomic. Use
/// [`ScriptedStore`](super::ScriptedStore) for those answers.
///
/// ```
/// use oncebox::store::Store;
/// use oncebox::testing::{MemoryStore, item, number, text};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new().table("accounts", "pk", None);
/// store.put_item("accounts", item([("pk", text("1")), ("balance", number(250))]))?;
///
/// let found = store.get("accounts", item([("pk", text("1"))])).await?;
/// assert_eq!(found.unwrap()["balance"], number(250));
/// assert_eq!(store.stream("accounts")[0].change.event_name(), "INSERT");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
}

impl MemoryStore {
    /// A store without tables, on a [`TestClock`] of its own that nobody moves.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State::new(Arc::new(TestClock::default())))) }
    }

    /// Takes the time from `clock`: for token memory and for the times of stream entries.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        self.lock().clock = clock;
        self
    }

    /// Declares a table with string keys. Declaring it again empties it.
    #[must_use]
    pub fn table(self, name: &str, partition_key: &str, sort_key: Option<&str>) -> Self {
        self.lock().declare(name, Table::new(partition_key, sort_key));
        self
    }

    /// Declares a global secondary index of a declared table. It holds the items that have its key attributes, strings or
    /// numbers, and never lags behind the table as DynamoDB's do.
    ///
    /// # Panics
    /// When the table was not declared.
    #[must_use]
    #[track_caller]
    pub fn index(self, table: &str, name: &str, partition_key: &str, sort_key: Option<&str>) -> Self {
        let added = self.lock().add_index(table, name, index::Index::new(partition_key, sort_key));
        assert!(added.is_ok(), "table {table:?} is not declared in this MemoryStore");
        self
    }

    /// Puts an item without a condition, and answers the one it replaced. The stream records it.
    ///
    /// # Errors
    /// [`StoreError`] where DynamoDB would refuse: unknown table, wrong key, invalid or oversized item.
    pub fn put_item(&self, table: &str, item: Item) -> Result<Option<Item>, StoreError> {
        self.lock().replace(table, &item).map_err(|refusal| refusal.into_store("PutItem", table))
    }

    /// Reads one item by its key.
    ///
    /// # Errors
    /// [`StoreError`] where DynamoDB would refuse: unknown table or wrong key.
    pub fn get_item(&self, table: &str, key: Item) -> Result<Option<Item>, StoreError> {
        self.lock().get(table, &key).map_err(|refusal| refusal.into_store("GetItem", table))
    }

    /// All items of a table, in key order.
    ///
    /// # Panics
    /// When the table was not declared: a test that misspells it must not see an empty table.
    #[must_use]
    #[track_caller]
    pub fn items(&self, table: &str) -> Vec<Item> {
        self.declared(table, |table| table.items().cloned().collect())
    }

    /// The table's stream from the beginning, in commit order. A write that changes nothing leaves no entry.
    ///
    /// # Panics
    /// When the table was not declared.
    #[must_use]
    #[track_caller]
    pub fn stream(&self, table: &str) -> Vec<StreamEntry> {
        self.stream_after(table, 0)
    }

    /// The table's [`stream`](Self::stream) without its first `known` entries, for a reader that goes on.
    ///
    /// # Panics
    /// When the table was not declared.
    #[must_use]
    #[track_caller]
    pub fn stream_after(&self, table: &str, known: usize) -> Vec<StreamEntry> {
        self.declared(table, |table| table.stream.iter().skip(known).cloned().collect())
    }

    #[track_caller]
    fn declared<T: Default>(&self, name: &str, read: impl FnOnce(&Table) -> T) -> T {
        let found = self.lock().table(name).map(read);
        assert!(found.is_ok(), "table {name:?} is not declared in this MemoryStore");
        found.unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that failed while it held the lock has left whole writes only.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        future::lazy(move |_| self.lock().transact(items, token)).boxed()
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        future::lazy(move |_| self.get_item(table, key)).boxed()
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        future::lazy(move |_| self.lock().put(put)).boxed()
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        future::lazy(move |_| self.lock().update(update)).boxed()
    }

    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        future::lazy(move |_| {
            let page = self.lock().page(of, start.as_ref());
            page.map_err(|refusal| refusal.into_store(of.operation(), of.table()))
        })
        .boxed()
    }

    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        future::lazy(move |_| {
            let done = self.lock().delete_batch(table, &keys);
            done.map(|()| Vec::new()).map_err(|refusal| refusal.into_store("BatchWriteItem", table))
        })
        .boxed()
    }
}
