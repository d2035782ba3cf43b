use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Handler;
use super::dispatch::{Routes, Typed};
use super::engine::{Engine, Parts};
use super::visibility::RetryDelay;
use super::{Config, Visibility};
use crate::effect::{IntoWork, UpsertNext};
use crate::event::{Envelope, Event};
use crate::inbox::{Retention, WindowTooShort};
use crate::outbox::Outbox;
use crate::quarantine::Quarantine;
use crate::retry::Backoff;
use crate::store::Store;
use crate::time::{Clock, Ids, RandomIds, SystemClock};

/// A consumer of one SQS queue: takes Lambda's batches, commits each event's effect once, and answers which records
/// have to come again.
///
/// # Examples
/// See [`Handler`] for handlers, and [`serve`](super::serve) for running it on Lambda.
pub struct Consumer<S> {
    pub(super) engine: Arc<Engine<S>>,
}

impl<S> Clone for Consumer<S> {
    fn clone(&self) -> Self {
        Self { engine: Arc::clone(&self.engine) }
    }
}

impl<S> fmt::Debug for Consumer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("name", &self.engine.parts.name).finish_non_exhaustive()
    }
}

impl Consumer<()> {
    /// Starts a consumer. `name` is the second half of every inbox key: it names the effect, not the process, and
    /// renaming it makes every event look new.
    pub fn builder(name: impl Into<String>, store: Arc<dyn Store>) -> Builder<()> {
        Builder {
            parts: Parts {
                name: name.into(),
                store,
                inbox: None,
                outbox: None,
                #[cfg(feature = "remote")]
                remote: None,
                quarantine: None,
                max_receive_count: None,
                retry_delay: None,
                retention: Retention::default(),
                version_grace: Duration::from_secs(3600),
                packing: false,
                on_unhandled: None,
                clock: Arc::new(SystemClock),
                ids: Arc::new(RandomIds),
                backoff: Backoff::default(),
                concurrency: 10,
                margin: Duration::from_millis(200),
                unstated: Duration::from_secs(30),
                reruns: 3,
                #[cfg(feature = "fault-injection")]
                sabotage: crate::fault::Sabotage::default(),
            },
            routes: Routes::new(),
            state: (),
            needs_inbox: false,
            needs_every_event: false,
            #[cfg(feature = "remote")]
            needs_provider: false,
            wrong: None,
        }
    }
}

/// Builds a [`Consumer`].
#[must_use]
pub struct Builder<S> {
    pub(super) parts: Parts,
    routes: Routes<S>,
    state: S,
    needs_inbox: bool,
    needs_every_event: bool,
    #[cfg(feature = "remote")]
    needs_provider: bool,
    wrong: Option<BuildError>,
}

/// A consumer that cannot work. Found at start, not at the first message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The name is empty.
    #[error("the consumer has no name; every inbox key needs one")]
    NoName,
    /// The name cannot be part of a stored key.
    #[error("the consumer's name {name:?} {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No handler was added.
    #[error("consumer {0:?} handles no event type; add a handler with .on(…)")]
    NoHandler(String),
    /// A handler returns [`Effects`](crate::effect::Effects), and there is no table for the inbox key.
    #[error("consumer {0:?} has a handler that returns Effects, but no inbox table; name it with .inbox(…)")]
    NoInbox(String),
    /// A handler returns [`Remote`](crate::effect::remote::Remote), and nothing is known of its provider.
    #[cfg(feature = "remote")]
    #[error("consumer {0:?} has a handler that returns Remote, but no provider; name it with .remote(…)")]
    NoProvider(String),
    /// `.state(…)` came after a handler.
    #[error("consumer {0:?} got its state after a handler; call .state(…) before the first .on(…)")]
    LateState(String),
    /// An event could come back after its inbox key has been forgotten.
    #[error("consumer {consumer:?}: the inbox window {window}")]
    Window {
        /// The consumer.
        consumer: String,
        /// The sum and its parts.
        window: WindowTooShort,
    },
    /// A handler returns [`UpsertNext`], and events of other types would leave gaps in the sequence.
    #[error(
        "consumer {0:?} has a handler that returns Upsert::next, but does not count the events that it has no handler \
         for: every later event of their aggregate would wait for ever. Advance the item for them, with \
         .on_unhandled(|envelope| envelope.sequence.map(|sequence| Upsert::next(…)))"
    )]
    NoUnhandled(String),
    /// Two handlers for one version of an event type.
    #[error("consumer {consumer:?} has two handlers for event type {event_type:?}, schema version {version}")]
    Twice {
        /// The consumer.
        consumer: String,
        /// The event type.
        event_type: &'static str,
        /// The schema version.
        version: u32,
    },
}

impl<S: Clone + Send + Sync + 'static> Builder<S> {
    /// The inbox table. Needed by every handler that returns [`Effects`](crate::effect::Effects).
    pub fn inbox(mut self, table: impl Into<String>) -> Self {
        self.parts.inbox = Some(table.into());
        self
    }

    /// The outbox for emitted events. Without it, a handler that emits makes its event permanent.
    pub fn outbox(mut self, outbox: Outbox) -> Self {
        self.parts.outbox = Some(outbox);
        self
    }

    /// The provider that handlers call which return [`Remote`](crate::effect::remote::Remote).
    #[cfg(feature = "remote")]
    pub fn remote(mut self, provider: crate::effect::remote::Provider) -> Self {
        self.parts.remote = Some(provider);
        self
    }

    /// Everything that a consumer function reads from its environment. `visibility` sets the retry delay, unless the
    /// configuration switches it off.
    pub fn config(mut self, config: &Config, visibility: Arc<dyn Visibility>) -> Self {
        let quarantine = Quarantine::new(Arc::clone(&self.parts.store), config.quarantine_table.as_str());
        self.parts.inbox.clone_from(&config.inbox_table);
        self.parts.max_receive_count = config.max_receive_count;
        self.parts.packing = config.packing;
        self.parts.version_grace = config.version_grace;
        if config.retry_delay {
            self = self.retry_delay(visibility, config.queue_url.clone());
        }
        self.quarantine(quarantine).retention(config.retention)
    }

    /// Where messages go that cannot succeed. Without it they are listed, and end on the dead letter queue.
    pub fn quarantine(mut self, quarantine: Quarantine) -> Self {
        self.parts.quarantine = Some(quarantine);
        self
    }

    /// The redrive policy's `maxReceiveCount`. A *started* record that fails for a passing reason on its last receive is
    /// quarantined with its error. Default: none, and such a record falls on the dead letter queue.
    pub fn max_receive_count(mut self, count: std::num::NonZeroU32) -> Self {
        self.parts.max_receive_count = Some(count);
        self
    }

    /// Sets the visibility of what has to come again: a random time below 2 s, doubled with each receive up to 15 min,
    /// and never less than what is left of the invocation. Default: the queue's own visibility timeout.
    pub fn retry_delay(mut self, visibility: Arc<dyn Visibility>, queue_url: String) -> Self {
        self.parts.retry_delay = Some(RetryDelay::new(visibility, queue_url));
        self
    }

    /// All windows. [`build`](Self::build) refuses an inbox window that is shorter than the longest way back.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.parts.retention = retention;
        self
    }

    /// How long an unknown schema version of a handled type is taken for a rollout under way (transient), counted from
    /// the event's time, before it is malformed. Default 1 h.
    pub fn version_grace(mut self, grace: Duration) -> Self {
        self.parts.version_grace = grace;
        self
    }

    /// Whether records share transactions: fewer, larger calls. Default off. Failures stay individual, but a conflict
    /// with another writer is met more often.
    pub fn packing(mut self, on: bool) -> Self {
        self.parts.packing = on;
        self
    }

    /// Adds the handler of event type `E::TYPE` in schema version `E::SCHEMA_VERSION`. One type may be handled in
    /// several versions, each with its own Rust type.
    pub fn on<E, M, H>(mut self, handler: H) -> Self
    where
        E: Event,
        M: 'static,
        H: Handler<E, S, M>,
    {
        self.needs_inbox |= <H::Outcome as IntoWork>::NEEDS_INBOX;
        self.needs_every_event |= <H::Outcome as IntoWork>::NEEDS_EVERY_EVENT;
        #[cfg(feature = "remote")]
        {
            self.needs_provider |= <H::Outcome as IntoWork>::NEEDS_PROVIDER;
        }
        let versions = self.routes.entry(E::TYPE).or_default();
        if versions.insert(E::SCHEMA_VERSION, Box::new(Typed::<E, M, H>::new(handler))).is_some() {
            let consumer = self.parts.name.clone();
            self.wrong =
                Some(BuildError::Twice { consumer, event_type: E::TYPE, version: E::SCHEMA_VERSION });
        }
        self
    }

    /// Called for every event whose type has no handler: the item that has to advance, or `None` for an event that counts
    /// for none. The event is unhandled in the end, but written first: it comes again if the write fails, or if an event
    /// before it is missing. Needed where a handler returns [`UpsertNext`].
    ///
    /// A handled type in an unknown schema version is not passed here; it waits, and is quarantined as malformed.
    ///
    /// # Examples
    /// ```
    /// # use std::{borrow::Cow, sync::Arc};
    /// # use aws_sdk_dynamodb::types::AttributeValue;
    /// # use oncebox::consumer::{Consumer, HandlerError};
    /// # use oncebox::effect::{Reads, Upsert, UpsertNext};
    /// # use oncebox::event::{Event, Message};
    /// # use oncebox::store::{Item, Store};
    /// # #[derive(serde::Serialize, serde::Deserialize)] struct Credited { account_id: String, cents: u64 }
    /// # impl Event for Credited {
    /// #     const TYPE: &'static str = "Credited";
    /// #     const AGGREGATE_TYPE: &'static str = "Account";
    /// #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.account_id) }
    /// # }
    /// fn next(account: &str, sequence: u64) -> UpsertNext {
    ///     let key = Item::from([("account_id".to_owned(), AttributeValue::S(account.to_owned()))]);
    ///     Upsert::next("balances", key, sequence)
    /// }
    ///
    /// async fn credited(event: Message<Credited>, _reads: Reads) -> Result<UpsertNext, HandlerError> {
    ///     let sequence = event.sequence().ok_or_else(|| HandlerError::permanent("the event has no sequence"))?;
    ///     Ok(next(&event.account_id, sequence).add("cents", AttributeValue::N(event.cents.to_string())))
    /// }
    ///
    /// # fn build(store: Arc<dyn Store>) -> Result<(), oncebox::consumer::BuildError> {
    /// Consumer::builder("balances", store)
    ///     .on(credited)
    ///     .on_unhandled(|envelope| match (envelope.aggregate_type.as_str(), envelope.sequence) {
    ///         ("Account", Some(sequence)) => Some(next(&envelope.aggregate_id, sequence)),
    ///         _ => None,
    ///     })
    ///     .build()?;
    /// # Ok(()) }
    /// ```
    pub fn on_unhandled<F>(mut self, advance: F) -> Self
    where
        F: Fn(&Envelope) -> Option<UpsertNext> + Send + Sync + 'static,
    {
        self.parts.on_unhandled = Some(Box::new(advance));
        self
    }

    /// How many records are worked on at once. Default 10; at least 1. A FIFO group counts as one.
    pub fn concurrency(mut self, records: usize) -> Self {
        self.parts.concurrency = records.max(1);
        self
    }

    /// Time kept free at the end of the invocation for answering. Default 200 ms.
    pub fn margin(mut self, margin: Duration) -> Self {
        self.parts.margin = margin;
        self
    }

    /// Waits between attempts at one transaction.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.parts.backoff = backoff;
        self
    }

    /// Replaces the clock and the source of ids.
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.parts.clock = clock;
        self.parts.ids = ids;
        self
    }

    /// Deliberate misbehaviour, to prove that the demo's auditor finds it.
    #[cfg(feature = "fault-injection")]
    pub fn sabotage(mut self, sabotage: crate::fault::Sabotage) -> Self {
        self.parts.sabotage = sabotage;
        self
    }

    /// The consumer.
    ///
    /// # Errors
    /// [`BuildError`], when it could not work.
    pub fn build(self) -> Result<Consumer<S>, BuildError> {
        let name = self.parts.name.clone();
        if name.is_empty() {
            return Err(BuildError::NoName);
        }
        if let Some(why) = unusable(&name) {
            return Err(BuildError::BadName { name, why });
        }
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if self.routes.is_empty() {
            return Err(BuildError::NoHandler(name));
        }
        if self.needs_inbox && self.parts.inbox.is_none() {
            return Err(BuildError::NoInbox(name));
        }
        #[cfg(feature = "remote")]
        if self.needs_provider && self.parts.remote.is_none() {
            return Err(BuildError::NoProvider(name));
        }
        if self.needs_every_event && self.parts.on_unhandled.is_none() {
            return Err(BuildError::NoUnhandled(name));
        }
        if self.needs_inbox {
            self.parts.retention.check().map_err(|window| BuildError::Window { consumer: name, window })?;
        }
        Ok(Consumer {
            engine: Arc::new(Engine { parts: self.parts, routes: self.routes, state: self.state }),
        })
    }
}

/// Why a name cannot stand in a key: in the inbox alone, in the quarantine before the event key.
fn unusable(name: &str) -> Option<&'static str> {
    if name.contains('#') {
        Some("has a '#', which parts it from the event in the quarantine's key")
    } else if name.len() > 255 {
        Some("is longer than 255 bytes")
    } else if name.chars().any(char::is_control) {
        Some("has a control character")
    } else {
        None
    }
}

impl Builder<()> {
    /// Adds state for handlers of the shape `async fn(Message<E>, Reads, S)`, usually an `Arc`. It comes before the
    /// first `.on(…)`; otherwise [`build`](Self::build) refuses.
    pub fn state<S: Clone + Send + Sync + 'static>(self, state: S) -> Builder<S> {
        let late = (!self.routes.is_empty()).then(|| BuildError::LateState(self.parts.name.clone()));
        Builder {
            parts: self.parts,
            routes: Routes::new(),
            state,
            needs_inbox: false,
            needs_every_event: false,
            #[cfg(feature = "remote")]
            needs_provider: false,
            wrong: self.wrong.or(late),
        }
    }
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.parts.name).finish_non_exhaustive()
    }
}
