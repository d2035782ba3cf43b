use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::runtime::{Builder, Handle, Runtime};

#[cfg(feature = "consumer")]
use super::MemoryVisibility;
use super::TableKey;
use crate::config::Reader;
#[cfg(feature = "consumer")]
use crate::consumer::Visibility;
use crate::outbox::Outbox;
use crate::store::{Item, Store};
use crate::testing::{CountedIds, MemoryStore, PausedClock, ScriptedStore};
use crate::time::{Clock, Ids};

/// What the code under test is built with: a store, a clock, ids, settings. Clones are one kit.
///
/// A test gets it where it builds what it tests, in [`Given::consumer`](super::Given::consumer) or
/// [`Given::producer`](super::Given::producer).
#[derive(Debug, Clone)]
pub struct Kit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runtime: Runtime,
    clock: KitClock,
    ids: CountedIds,
    memory: MemoryStore,
    script: ScriptedStore,
    #[cfg(feature = "consumer")]
    visibility: MemoryVisibility,
    declared: Mutex<Declared>,
}

#[derive(Debug, Default)]
struct Declared {
    settings: BTreeMap<String, String>,
    tables: BTreeMap<String, (String, Option<String>)>,
}

/// The runtime's paused time, from inside and outside of the runtime.
#[derive(Debug)]
struct KitClock {
    handle: Handle,
    paused: PausedClock,
}

impl Clock for KitClock {
    fn now(&self) -> Timestamp {
        let _inside = self.handle.enter();
        self.paused.now()
    }
}

impl Kit {
    #[track_caller]
    pub(super) fn new() -> Self {
        assert!(
            Handle::try_current().is_err(),
            "the kit brings its own runtime, on paused time: use #[test] and no async"
        );
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.expect("a runtime without threads of its own needs nothing that could fail");
        let handle = runtime.handle().clone();
        let paused = {
            let _inside = handle.enter();
            PausedClock::start()
        };
        let clock = || KitClock { handle: handle.clone(), paused };
        let memory = MemoryStore::new().with_clock(Arc::new(clock()));
        let script = ScriptedStore::new(Arc::new(memory.clone()));
        Self(Arc::new(Inner {
            clock: clock(),
            ids: CountedIds::default(),
            memory,
            script,
            #[cfg(feature = "consumer")]
            visibility: MemoryVisibility::default(),
            declared: Mutex::default(),
            runtime,
        }))
    }

    /// The tables, behind the script of faults. What the code under test writes to.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.script().clone())
    }

    /// Where the consumer sets the visibility of what has to come again.
    #[cfg(feature = "consumer")]
    #[must_use]
    pub fn visibility(&self) -> Arc<dyn Visibility> {
        Arc::new(self.memory_visibility().clone())
    }

    /// The test's settings, as a function reads its environment: those of [`Given::new`](super::Given::new), and
    /// those that the test adds or changes.
    #[must_use]
    pub fn settings(&self) -> Reader {
        let settings = self.declared().settings.clone();
        Reader::new(move |name| settings.get(name).cloned())
    }

    /// The clock: it stands at 2027-01-15T08:00:00Z and moves when something sleeps, or with
    /// [`later`](super::Scenario::later).
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(KitClock { handle: self.0.runtime.handle().clone(), paused: self.0.clock.paused })
    }

    /// Ids that count up.
    #[must_use]
    pub fn ids(&self) -> Arc<dyn Ids> {
        Arc::new(self.0.ids.clone())
    }

    /// An outbox on the kit's store, clock and ids, in the table and with the source that the settings name.
    #[must_use]
    pub fn outbox(&self) -> Outbox {
        let outbox = Outbox::new(self.store(), self.setting("OUTBOX_TABLE"), self.setting("EVENT_SOURCE"));
        outbox.with_time(self.clock(), self.ids())
    }

    /// The tables themselves, for what a test wants to look up or change by hand.
    #[must_use]
    pub fn memory(&self) -> &MemoryStore {
        &self.0.memory
    }

    /// The script in front of the tables, for faults that have no method of their own on
    /// [`Scenario`](super::Scenario).
    #[must_use]
    pub fn script(&self) -> &ScriptedStore {
        &self.0.script
    }

    /// What was asked for, and refusals.
    #[cfg(feature = "consumer")]
    #[must_use]
    pub fn memory_visibility(&self) -> &MemoryVisibility {
        &self.0.visibility
    }

    #[cfg(feature = "consumer")]
    pub(super) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    pub(super) fn run<F: Future>(&self, work: F) -> F::Output {
        self.0.runtime.block_on(work)
    }

    pub(super) fn advance(&self, span: Duration) {
        self.run(tokio::time::advance(span));
    }

    pub(super) fn set(&self, name: &str, value: String) {
        self.declared().settings.insert(name.to_owned(), value);
    }

    pub(super) fn setting(&self, name: &str) -> String {
        self.declared().settings.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn declare(&self, table: &str, partition: &str, sort: Option<&str>) {
        // The builder's answer is another handle to the same tables.
        drop(self.memory().clone().table(table, partition, sort));
        let keys = (partition.to_owned(), sort.map(str::to_owned));
        self.declared().tables.insert(table.to_owned(), keys);
    }

    pub(super) fn tables(&self) -> Vec<String> {
        self.declared().tables.keys().cloned().collect()
    }

    /// The key's attributes.
    #[track_caller]
    pub(super) fn key(&self, table: &str, key: TableKey) -> Item {
        let names = self.declared().tables.get(table).cloned();
        let Some((partition, sort)) = names else {
            panic!("table {table:?} is not declared; the test has {:?}", self.tables());
        };
        key.attributes(table, partition, sort)
    }

    fn declared(&self) -> MutexGuard<'_, Declared> {
        self.0.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
