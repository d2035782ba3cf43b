use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use super::{Cause, Envelope, EventKey};

/// An event as a handler sees it: the typed data, and what the envelope says about it.
///
/// It is a shared pointer, so that a handler can be run again without `E: Clone`. It dereferences to `E`.
///
/// Its `Debug` output can be logged: it shows the envelope without `data`. The event itself is `*message`.
pub struct Message<E>(Arc<Inner<E>>);

struct Inner<E> {
    event: E,
    envelope: Arc<Envelope>,
    /// Few handlers ask for it.
    key: OnceLock<EventKey>,
    now: Timestamp,
    attempt: u32,
}

impl<E> Message<E> {
    /// Puts a message together; the engine does this, and tests may.
    #[must_use]
    pub fn new(event: E, envelope: Envelope, now: Timestamp, attempt: u32) -> Self {
        Self::shared(event, Arc::new(envelope), now, attempt)
    }

    pub(crate) fn shared(event: E, envelope: Arc<Envelope>, now: Timestamp, attempt: u32) -> Self {
        Self(Arc::new(Inner { event, envelope, key: OnceLock::new(), now, attempt }))
    }

    /// The key under which the consumer remembers the event.
    #[must_use]
    pub fn key(&self) -> &EventKey {
        self.0.key.get_or_init(|| self.0.envelope.key())
    }

    /// The event's id, as the producer spelled it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.envelope.id
    }

    /// The aggregate's version after this event, if the producer states one.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        self.0.envelope.sequence
    }

    /// The sequence for an event that this one leads to on the same aggregate: this one's plus 1.
    #[must_use]
    pub fn next_sequence(&self) -> Option<u64> {
        self.sequence().and_then(|sequence| sequence.checked_add(1))
    }

    /// When the invocation began. Use this for stored times, not the system's clock: a handler that is run again
    /// within one delivery then writes the same value.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now
    }

    /// How often the queue has handed out this record, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// Trace, correlation and causation of the event.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.0.envelope.cause
    }
}

impl<E> Clone for Message<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> Deref for Message<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0.event
    }
}

impl<E> fmt::Debug for Message<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("envelope", &self.0.envelope)
            .field("now", &self.0.now)
            .field("attempt", &self.0.attempt)
            .finish_non_exhaustive()
    }
}
