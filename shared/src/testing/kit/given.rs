use super::{Kit, Scenario};
#[cfg(feature = "consumer")]
use crate::consumer::Consumer;
use crate::store::Item;
use crate::testing::kit::producer::Called;

/// What is there before anything happens: tables, items, settings, and at last the code under test.
///
/// It starts with the tables `inbox`, `outbox` and `quarantine`, and with these settings:
///
/// | Setting | Value |
/// |---|---|
/// | `INBOX_TABLE`, `OUTBOX_TABLE`, `QUARANTINE_TABLE` | `inbox`, `outbox`, `quarantine` |
/// | `QUEUE_URL` | `https://sqs.test/queue` |
/// | `MAX_RECEIVE_COUNT` | `5` |
/// | `EVENT_SOURCE` | `/test` |
#[derive(Debug)]
#[must_use = "it ends with .consumer(…) or .producer(…)"]
pub struct Given {
    kit: Kit,
    fifo: bool,
}

impl Given {
    /// Nothing but the tables that every consumer has.
    ///
    /// # Panics
    /// Inside of an async runtime: the kit brings its own, on paused time.
    #[track_caller]
    #[allow(clippy::new_without_default, reason = "a given that nobody wrote down is none")]
    pub fn new() -> Self {
        let kit = Kit::new();
        for (setting, table) in
            [("INBOX_TABLE", "inbox"), ("OUTBOX_TABLE", "outbox"), ("QUARANTINE_TABLE", "quarantine")]
        {
            kit.declare(table, "pk", Some("sk"));
            kit.set(setting, table.to_owned());
        }
        for (setting, value) in
            [("QUEUE_URL", "https://sqs.test/queue"), ("MAX_RECEIVE_COUNT", "5"), ("EVENT_SOURCE", "/test")]
        {
            kit.set(setting, value.to_owned());
        }
        Self { kit, fifo: false }
    }

    /// A setting that [`Kit::settings`] answers, in place of the one that was there.
    pub fn setting(self, name: &str, value: impl Into<String>) -> Self {
        self.kit.set(name, value.into());
        self
    }

    /// A table with a string key.
    pub fn table(self, name: &str, partition_key: &str) -> Self {
        self.kit.declare(name, partition_key, None);
        self
    }

    /// A table with two string keys.
    pub fn table_with_sort_key(self, name: &str, partition_key: &str, sort_key: &str) -> Self {
        self.kit.declare(name, partition_key, Some(sort_key));
        self
    }

    /// An item, with its key; `oncebox::testing::item` helps to write it.
    ///
    /// # Panics
    /// When DynamoDB would refuse it: no such table, no key, an invalid number.
    #[track_caller]
    pub fn item(self, table: &str, item: Item) -> Self {
        if let Err(error) = self.kit.memory().put_item(table, item) {
            panic!("the given item is refused: {}", crate::telemetry::chain(&error));
        }
        self
    }

    /// Messages come from a FIFO queue. Their group is the event's aggregate, as the relay sets it, unless
    /// [`Incoming::group`](super::Incoming::group) names another.
    #[cfg(feature = "consumer")]
    pub fn fifo(mut self) -> Self {
        self.fifo = true;
        self
    }

    /// The consumer under test, as the function's own code builds it. It is put on the kit's clock.
    ///
    /// # Panics
    /// When `build` fails, or keeps a handle to the consumer.
    #[cfg(feature = "consumer")]
    #[track_caller]
    pub fn consumer<S, E: std::fmt::Display>(
        self,
        build: impl FnOnce(&Kit) -> Result<Consumer<S>, E>,
    ) -> Scenario<Consumer<S>> {
        let built = match build(&self.kit) {
            Ok(consumer) => consumer.on_clock(self.kit.clock(), self.kit.ids()),
            Err(error) => panic!("the consumer cannot be built: {error}"),
        };
        let consumer = built.expect("the closure must not keep a handle to the consumer");
        Scenario::new(self.kit, consumer, self.fifo)
    }

    /// The producer under test: anything that writes with an [`Outbox`](crate::outbox::Outbox), such as
    /// [`Kit::outbox`].
    pub fn producer<P>(self, build: impl FnOnce(&Kit) -> P) -> Scenario<Called<P>> {
        let producer = build(&self.kit);
        Scenario::new(self.kit, Called::not_yet(producer), self.fifo)
    }
}
