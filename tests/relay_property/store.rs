//! A store in bad weather: calls take time, and some of them end otherwise than the store would have it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::BoxFuture;
use oncebox::outbox::names;
use oncebox::store::{CancelCode, Item, Page, Pages, Store, StoreError, TransactError, WriteError};
use oncebox::testing::{DeleteFault, Fault, GetFault, MemoryStore, PageFault, ScriptedStore, WriteFault};
use oncebox_tests::on_its_way;

use crate::scenario::{Call, Cut, Left, Read, Weather, Write};

/// Each call that takes time runs as a task of its own: a caller that stops waiting does not stop a call that is on its
/// way. Pages are small.
#[derive(Debug, Clone)]
pub(crate) struct WeatherStore {
    memory: MemoryStore,
    page: usize,
    coming: Arc<Mutex<Coming>>,
}

#[derive(Debug, Default)]
struct Coming {
    deletes: VecDeque<Call<Left>>,
    moves: VecDeque<Call<Cut>>,
    updates: VecDeque<Call<Write>>,
    reads: VecDeque<Call<Read>>,
    pages: VecDeque<Call<Read>>,
}

impl WeatherStore {
    pub(crate) fn new(memory: MemoryStore, page: usize, weather: &Weather) -> Self {
        let Weather { publishes: _, deletes, moves, updates, reads, pages } = weather.clone();
        let coming = Coming {
            deletes: deletes.into(),
            moves: moves.into(),
            updates: updates.into(),
            reads: reads.into(),
            pages: pages.into(),
        };
        Self { memory, page, coming: Arc::new(Mutex::new(coming)) }
    }

    pub(crate) fn clear_up(&self) {
        *self.coming.lock().unwrap() = Coming::default();
    }

    fn next<T: Default>(
        &self,
        of: fn(&mut Coming) -> &mut VecDeque<Call<T>>,
    ) -> (ScriptedStore, u64, u64, T) {
        let call = of(&mut self.coming.lock().unwrap()).pop_front();
        let Call { before, after, answer } =
            call.unwrap_or(Call { before: 0, after: 0, answer: T::default() });
        (ScriptedStore::new(Arc::new(self.memory.clone())), before, after, answer)
    }
}

impl Store for WeatherStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        let (store, before, after, cut) = self.next(|coming| &mut coming.moves);
        let token = token.to_owned();
        Box::pin(on_its_way(before, after, async move {
            store.on_transact(match cut {
                Cut::Pass => Fault::Pass,
                // Of the quarantine's own row; a false condition of the outbox row would be a lie.
                Cut::Conflict => {
                    let mut codes = vec![CancelCode::None; items.len()];
                    codes[0] = CancelCode::TransactionConflict;
                    Fault::Cancelled(codes)
                }
                Cut::NoReasons => Fault::CancelledNoReasons,
                Cut::Throttled => Fault::Throttled,
                Cut::Refused => Fault::Refused,
                Cut::Unknown => Fault::Unknown,
                Cut::LostAnswer => Fault::LostAnswer,
            });
            store.transact(items, &token).await
        }))
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        let (store, before, after, read) = self.next(|coming| &mut coming.reads);
        let table = table.to_owned();
        Box::pin(on_its_way(before, after, async move {
            store.on_get(match read {
                Read::Pass => GetFault::Pass,
                Read::TimedOut => GetFault::TimedOut,
                Read::Throttled => GetFault::Throttled,
            });
            store.get(&table, key).await
        }))
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        self.memory.put(put)
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        let (store, before, after, write) = self.next(|coming| &mut coming.updates);
        Box::pin(on_its_way(before, after, async move {
            store.on_update(match write {
                Write::Pass => WriteFault::Pass,
                Write::LostAnswer => WriteFault::LostAnswer,
                Write::Unknown => WriteFault::Unknown,
                Write::Throttled => WriteFault::Throttled,
            });
            store.update(update).await
        }))
    }

    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        let (store, before, after, read) = self.next(|coming| &mut coming.pages);
        store.on_page(match read {
            Read::Pass => PageFault::Pass,
            Read::TimedOut => PageFault::TimedOut,
            Read::Throttled => PageFault::Throttled,
        });
        let (most, indexed) = (self.page, matches!(of, Pages::Index { .. }));
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(before)).await;
            let mut page = store.page(of, start).await?;
            if page.items.len() > most {
                page.items.truncate(most);
                page.next = page.items.last().map(|last| position(last, indexed));
            }
            tokio::time::sleep(Duration::from_millis(after)).await;
            Ok(page)
        })
    }

    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        let (store, before, after, left) = self.next(|coming| &mut coming.deletes);
        let table = table.to_owned();
        Box::pin(on_its_way(before, after, async move {
            store.on_delete_batch(match left {
                Left::Nothing => DeleteFault::Pass,
                Left::Unprocessed(keys) => DeleteFault::Unprocessed(keys),
                Left::Failed => DeleteFault::Throttled,
                Left::LostAnswer => DeleteFault::LostAnswer,
            });
            store.delete_batch(&table, keys).await
        }))
    }
}

fn position(item: &Item, indexed: bool) -> Item {
    let names = [names::PK, names::SK].into_iter().chain(indexed.then_some(names::PENDING));
    names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}
