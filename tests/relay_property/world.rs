//! The tables of one case, what is known about it, and who publishes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oncebox::inbox::Days;
use oncebox::outbox::{Row, names};
use oncebox::quarantine::Quarantine;
use oncebox::relay::{AfterPublish, Publisher, Relay, Routes, Sweeper};
use oncebox::store::Store;
use oncebox::testing::{CountedIds, MemoryStore, PausedClock};

use crate::publisher::WeatherPublisher;
use crate::scenario::{Kind, Numbering, Scenario};
use crate::store::WeatherStore;

/// One destination and several, of both kinds; the last by event type, with a default.
const ROUTES: &str = r#"{
    "r0": ["arn:aws:sns:r:1:plain"],
    "r1": ["arn:aws:sns:r:1:one.fifo"],
    "r2": ["arn:aws:sns:r:1:plain", "arn:aws:sns:r:1:one.fifo"],
    "r3": ["arn:aws:sns:r:1:one.fifo", "https://q/two.fifo", "https://q/plain"],
    "r4/Second": ["https://q/two.fifo", "arn:aws:sns:r:1:plain"],
    "*": ["https://q/plain"]
}"#;

/// Shorter than a lease by more than a call may take.
const LEASE: Duration = Duration::from_secs(60);

/// A row that was committed.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) row: Row,
    pub(crate) aggregate: usize,
    pub(crate) transaction: usize,
    /// By how many milliseconds its id is older than its commit.
    pub(crate) late: u64,
}

pub(crate) struct World<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) memory: MemoryStore,
    pub(crate) store: WeatherStore,
    pub(crate) publisher: WeatherPublisher,
    pub(crate) routes: Routes,
    pub(crate) clock: PausedClock,
    ids: CountedIds,
    /// In the order of commits.
    pub(crate) written: Mutex<Vec<Written>>,
    /// Aggregates, by key, that the mapping has given up on.
    pub(crate) given_up: Mutex<HashSet<String>>,
    /// Items that sweeps took for no rows.
    pub(crate) odd: Mutex<usize>,
}

impl<'a> World<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new()
            .with_clock(Arc::new(clock))
            .table("outbox", "pk", Some("sk"))
            .index("outbox", names::PENDING_INDEX, names::PENDING, Some("sk"))
            .table("quarantine", "pk", Some("sk"));
        Self {
            scenario,
            store: WeatherStore::new(memory.clone(), scenario.page, &scenario.weather),
            memory,
            publisher: WeatherPublisher::new(&scenario.weather.publishes),
            routes: ROUTES.parse().unwrap(),
            clock,
            ids: CountedIds::default(),
            written: Mutex::default(),
            given_up: Mutex::default(),
            odd: Mutex::default(),
        }
    }

    pub(crate) fn clear_up(&self) {
        self.store.clear_up();
        self.publisher.clear_up();
    }

    /// Which transaction has written the event, and whether its aggregate numbers all its events.
    pub(crate) fn transaction_of(&self, event_id: &str) -> Option<(usize, bool)> {
        let written = self.written.lock().unwrap();
        let of = written.iter().find(|written| written.row.sk == event_id)?;
        let numbering = self.scenario.aggregates[of.aggregate].numbering;
        Some((of.transaction, numbering == Numbering::All))
    }

    fn parts(&self) -> (Arc<dyn Store>, Arc<dyn Publisher>, Quarantine) {
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
        (store, Arc::new(self.publisher.clone()), quarantine)
    }

    fn after(&self) -> AfterPublish {
        let Kind { keep, .. } = self.scenario.kind;
        if keep { AfterPublish::Keep { window: Days::new(7) } } else { AfterPublish::Delete }
    }

    pub(crate) fn relay(&self) -> Relay {
        let (store, publisher, quarantine) = self.parts();
        let relay = Relay::new(store, publisher, "outbox", self.routes.clone())
            .after_publish(self.after())
            .grace(Duration::from_millis(self.scenario.grace))
            .with_time(Arc::new(self.clock), Arc::new(self.ids.clone()));
        if self.scenario.mapping.quarantine { relay.quarantine(quarantine) } else { relay }
    }

    pub(crate) fn sweeper(&self) -> Sweeper {
        let (store, publisher, quarantine) = self.parts();
        Sweeper::new(store, publisher, "outbox", self.routes.clone(), quarantine)
            .after_publish(self.after())
            .grace(Duration::from_millis(self.scenario.grace))
            .lease(LEASE)
            .max_attempts(self.scenario.max_attempts)
            .with_time(Arc::new(self.clock), Arc::new(self.ids.clone()))
    }
}
