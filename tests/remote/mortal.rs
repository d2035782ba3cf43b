//! A process that dies at a point of its way: what it has asked for is done, and it never hears of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::BoxFuture;
use oncebox::effect::remote::{NoReply, Outgoing, Reply, Transport, names};
use oncebox::store::{Item, Page, Pages, Store, StoreError, TransactError, WriteError};
use tokio::sync::Notify;

/// Where a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    BeforeStarted,
    AfterStarted,
    DuringCall,
    AfterCall,
    /// After the answer is stored; where none is stored, just before the commit.
    AfterAnswer,
    AfterCommit,
    /// After everything, so that SQS hears nothing of it.
    BeforeAck,
}

impl Point {
    pub(crate) const ALL: [Self; 7] = [
        Self::BeforeStarted,
        Self::AfterStarted,
        Self::DuringCall,
        Self::AfterCall,
        Self::AfterAnswer,
        Self::AfterCommit,
        Self::BeforeAck,
    ];
}

/// One life to lose. Clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate {
    planned: Arc<Mutex<Option<Point>>>,
    called: Arc<Mutex<bool>>,
    died: Arc<Notify>,
}

impl Fate {
    pub(crate) fn plan(&self, point: Point) {
        *self.planned.lock().unwrap() = Some(point);
    }

    /// Whether the death at `point` is still to come; it is not any more.
    pub(crate) fn take(&self, point: Point) -> bool {
        let mut planned = self.planned.lock().unwrap();
        let due = *planned == Some(point);
        if due {
            *planned = None;
        }
        due
    }

    pub(crate) async fn death(&self) {
        self.died.notified().await;
    }

    async fn at(&self, point: Point) {
        if self.take(point) {
            self.died.notify_one();
            std::future::pending::<()>().await;
        }
    }

    async fn before_any_write(&self) {
        if *self.called.lock().unwrap() {
            self.at(Point::AfterCall).await;
        }
    }
}

#[derive(Debug)]
pub(crate) struct MortalStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) fate: Fate,
}

impl Store for MortalStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        Box::pin(async move {
            let first = items.first().unwrap();
            let started = first.condition_check().is_some();
            let commit = first.put().is_some_and(|put| put.table_name() == "inbox");
            self.fate.before_any_write().await;
            if started {
                self.fate.at(Point::BeforeStarted).await;
            } else if commit {
                self.fate.at(Point::AfterAnswer).await;
            }
            self.inner.transact(items, token).await?;
            if started {
                self.fate.at(Point::AfterStarted).await;
            } else if commit {
                self.fate.at(Point::AfterCommit).await;
            }
            Ok(())
        })
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let names = update.expression_attribute_names().cloned().unwrap_or_default();
            self.fate.before_any_write().await;
            self.inner.update(update).await?;
            if names.values().any(|name| name == names::REPLY_STATUS) {
                self.fate.at(Point::AfterAnswer).await;
            }
            Ok(())
        })
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        self.inner.get(table, key)
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        self.inner.put(put)
    }

    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        self.inner.page(of, start)
    }

    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        self.inner.delete_batch(table, keys)
    }
}

#[derive(Debug)]
pub(crate) struct MortalTransport {
    pub(crate) inner: Arc<dyn Transport>,
    pub(crate) fate: Fate,
}

/// Set when a call ends, also when its caller has stopped waiting.
struct Called<'a>(&'a Fate);

impl Drop for Called<'_> {
    fn drop(&mut self) {
        *self.0.called.lock().unwrap() = true;
    }
}

impl Transport for MortalTransport {
    fn send<'a>(
        &'a self,
        request: &'a Outgoing,
        within: Duration,
        max_body: usize,
    ) -> BoxFuture<'a, Result<Reply, NoReply>> {
        Box::pin(async move {
            let _called = Called(&self.fate);
            if self.fate.take(Point::DuringCall) {
                // Long enough for the request to arrive.
                let some = Duration::from_millis(100);
                let _ = tokio::time::timeout(some, self.inner.send(request, within, max_body)).await;
                self.fate.died.notify_one();
                std::future::pending::<()>().await;
            }
            self.inner.send(request, within, max_body).await
        })
    }
}
