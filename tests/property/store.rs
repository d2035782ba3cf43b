//! A store in bad weather: calls take time, and some of them end otherwise than the store would have it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::BoxFuture;
use oncebox::store::{
    CancelCode, CancelReason, Item, Page, Pages, Store, StoreError, TransactError, WriteError,
};
use oncebox::testing::{Fault, GetFault, ScriptedStore, WriteFault};
use oncebox_tests::on_its_way;

use crate::scenario::{Call, Code, Cut, Read, Weather, Write};

/// Each call runs as a task of its own: a caller that stops waiting does not stop a call that is on its way.
#[derive(Debug, Clone)]
pub(crate) struct WeatherStore {
    inner: ScriptedStore,
    weather: Arc<Mutex<Coming>>,
}

#[derive(Debug, Default)]
struct Coming {
    transacts: VecDeque<Call<Cut>>,
    gets: VecDeque<Call<Read>>,
    updates: VecDeque<Call<Write>>,
    /// Tokens that have been met. Only the first call with one may be refused for good: DynamoDB answers the others from
    /// memory.
    tokens: HashSet<String>,
    /// Event keys whose transactions were refused without a reason of their own.
    wronged: HashSet<String>,
    reads_failed: bool,
}

/// Longer than any invocation.
const NEVER: Duration = Duration::from_secs(100_000);

impl WeatherStore {
    pub(crate) fn new(inner: Arc<dyn Store>, weather: &Weather) -> Self {
        let Weather { transacts, gets, updates } = weather.clone();
        let (transacts, gets, updates) = (transacts.into(), gets.into(), updates.into());
        let coming = Coming { transacts, gets, updates, ..Coming::default() };
        Self { inner: ScriptedStore::new(inner), weather: Arc::new(Mutex::new(coming)) }
    }

    pub(crate) fn clear_up(&self) {
        let mut weather = self.weather.lock().unwrap();
        weather.transacts.clear();
        weather.gets.clear();
        weather.updates.clear();
    }

    /// Whether the event could have been applied, had the weather not refused it.
    pub(crate) fn has_wronged(&self, event_key: &str) -> bool {
        self.weather.lock().unwrap().wronged.contains(event_key)
    }

    /// Whether a read got no answer.
    pub(crate) fn reads_failed(&self) -> bool {
        self.weather.lock().unwrap().reads_failed
    }
}

impl Store for WeatherStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        let (inner, token) = (self.inner.clone(), token.to_owned());
        let (call, fault) = {
            let mut weather = self.weather.lock().unwrap();
            let next = weather.transacts.pop_front();
            let mut call = next.unwrap_or(Call { before: 0, after: 0, answer: Cut::Pass });
            let first = weather.tokens.insert(token.clone());
            if call.answer.is_for_good() && !first {
                call.answer = Cut::Pass;
            }
            if call.answer.is_for_good() {
                weather.wronged.extend(items.iter().filter_map(event_key));
            }
            (call, fault(call.answer, &items))
        };
        let Call { before, after, answer } = call;
        Box::pin(on_its_way(before, after, async move {
            if matches!(answer, Cut::Hangs) {
                tokio::time::sleep(NEVER).await;
            }
            inner.on_transact(fault);
            let mut answered = inner.transact(items, &token).await;
            if let (Cut::NoItems, Err(TransactError::Cancelled(reasons))) = (answer, &mut answered) {
                reasons.iter_mut().for_each(|reason| reason.item = None);
            }
            answered
        }))
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        let (inner, table) = (self.inner.clone(), table.to_owned());
        let mut weather = self.weather.lock().unwrap();
        let next = weather.gets.pop_front();
        let Call { before, after, answer } = next.unwrap_or(Call { before: 0, after: 0, answer: Read::Pass });
        weather.reads_failed |= before + after > 0 || !matches!(answer, Read::Pass);
        Box::pin(on_its_way(before, after, async move {
            inner.on_get(match answer {
                Read::Pass => GetFault::Pass,
                Read::TimedOut => GetFault::TimedOut,
                Read::Throttled => GetFault::Throttled,
                Read::Hangs => {
                    tokio::time::sleep(NEVER).await;
                    GetFault::TimedOut
                }
            });
            inner.get(&table, key).await
        }))
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        self.inner.put(put)
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        let inner = self.inner.clone();
        let next = self.weather.lock().unwrap().updates.pop_front();
        let Call { before, after, answer } =
            next.unwrap_or(Call { before: 0, after: 0, answer: Write::Pass });
        Box::pin(on_its_way(before, after, async move {
            inner.on_update(match answer {
                Write::Pass => WriteFault::Pass,
                Write::LostAnswer => WriteFault::LostAnswer,
                Write::Throttled => WriteFault::Throttled,
                Write::Refused => WriteFault::Refused,
                Write::Hangs => {
                    tokio::time::sleep(NEVER).await;
                    WriteFault::Throttled
                }
            });
            inner.update(update).await
        }))
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

/// The scripted answer. A false condition is never put on an inbox key: only the store knows about those.
fn fault(cut: Cut, items: &[TransactWriteItem]) -> Fault {
    let reasons = |length: usize, at: usize, code: Code| {
        let mut at = at % items.len();
        if matches!(code, Code::Condition | Code::Invalid) && is_inbox(&items[at]) {
            match (0..items.len()).find(|place| !is_inbox(&items[*place])) {
                Some(place) => at = place,
                None => return Fault::Pass,
            }
        }
        let clean = || CancelReason::new(CancelCode::None);
        let mut reasons: Vec<CancelReason> = (0..items.len()).map(|_| clean()).collect();
        reasons[at] = CancelReason::new(code.of());
        reasons.resize_with(length, clean);
        Fault::CancelledWith(reasons)
    };
    let all = items.len();
    match cut {
        Cut::Pass | Cut::NoItems => Fault::Pass,
        Cut::LostAnswer => Fault::LostAnswer,
        Cut::Unknown | Cut::Hangs => Fault::Unknown,
        Cut::InProgress => Fault::InProgress,
        Cut::Throttled => Fault::Throttled,
        Cut::Refused => Fault::Refused,
        Cut::NoReasons => Fault::CancelledNoReasons,
        Cut::At(at, code) => reasons(all, at, code),
        Cut::Short(short, code) => reasons(all.saturating_sub(short).max(1), all - 1, code),
        Cut::Long(code) => {
            let mut reasons = vec![CancelReason::new(CancelCode::None); all];
            reasons.push(CancelReason::new(code.of()));
            Fault::CancelledWith(reasons)
        }
    }
}

fn event_key(action: &TransactWriteItem) -> Option<String> {
    let put = action.put().filter(|_| is_inbox(action))?;
    put.item()["pk"].as_s().ok().cloned()
}

fn is_inbox(action: &TransactWriteItem) -> bool {
    action.put().is_some_and(|put| put.table_name() == "inbox")
}
