use std::fmt;

use sha2::{Digest, Sha256};

use crate::event::{EventKey, bounded};
use crate::telemetry::Hidden;

/// A message or an outbox row that cannot succeed.
#[derive(Clone, PartialEq, Eq)]
pub struct Case {
    /// Who gave up: a consumer's name, or the relay's.
    pub owner: String,
    /// Where it came from: the queue's ARN, or the outbox table.
    pub source: String,
    /// The event's key; `None` when the body could not be read as an event.
    pub event_key: Option<EventKey>,
    /// The SQS message id, which identifies what has no event key.
    pub message_id: String,
    /// The event type; empty when unknown.
    pub event_type: String,
    /// The aggregate id; empty when unknown.
    pub aggregate_id: String,
    /// The message group, on FIFO queues.
    pub group: Option<String>,
    /// Why, in one word.
    pub reason: Reason,
    /// Why, in a sentence with its causes; no payload.
    pub detail: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The producer's trace context.
    pub traceparent: Option<String>,
    /// Destinations that have not accepted the row; empty for a consumer.
    pub destinations: Vec<String>,
    /// The body as it came. Where a record has no text body, the record's whole JSON.
    pub body: String,
}

/// Why a case was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The handler, the event's content or DynamoDB says that it can never succeed.
    Permanent,
    /// The body is no event, or not in a shape that the consumer knows.
    Malformed,
    /// It failed for a passing reason until its last receive.
    Exhausted,
    /// It is older than the inbox remembers: it may have been applied long ago.
    TooOld,
    /// A call to a provider may or may not have been done. To be resolved before the message is sent again.
    Unknown,
}

impl Reason {
    /// The word that is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Malformed => "malformed",
            Self::Exhausted => "exhausted",
            Self::TooOld => "too_old",
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Permanent, Self::Malformed, Self::Exhausted, Self::TooOld, Self::Unknown]
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Case {
    /// What the case is about, the same for every repeat: owner and event key, or owner, source and message id.
    pub(super) fn subject(&self) -> String {
        bounded(match &self.event_key {
            Some(key) => format!("{}#{key}", self.owner),
            None => format!("{}#{}#{}", self.owner, self.source, self.message_id),
        })
    }

    /// Tells two bodies under one subject apart, so that another event with a reused id does not overwrite the first.
    pub(super) fn version(&self) -> String {
        Sha256::digest(self.body.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("owner", &self.owner)
            .field("source", &self.source)
            .field("event_key", &self.event_key)
            .field("message_id", &self.message_id)
            .field("event_type", &self.event_type)
            .field("aggregate_id", &self.aggregate_id)
            .field("group", &self.group)
            .field("reason", &self.reason)
            .field("detail", &self.detail)
            .field("attempts", &self.attempts)
            .field("traceparent", &self.traceparent)
            .field("destinations", &self.destinations)
            .field("body", &Hidden::text(&self.body))
            .finish()
    }
}
