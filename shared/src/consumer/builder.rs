use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Handler;
use super::dispatch::{Routes, Typed};
use super::engine::{Engine, Settings};
use crate::effect::Outcome;
use crate::event::Event;
use crate::outbox::Outbox;
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
        f.debug_struct("Consumer").field("name", &self.engine.settings.name).finish_non_exhaustive()
    }
}

impl Consumer<()> {
    /// Starts a consumer. `name` is the second half of every inbox key: it names the effect, not the process, and
    /// renaming it makes every event look new.
    pub fn builder(name: impl Into<String>, store: Arc<dyn Store>) -> Builder<()> {
        Builder {
            settings: Settings {
                name: name.into(),
                store,
                inbox: None,
                outbox: None,
                window: Duration::from_secs(90 * 86_400),
                clock: Arc::new(SystemClock),
                ids: Arc::new(RandomIds),
                backoff: Backoff::default(),
                concurrency: 10,
                margin: Duration::from_millis(200),
                reruns: 3,
                #[cfg(feature = "fault-injection")]
                sabotage: crate::fault::Sabotage::default(),
            },
            routes: Routes::new(),
            state: (),
            needs_inbox: false,
            wrong: None,
        }
    }
}

/// Builds a [`Consumer`].
#[must_use]
pub struct Builder<S> {
    settings: Settings,
    routes: Routes<S>,
    state: S,
    needs_inbox: bool,
    wrong: Option<BuildError>,
}

/// A consumer that cannot work. Found at start, not at the first message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The name is empty.
    #[error("the consumer has no name; every inbox key needs one")]
    NoName,
    /// No handler was added.
    #[error("consumer {0:?} handles no event type; add a handler with .on(…)")]
    NoHandler(String),
    /// A handler returns [`Effects`](crate::effect::Effects), and there is no table for the inbox key.
    #[error("consumer {0:?} has a handler that returns Effects, but no inbox table; name it with .inbox(…)")]
    NoInbox(String),
    /// `.state(…)` came after a handler.
    #[error("consumer {0:?} got its state after a handler; call .state(…) before the first .on(…)")]
    LateState(String),
    /// Two handlers for one event type.
    #[error("consumer {consumer:?} has two handlers for event type {event_type:?}")]
    Twice {
        /// The consumer.
        consumer: String,
        /// The event type.
        event_type: &'static str,
    },
}

impl<S: Clone + Send + Sync + 'static> Builder<S> {
    /// The inbox table. Needed by every handler that returns [`Effects`](crate::effect::Effects).
    pub fn inbox(mut self, table: impl Into<String>) -> Self {
        self.settings.inbox = Some(table.into());
        self
    }

    /// The outbox for emitted events. Without it, a handler that emits makes its event permanent.
    pub fn outbox(mut self, outbox: Outbox) -> Self {
        self.settings.outbox = Some(outbox);
        self
    }

    /// How long an inbox row is kept. Default 90 days; must outlast every way in which an event can come back.
    pub fn inbox_window(mut self, window: Duration) -> Self {
        self.settings.window = window;
        self
    }

    /// Adds the handler of event type `E::TYPE`.
    pub fn on<E, M, H>(mut self, handler: H) -> Self
    where
        E: Event,
        M: 'static,
        H: Handler<E, S, M>,
    {
        self.needs_inbox |= <H::Outcome as Outcome>::NEEDS_INBOX;
        if self.routes.insert(E::TYPE, Box::new(Typed::<E, M, H>::new(handler))).is_some() {
            self.wrong =
                Some(BuildError::Twice { consumer: self.settings.name.clone(), event_type: E::TYPE });
        }
        self
    }

    /// How many records are worked on at once. Default 10; at least 1. A FIFO group counts as one.
    pub fn concurrency(mut self, records: usize) -> Self {
        self.settings.concurrency = records.max(1);
        self
    }

    /// Time kept free at the end of the invocation for answering. Default 200 ms.
    pub fn margin(mut self, margin: Duration) -> Self {
        self.settings.margin = margin;
        self
    }

    /// Waits between attempts at one transaction.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// Replaces the clock and the source of ids.
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.settings.clock = clock;
        self.settings.ids = ids;
        self
    }

    /// Deliberate misbehaviour, to prove that the demo's auditor finds it.
    #[cfg(feature = "fault-injection")]
    pub fn sabotage(mut self, sabotage: crate::fault::Sabotage) -> Self {
        self.settings.sabotage = sabotage;
        self
    }

    /// The consumer.
    ///
    /// # Errors
    /// [`BuildError`], when it could not work.
    pub fn build(self) -> Result<Consumer<S>, BuildError> {
        let name = self.settings.name.clone();
        if name.is_empty() {
            return Err(BuildError::NoName);
        }
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if self.routes.is_empty() {
            return Err(BuildError::NoHandler(name));
        }
        if self.needs_inbox && self.settings.inbox.is_none() {
            return Err(BuildError::NoInbox(name));
        }
        Ok(Consumer {
            engine: Arc::new(Engine { settings: self.settings, routes: self.routes, state: self.state }),
        })
    }
}

impl Builder<()> {
    /// Adds state for handlers of the shape `async fn(Message<E>, Reads, S)`, usually an `Arc`. It comes before the
    /// first `.on(…)`; otherwise [`build`](Self::build) refuses.
    pub fn state<S: Clone + Send + Sync + 'static>(self, state: S) -> Builder<S> {
        let late = (!self.routes.is_empty()).then(|| BuildError::LateState(self.settings.name.clone()));
        Builder {
            settings: self.settings,
            routes: Routes::new(),
            state,
            needs_inbox: false,
            wrong: self.wrong.or(late),
        }
    }
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.settings.name).finish_non_exhaustive()
    }
}
