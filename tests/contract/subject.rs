use std::any::Any;
use std::sync::Arc;

use aws_sdk_dynamodb::types::ScalarAttributeType;
use oncebox::store::{DynamoStore, Item, Store, TransactError};
use oncebox::testing::MemoryStore;
use oncebox_tests::{Dynoxide, IndexSpec, MiniStack, TableSpec, create_table, dynamo_client};

use crate::actions;

/// Keys `pk` and `sk`.
pub(crate) const ROWS: &str = "contract-rows";
/// An index of [`ROWS`] by string `group` and number `rank`.
pub(crate) const BY_GROUP: &str = "by_group";
/// Key `pk`.
pub(crate) const SINGLES: &str = "contract-singles";

/// A store under the contract, with two empty tables.
pub(crate) struct Subject {
    pub(crate) kind: Kind,
    pub(crate) store: Arc<dyn Store>,
    /// The emulator, which ends with the subject.
    _emulator: Box<dyn Any + Send + Sync>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Dynoxide,
    MiniStack,
}

pub(crate) async fn memory() -> Subject {
    let store = MemoryStore::new().table(ROWS, "pk", Some("sk")).table(SINGLES, "pk", None).index(
        ROWS,
        BY_GROUP,
        "group",
        Some("rank"),
    );
    Subject { kind: Kind::Memory, store: Arc::new(store), _emulator: Box::new(()) }
}

pub(crate) async fn dynoxide() -> Subject {
    let emulator = Dynoxide::start().unwrap();
    let store = emulated(&emulator.endpoint()).await;
    Subject { kind: Kind::Dynoxide, store, _emulator: Box::new(emulator) }
}

pub(crate) async fn ministack() -> Subject {
    let emulator = MiniStack::start().unwrap_or_else(|error| panic!("{error}"));
    let store = emulated(&emulator.endpoint()).await;
    Subject { kind: Kind::MiniStack, store, _emulator: Box::new(emulator) }
}

async fn emulated(endpoint: &str) -> Arc<dyn Store> {
    let client = dynamo_client(endpoint, "000000000001");
    let by_group = IndexSpec {
        name: BY_GROUP,
        partition_key: "group",
        sort_key: "rank",
        sort_type: ScalarAttributeType::N,
    };
    let rows = TableSpec { name: ROWS, partition_key: "pk", sort_key: Some("sk"), index: Some(by_group) };
    let singles = TableSpec { name: SINGLES, partition_key: "pk", sort_key: None, index: None };
    for spec in [rows, singles] {
        create_table(&client, spec).await.unwrap();
    }
    Arc::new(DynamoStore::new(client))
}

impl Subject {
    /// Puts items into [`SINGLES`], one transaction each.
    pub(crate) async fn arrange(&self, items: impl IntoIterator<Item = Item>) {
        for (at, item) in items.into_iter().enumerate() {
            self.store.transact(vec![actions::put(item)], &format!("arrange-{at}")).await.unwrap();
        }
    }

    /// Puts items into [`ROWS`], in transactions of up to 100.
    pub(crate) async fn arrange_rows(&self, items: impl IntoIterator<Item = Item>) {
        let puts: Vec<_> = items.into_iter().map(|item| actions::put_into(ROWS, item)).collect();
        for (at, puts) in puts.chunks(100).enumerate() {
            self.store.transact(puts.to_vec(), &format!("arrange-rows-{at}")).await.unwrap();
        }
    }

    /// The item of [`SINGLES`] with this key.
    pub(crate) async fn read(&self, pk: &str) -> Option<Item> {
        self.store.get(SINGLES, actions::key(pk)).await.unwrap()
    }

    /// The reasons of a transaction that must be cancelled.
    pub(crate) async fn cancelled(
        &self,
        items: Vec<aws_sdk_dynamodb::types::TransactWriteItem>,
    ) -> Vec<oncebox::store::CancelReason> {
        match self.store.transact(items, "cancelled").await {
            Err(TransactError::Cancelled(reasons)) => reasons,
            other => panic!("not cancelled: {other:?}"),
        }
    }

    /// The code of a transaction that must be refused as a whole.
    pub(crate) async fn refused(
        &self,
        items: Vec<aws_sdk_dynamodb::types::TransactWriteItem>,
        token: &str,
    ) -> String {
        match self.store.transact(items, token).await {
            Err(TransactError::Refused { code, .. }) => code,
            other => panic!("not refused: {other:?}"),
        }
    }
}
