//! A store that answers what a test tells it to.

mod answer;
mod fault;
mod queue;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::BoxFuture;

pub use self::fault::{DeleteFault, Fault, GetFault, PageFault, WriteFault};

use self::answer::Answer;
use self::queue::Queue;
use crate::store::{Item, Page, Pages, Store, StoreError, TransactError, WriteError};

/// A [`Store`] in front of another one that answers from a script, and passes calls on once its script is spent.
/// Clones are one store.
///
/// Each operation has its own script, read from top to bottom: a call takes the next answer of its operation and
/// runs the hooks in front of it.
///
/// ```
/// use std::sync::Arc;
///
/// use oncebox::store::{Store, TransactError};
/// use oncebox::testing::{Fault, MemoryStore, ScriptedStore};
/// # use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
/// # use oncebox::testing::{item, text};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let put = Put::builder().table_name("rows").set_item(Some(item([("pk", text("1"))]))).build()?;
/// # let items = vec![TransactWriteItem::builder().put(put).build()];
/// let memory = MemoryStore::new().table("rows", "pk", None);
/// let store = ScriptedStore::new(Arc::new(memory.clone()));
/// store.on_transact(Fault::LostAnswer);
///
/// // The first answer is lost, though the write was applied; the same token then finds that out.
/// let lost = store.transact(items.clone(), "token").await;
/// assert!(matches!(lost, Err(TransactError::Unknown { .. })));
/// assert_eq!(memory.items("rows").len(), 1);
/// assert!(store.transact(items, "token").await.is_ok());
/// assert_eq!(store.calls().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedStore {
    inner: Arc<dyn Store>,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    transact: Queue<Fault>,
    get: Queue<GetFault>,
    page: Queue<PageFault>,
    put: Queue<WriteFault>,
    update: Queue<WriteFault>,
    delete_batch: Queue<DeleteFault>,
    calls: Vec<Call>,
}

/// One call that reached a [`ScriptedStore`], whatever it answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// Which operation.
    pub operation: Operation,
    /// The table; of a transaction, the first action's.
    pub table: String,
    /// The transaction's client request token.
    pub token: Option<String>,
    /// Number of actions of a transaction, of keys of a batch; else 1.
    pub items: usize,
    /// The transaction's actions, to compare two attempts; else empty.
    pub actions: Vec<TransactWriteItem>,
    /// What was answered, in words for whoever reads a failed test. `None` while the call runs, and for ever when its
    /// caller stopped waiting.
    pub answer: Option<String>,
}

/// The operation of a [`Call`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// [`Store::transact`].
    Transact,
    /// [`Store::get`].
    Get,
    /// [`Store::page`].
    Page,
    /// [`Store::put`].
    Put,
    /// [`Store::update`].
    Update,
    /// [`Store::delete_batch`].
    DeleteBatch,
}

impl ScriptedStore {
    /// Stands in front of `inner`, with an empty script.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, script: Arc::default() }
    }

    /// Adds the answer to a later transaction.
    pub fn on_transact(&self, answer: Fault) -> &Self {
        self.lock().transact.answer(answer);
        self
    }

    /// The answer to every transaction after the script, in place of the inner store's. [`Fault::Pass`] ends it.
    pub fn always_transact(&self, answer: Fault) -> &Self {
        self.lock().transact.always(answer);
        self
    }

    /// Adds the answer to a later read.
    pub fn on_get(&self, answer: GetFault) -> &Self {
        self.lock().get.answer(answer);
        self
    }

    /// Adds the answer to a later page of a scan or query.
    pub fn on_page(&self, answer: PageFault) -> &Self {
        self.lock().page.answer(answer);
        self
    }

    /// Adds the answer to a later single put.
    pub fn on_put(&self, answer: WriteFault) -> &Self {
        self.lock().put.answer(answer);
        self
    }

    /// Adds the answer to a later single update.
    pub fn on_update(&self, answer: WriteFault) -> &Self {
        self.lock().update.answer(answer);
        self
    }

    /// Adds the answer to a later batch of deletes.
    pub fn on_delete_batch(&self, answer: DeleteFault) -> &Self {
        self.lock().delete_batch.answer(answer);
        self
    }

    /// Adds what another actor does before the transaction whose answer comes next in the script; without one,
    /// before the first transaction after the script.
    ///
    /// The hook works on the inner store, not on this one, unless its calls are meant to take from the script.
    /// To act between a first and a second attempt: `on_transact(Fault::Pass).before_transact(...)`.
    pub fn before_transact<F, A>(&self, hook: F) -> &Self
    where
        F: FnOnce() -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.lock().transact.before(hook);
        self
    }

    /// The same as [`before_transact`](Self::before_transact), for reads.
    pub fn before_get<F, A>(&self, hook: F) -> &Self
    where
        F: FnOnce() -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.lock().get.before(hook);
        self
    }

    /// The same as [`before_transact`](Self::before_transact), for single puts.
    pub fn before_put<F, A>(&self, hook: F) -> &Self
    where
        F: FnOnce() -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.lock().put.before(hook);
        self
    }

    /// The same as [`before_transact`](Self::before_transact), for single updates.
    pub fn before_update<F, A>(&self, hook: F) -> &Self
    where
        F: FnOnce() -> A + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.lock().update.before(hook);
        self
    }

    /// Every call so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// How many answers and hooks are still waiting, over all operations. Zero at the end of a test shows that
    /// the code under test made the calls that the script is about.
    #[must_use]
    pub fn pending(&self) -> usize {
        let script = self.lock();
        script.transact.len()
            + script.get.len()
            + script.page.len()
            + script.put.len()
            + script.update.len()
            + script.delete_batch.len()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs the call, runs its hooks without holding the lock, and takes its answer.
    async fn enter<A: Clone>(&self, call: Call, queue: fn(&mut Script) -> &mut Queue<A>) -> (usize, A) {
        let (at, (hooks, answer)) = {
            let mut script = self.lock();
            script.calls.push(call);
            (script.calls.len() - 1, queue(&mut script).take())
        };
        for hook in hooks {
            hook().await;
        }
        (at, answer)
    }

    /// Notes what the call at `at` was answered, and hands it on.
    fn leave<T: Answer>(&self, at: usize, answer: T) -> T {
        if let Some(call) = self.lock().calls.get_mut(at) {
            call.answer = Some(answer.in_words());
        }
        answer
    }
}

impl fmt::Debug for ScriptedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedStore")
            .field("inner", &self.inner)
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}

impl Call {
    fn new(operation: Operation, table: &str) -> Self {
        Self { operation, table: table.to_owned(), token: None, items: 1, actions: Vec::new(), answer: None }
    }
}

fn table_of(action: &TransactWriteItem) -> Option<&str> {
    None.or_else(|| action.condition_check().map(|check| check.table_name()))
        .or_else(|| action.put().map(|put| put.table_name()))
        .or_else(|| action.delete().map(|delete| delete.table_name()))
        .or_else(|| action.update().map(|update| update.table_name()))
}

impl Store for ScriptedStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        let call = Call {
            token: Some(token.to_owned()),
            items: items.len(),
            actions: items.clone(),
            ..Call::new(Operation::Transact, items.first().and_then(table_of).unwrap_or_default())
        };
        Box::pin(async move {
            let (at, fault) = self.enter(call, |script| &mut script.transact).await;
            self.leave(at, fault.answer(self.inner.transact(items, token)).await)
        })
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        Box::pin(async move {
            let (at, fault) = self.enter(Call::new(Operation::Get, table), |script| &mut script.get).await;
            self.leave(at, fault.answer(table, self.inner.get(table, key)).await)
        })
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let call = Call::new(Operation::Put, put.table_name());
            let (at, fault) = self.enter(call, |script| &mut script.put).await;
            self.leave(at, fault.answer(self.inner.put(put)).await)
        })
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let call = Call::new(Operation::Update, update.table_name());
            let (at, fault) = self.enter(call, |script| &mut script.update).await;
            self.leave(at, fault.answer(self.inner.update(update)).await)
        })
    }

    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            let (at, fault) =
                self.enter(Call::new(Operation::Page, of.table()), |script| &mut script.page).await;
            self.leave(at, fault.answer(of, self.inner.page(of, start)).await)
        })
    }

    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        Box::pin(async move {
            let call = Call { items: keys.len(), ..Call::new(Operation::DeleteBatch, table) };
            let (at, fault) = self.enter(call, |script| &mut script.delete_batch).await;
            self.leave(at, fault.answer(table, keys, |keys| self.inner.delete_batch(table, keys)).await)
        })
    }
}
