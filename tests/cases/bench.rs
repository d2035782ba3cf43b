//! What most cases need: a consumer of one event type over the in-memory store.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lambda_events::event::sqs::SqsBatchResponse;
use aws_sdk_dynamodb::types::Update;
use oncebox::consumer::{Builder, Consumer, HandlerError, InvocationError};
use oncebox::effect::{Effects, OnFailed, Reads};
use oncebox::event::{Emit, Event, Message};
use oncebox::outbox::Outbox;
use oncebox::quarantine::{self, Case, Quarantine};
use oncebox::retry::Backoff;
use oncebox::store::{Item, Store};
use oncebox::testing::{CountedIds, MemoryStore, PausedClock, ScriptedStore, SqsBatch, item, number, text};
use oncebox::time::{Clock, Ids};
use serde::{Deserialize, Serialize};

/// Adds to an account, unless `mode` asks for something else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Paid {
    pub(crate) account: String,
    pub(crate) mode: String,
}

impl Event for Paid {
    const TYPE: &'static str = "Paid";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}

/// Which events the handler has been called with, in order.
pub(crate) type Calls = Arc<Mutex<Vec<String>>>;

pub(crate) struct Bench {
    pub(crate) memory: MemoryStore,
    pub(crate) store: ScriptedStore,
    pub(crate) calls: Calls,
    pub(crate) consumer: Consumer<Calls>,
    pub(crate) clock: PausedClock,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|consumer, _store| consumer)
    }

    /// With the table `quarantine`, and a redrive policy that gives a message three receives.
    pub(crate) fn with_quarantine() -> Self {
        Self::with(Self::quarantine)
    }

    pub(crate) fn quarantine(consumer: Builder<Calls>, store: Arc<dyn Store>) -> Builder<Calls> {
        let three = std::num::NonZeroU32::new(3).unwrap();
        consumer.quarantine(Quarantine::new(store, "quarantine")).max_receive_count(three)
    }

    /// A consumer that `tune` has changed.
    pub(crate) fn with(tune: impl FnOnce(Builder<Calls>, Arc<dyn Store>) -> Builder<Calls>) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new()
            .with_clock(Arc::new(clock))
            .table("inbox", "pk", Some("sk"))
            .table("outbox", "pk", Some("sk"))
            .table("quarantine", "pk", Some("sk"))
            .table("accounts", "id", None);
        for account in ["a", "b", "c"] {
            memory.put_item("accounts", item([("id", text(account)), ("paid", number(0))])).unwrap();
        }
        let store = ScriptedStore::new(Arc::new(memory.clone()));
        let shared: Arc<dyn Store> = Arc::new(store.clone());
        let ids: Arc<dyn Ids> = Arc::new(CountedIds::default());
        let time: Arc<dyn Clock> = Arc::new(clock);
        let calls = Calls::default();
        let outbox = Outbox::new(Arc::clone(&shared), "outbox", "/test");
        let consumer = Consumer::builder("test", Arc::clone(&shared))
            .inbox("inbox")
            .outbox(outbox)
            .with_time(time, ids)
            .backoff(Backoff { base: Duration::from_millis(10), cap: Duration::from_millis(100) })
            .state(Arc::clone(&calls))
            .on(pay);
        let consumer = tune(consumer, shared).build().unwrap();
        Self { memory, store, calls, consumer, clock }
    }

    /// Delivers `batch` with 10 s to go.
    pub(crate) async fn deliver(&self, batch: &SqsBatch) -> Result<SqsBatchResponse, InvocationError> {
        self.consumer.handle(&batch.to_json(), self.clock.deadline_in(10_000)).await
    }

    /// Delivers `batch` and answers the listed identifiers.
    pub(crate) async fn failures(&self, batch: &SqsBatch) -> Vec<String> {
        listed(&self.deliver(batch).await.unwrap())
    }

    /// How often `account` was paid into.
    pub(crate) fn paid(&self, account: &str) -> String {
        let key = item([("id", text(account))]);
        let stored = self.memory.get_item("accounts", key).unwrap().unwrap();
        stored["paid"].as_n().unwrap().clone()
    }

    /// What is in quarantine, in key order.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let rows = self.memory.items("quarantine");
        let (cases, parts): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.contains_key("owner"));
        let of = |row: &Item| {
            let own: Vec<Item> = parts.iter().filter(|part| part["pk"] == row["pk"]).cloned().collect();
            quarantine::read(row, &own).unwrap()
        };
        cases.iter().map(of).collect()
    }

    /// Calls of the handler so far.
    pub(crate) fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

pub(crate) fn listed(response: &SqsBatchResponse) -> Vec<String> {
    response.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
}

/// The body of event number `id` with this account and mode.
pub(crate) fn body(id: u32, account: &str, mode: &str) -> String {
    let data = serde_json::json!({ "account": account, "mode": mode });
    envelope(&format!("01a3185c-5000-7000-8000-{id:012}"), "Paid", &data.to_string())
}

pub(crate) fn envelope(id: &str, event_type: &str, data: &str) -> String {
    format!(r#"{{"specversion":"1.0","id":"{id}","source":"/test","type":"{event_type}","data":{data}}}"#)
}

/// The body of event number `id`, with `bytes` more in its data than it needs.
pub(crate) fn large_body(id: u32, mode: &str, bytes: usize) -> String {
    let data = serde_json::json!({ "account": "a", "mode": mode, "more": "ü".repeat(bytes / 2) });
    envelope(&format!("01a3185c-5000-7000-8000-{id:012}"), "Paid", &data.to_string())
}

async fn pay(event: Message<Paid>, reads: Reads, calls: Calls) -> Result<Effects, HandlerError> {
    calls.lock().unwrap().push(event.id().to_owned());
    let update = Update::builder()
        .table_name("accounts")
        .key("id", text(event.account.as_str()))
        .update_expression("ADD paid :one")
        .condition_expression("attribute_exists(id)")
        .expression_attribute_values(":one", number(1))
        .build()?;
    let effects = Effects::new().update(update).on_failed(OnFailed::Permanent("no such account".into()));
    match event.mode.as_str() {
        "transient" => Err(HandlerError::transient("not now")),
        "permanent" => Err(HandlerError::permanent("never")),
        "panic" => panic!("the handler was told to"),
        "slow" => {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(effects)
        }
        "hang" => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Ok(effects)
        }
        "once" => {
            let found = reads.get("accounts", item([("id", text(&event.account))])).await?;
            match found.is_some_and(|account| account["paid"] != number(0)) {
                true => Err(HandlerError::permanent("it has been paid already")),
                false => Ok(effects),
            }
        }
        "emit_120" => {
            let emit = || Emit::new(&Paid { account: event.account.clone(), mode: "ok".into() });
            Ok((0..120).fold(effects, |effects, _| effects.emit(emit())))
        }
        "emit_60_large" => {
            let emit = || Emit::new(&Paid { account: event.account.clone(), mode: "x".repeat(100 * 1024) });
            Ok((0..60).fold(effects, |effects, _| effects.emit(emit())))
        }
        "emit" => Ok(effects.emit(Emit::new(&Paid { account: event.account.clone(), mode: "ok".into() }))),
        "rerun" => Ok(effects.on_failed(OnFailed::Rerun)),
        "stale" => Ok(effects.on_failed(OnFailed::Stale)),
        _ => Ok(effects),
    }
}
