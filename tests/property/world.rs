//! The tables, the handlers and the consumers of one case.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::{ConditionCheck, Update};
use futures::future::BoxFuture;
use oncebox::consumer::{Consumer, HandlerError, Visibility};
use oncebox::effect::{Effects, OnFailed, Reads, Upsert, UpsertNext};
use oncebox::event::{Emit, Event, Message};
use oncebox::outbox::Outbox;
use oncebox::quarantine::Quarantine;
use oncebox::retry::Backoff;
use oncebox::store::Store;
use oncebox::testing::{CountedIds, MemoryStore, PausedClock, item, number, text};
use serde::{Deserialize, Deserializer, Serialize};

use crate::scenario::{Mode, Scenario};
use crate::store::WeatherStore;

/// Says in its data what the handler has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Names the effect: one row in `counts`.
    pub(crate) name: String,
    pub(crate) mode: String,
    pub(crate) number: u64,
    pub(crate) account: Option<String>,
    pub(crate) fuse: Fuse,
}

/// Panics when it is read while lit.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Fuse(pub(crate) bool);

impl<'de> Deserialize<'de> for Fuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lit = bool::deserialize(deserializer)?;
        assert!(!lit, "{}", crate::ON_PURPOSE);
        Ok(Self(lit))
    }
}

impl Event for Told {
    const TYPE: &'static str = "Told";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }
}

/// An absolute value under a version.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Moved {
    pub(crate) account: String,
    pub(crate) version: u64,
}

impl Event for Moved {
    const TYPE: &'static str = "Moved";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}

/// One of a sequence without holes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) account: String,
    pub(crate) sequence: u64,
}

impl Event for Counted {
    const TYPE: &'static str = "Counted";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}

/// How often the handler was called, by effect name.
pub(crate) type Calls = Arc<Mutex<HashMap<String, u64>>>;

/// What the visibility of messages was set to, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delays(Arc<Mutex<Vec<Entries>>>);

/// Receipt handles and seconds of one call.
pub(crate) type Entries = Vec<(String, u32)>;

impl Delays {
    /// The calls since the last time.
    pub(crate) fn take(&self) -> Vec<Entries> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Visibility for Delays {
    fn change<'a>(
        &'a self,
        _queue_url: &'a str,
        entries: &'a [(String, u32)],
    ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>> {
        self.0.lock().unwrap().push(entries.to_vec());
        Box::pin(async { Err("nobody minds".into()) })
    }
}

/// The tables of every case, with their keys.
pub(crate) const TABLES: [(&str, &str, Option<&str>); 7] = [
    ("inbox", "pk", Some("sk")),
    ("outbox", "pk", Some("sk")),
    ("quarantine", "pk", Some("sk")),
    ("counts", "id", None),
    ("accounts", "id", None),
    ("moved", "id", None),
    ("counted", "id", None),
];

pub(crate) struct World {
    /// Behind the weather.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) weather: WeatherStore,
    pub(crate) clock: PausedClock,
    pub(crate) delays: Delays,
    pub(crate) consumers: Vec<Consumer<Calls>>,
}

/// The in-memory store with the tables of every case.
pub(crate) fn memory() -> MemoryStore {
    let store = MemoryStore::new().with_clock(Arc::new(PausedClock::start()));
    TABLES.into_iter().fold(store, |store, (table, key, sort)| store.table(table, key, sort))
}

impl World {
    pub(crate) fn new(scenario: &Scenario, store: Arc<dyn Store>) -> Self {
        let clock = PausedClock::start();
        let weather = WeatherStore::new(Arc::clone(&store), &scenario.weather);
        let (delays, calls, ids) = (Delays::default(), Calls::default(), CountedIds::default());
        let build = || {
            let store: Arc<dyn Store> = Arc::new(weather.clone());
            let mut builder = Consumer::builder("prop", Arc::clone(&store))
                .inbox("inbox")
                .outbox(Outbox::new(Arc::clone(&store), "outbox", "/prop"))
                .retry_delay(Arc::new(delays.clone()), "queue".to_owned())
                .with_time(Arc::new(clock), Arc::new(ids.clone()))
                .backoff(Backoff { base: Duration::from_millis(20), cap: Duration::from_millis(400) })
                .concurrency(scenario.concurrency)
                .packing(scenario.packing);
            if scenario.quarantine {
                builder = builder.quarantine(Quarantine::new(store, "quarantine"));
            }
            if let Some(max) = scenario.max_receive.and_then(NonZeroU32::new) {
                builder = builder.max_receive_count(max);
            }
            builder = builder.on_unhandled(|_| None);
            builder.state(Arc::clone(&calls)).on(act).on(moved).on(counted).build().unwrap()
        };
        let consumers = (0..1 + usize::from(scenario.racing)).map(|_| build()).collect();
        Self { store, weather, clock, delays, consumers }
    }
}

/// The name and the number in the data of an event of this mode.
pub(crate) fn spelled(mode: Mode) -> (&'static str, u64) {
    match mode {
        Mode::Empty => ("empty", 0),
        Mode::Slow(millis) => ("slow", u64::from(millis)),
        Mode::Fails(times) => ("fails", u64::from(times)),
        Mode::Panics(times) => ("panics", u64::from(times)),
        Mode::Permanent => ("permanent", 0),
        Mode::Emit => ("emit", 0),
        Mode::Careful => ("careful", 0),
        Mode::Stale => ("stale", 0),
        Mode::NeverTrue => ("never_true", 0),
        Mode::OnlyOnce => ("only_once", 0),
        _ => ("ok", 0),
    }
}

async fn act(event: Message<Told>, reads: Reads, calls: Calls) -> Result<Effects, HandlerError> {
    let call = {
        let mut calls = calls.lock().unwrap();
        let call = calls.entry(event.name.clone()).or_default();
        *call += 1;
        *call
    };
    let count = || add("counts", &event.name);
    let absent = || {
        let check = ConditionCheck::builder().table_name("accounts").key("id", text("nobody"));
        check.condition_expression("attribute_exists(id)").build()
    };
    match event.mode.as_str() {
        "empty" => return Ok(Effects::new()),
        "slow" => tokio::time::sleep(Duration::from_millis(event.number)).await,
        "fails" if call <= event.number => return Err(HandlerError::transient("not now")),
        "panics" if call <= event.number => panic!("{}", crate::ON_PURPOSE),
        "permanent" => return Err(HandlerError::permanent("never")),
        "only_once" => {
            let own = reads.get("counts", item([("id", text(&event.name))])).await?;
            if own.is_some() {
                return Err(HandlerError::permanent("it is there already"));
            }
        }
        "stale" => return Ok(Effects::new().update(count()?).check(absent()?).on_failed(OnFailed::Stale)),
        "never_true" => {
            let told = OnFailed::Permanent("told so".to_owned());
            return Ok(Effects::new().update(count()?).check(absent()?).on_failed(told));
        }
        "careful" => return careful(Effects::new().update(count()?), &event, &reads).await,
        _ => {}
    }
    let mut effects = Effects::new().update(count()?);
    if let Some(account) = &event.account {
        effects = effects.update(add("accounts", account)?);
    }
    if event.mode == "emit" {
        effects = effects.emit(Emit::new(&Told { mode: "ok".to_owned(), ..Told::clone(&event) }));
    }
    Ok(effects)
}

/// Writes what it has read plus one, if nobody else has written in between.
async fn careful(effects: Effects, event: &Told, reads: &Reads) -> Result<Effects, HandlerError> {
    let account = event.account.as_deref().unwrap_or("careful");
    let found = reads.get("accounts", item([("id", text(account))])).await?;
    let known = found.and_then(|row| row["n"].as_n().ok()?.parse::<u64>().ok());
    let update = Update::builder()
        .table_name("accounts")
        .key("id", text(account))
        .update_expression("SET n = :next")
        .expression_attribute_values(":next", number(known.unwrap_or_default() + 1));
    let update = match known {
        Some(known) => {
            update.condition_expression("n = :known").expression_attribute_values(":known", number(known))
        }
        None => update.condition_expression("attribute_not_exists(n)"),
    };
    Ok(effects.update(update.build()?))
}

async fn moved(event: Message<Moved>, _reads: Reads, _calls: Calls) -> Result<Upsert, HandlerError> {
    let key = item([("id", text(&event.account))]);
    Ok(Upsert::if_newer("moved", key, event.version).set("seen", number(event.version)))
}

async fn counted(event: Message<Counted>, _reads: Reads, _calls: Calls) -> Result<UpsertNext, HandlerError> {
    let key = item([("id", text(&event.account))]);
    Ok(Upsert::next("counted", key, event.sequence).add("n", number(1)))
}

fn add(table: &str, id: &str) -> Result<Update, aws_sdk_dynamodb::error::BuildError> {
    Update::builder()
        .table_name(table)
        .key("id", text(id))
        .update_expression("ADD n :one")
        .expression_attribute_values(":one", number(1))
        .build()
}
