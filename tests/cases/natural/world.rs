use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::event::sqs::SqsBatchResponse;
use oncebox::consumer::{Builder, Consumer, HandlerError};
use oncebox::event::{EventKey, Message};
use oncebox::quarantine::Quarantine;
use oncebox::retry::Backoff;
use oncebox::store::{Item, Store};
use oncebox::testing::{
    CountedIds, MemoryStore, PausedClock, ScriptedStore, SqsBatch, StreamEntry, item, text,
};
use serde::{Deserialize, Serialize};
use tracing::subscriber::DefaultGuard;

use super::verdicts::{Logged, Verdicts};

/// One aggregate's item moves by an amount.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Moved {
    pub(super) id: String,
    pub(super) amount: u64,
}

impl oncebox::event::Event for Moved {
    const TYPE: &'static str = "Moved";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.id)
    }
}

/// An event of the test: everything follows from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sent {
    pub(super) thing: u64,
    pub(super) sequence: u64,
    /// Tells events of one sequence apart.
    pub(super) variant: u64,
    pub(super) event_type: &'static str,
}

impl Sent {
    pub(super) fn moved(thing: u64, sequence: u64) -> Self {
        Self { event_type: "Moved", thing, sequence, variant: 0 }
    }

    pub(super) fn id(&self) -> String {
        format!("{}-{}-{}", self.thing, self.sequence, self.variant)
    }

    pub(super) fn key(&self) -> String {
        EventKey::of("/test", &self.id()).as_str().to_owned()
    }

    pub(super) fn amount(&self) -> u64 {
        100 * self.thing + 10 * self.sequence.min(9) + self.variant
    }

    pub(super) fn body(&self) -> String {
        let Self { event_type, thing, sequence, .. } = self;
        let (id, amount) = (self.id(), self.amount());
        format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/test","type":"{event_type}","subject":"{thing}","aggregatetype":"Thing","sequence":"{sequence}","data":{{"id":"{thing}","amount":{amount}}}}}"#
        )
    }
}

pub(super) fn sequence(event: &Message<Moved>) -> Result<u64, HandlerError> {
    event.sequence().ok_or_else(|| HandlerError::permanent("the event has no sequence"))
}

pub(super) fn key(thing: &str) -> Item {
    item([("id", text(thing))])
}

/// Adds a consumer's handlers.
pub(super) type Handlers = fn(Builder<()>) -> Builder<()>;

/// A consumer of a table `things`, and all that can be seen of it.
pub(super) struct World {
    pub(super) memory: MemoryStore,
    pub(super) store: ScriptedStore,
    pub(super) clock: PausedClock,
    pub(super) consumer: Consumer<()>,
    verdicts: Verdicts,
    _listening: DefaultGuard,
}

impl World {
    pub(super) fn new(handlers: impl FnOnce(Builder<()>) -> Builder<()>) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("things", "id", None).table(
            "quarantine",
            "pk",
            Some("sk"),
        );
        let store = ScriptedStore::new(Arc::new(memory.clone()));
        let shared: Arc<dyn Store> = Arc::new(store.clone());
        let builder = Consumer::builder("test", Arc::clone(&shared))
            .quarantine(Quarantine::new(shared, "quarantine"))
            .with_time(Arc::new(clock), Arc::new(CountedIds::default()))
            .backoff(Backoff { base: Duration::from_millis(10), cap: Duration::from_millis(100) });
        let consumer = handlers(builder).build().unwrap();
        let (verdicts, listening) = Verdicts::listen();
        Self { memory, store, clock, consumer, verdicts, _listening: listening }
    }

    /// Delivers `batch` and answers the listed identifiers.
    pub(super) async fn deliver(&self, batch: &SqsBatch, within_ms: u64) -> Vec<String> {
        let deadline = self.clock.deadline_in(within_ms);
        let answer: SqsBatchResponse = self.consumer.handle(&batch.to_json(), deadline).await.unwrap();
        crate::bench::listed(&answer)
    }

    /// Delivers these events one after another, and answers what was logged for each.
    pub(super) async fn handle(&self, events: impl IntoIterator<Item = Sent>) -> Vec<Logged> {
        for event in events {
            self.deliver(&SqsBatch::standard("q").record("m", &event.body()), 10_000).await;
        }
        self.logged()
    }

    /// The names of the verdicts of [`handle`](Self::handle).
    pub(super) async fn verdicts(&self, events: impl IntoIterator<Item = Sent>) -> Vec<String> {
        self.handle(events).await.into_iter().map(|logged| logged.verdict).collect()
    }

    /// What has been logged since the last look.
    pub(super) fn logged(&self) -> Vec<Logged> {
        self.verdicts.take()
    }

    pub(super) fn thing(&self, thing: u64) -> Option<Item> {
        self.memory.get_item("things", key(&thing.to_string())).unwrap()
    }

    /// Every change of one item.
    pub(super) fn history(&self, thing: u64) -> Vec<StreamEntry> {
        let mut stream = self.memory.stream("things");
        stream.retain(|entry| entry.keys == key(&thing.to_string()));
        stream
    }

    pub(super) fn number(&self, thing: u64, name: &str) -> u64 {
        self.thing(thing).unwrap()[name].as_n().unwrap().parse().unwrap()
    }
}
