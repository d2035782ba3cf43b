use std::fmt::{self, Debug};

use futures::future::BoxFuture;

use super::Destination;
use crate::outbox::{Row, deliverable};
use crate::telemetry::Hidden;

/// Entries that `PublishBatch` and `SendMessageBatch` take in one call.
pub(super) const MAX_ENTRIES: usize = 10;

/// One message for one destination.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The frozen envelope.
    pub body: String,
    /// Message attribute `event_type`, for filter policies.
    pub event_type: String,
    /// Message attribute `aggregate_type`, for filter policies.
    pub aggregate_type: String,
    /// FIFO message group: the aggregate (the row's `pk`), or the hash of it where a group id could not be that.
    pub group: String,
    /// The event id.
    pub event_id: String,
    /// FIFO deduplication id: the event id; in a replay with the replay's own id behind it.
    pub dedup_id: String,
}

impl Outgoing {
    /// `again` is the id of a replay.
    pub(super) fn of(row: &Row, again: Option<&str>) -> Self {
        let dedup_id = again.map_or_else(|| row.sk.clone(), |again| format!("{}~{again}", row.sk));
        Self {
            body: row.body.clone(),
            event_type: row.event_type.clone(),
            aggregate_type: row.aggregate_type().to_owned(),
            group: deliverable::fifo_id(&row.pk),
            event_id: row.sk.clone(),
            dedup_id: deliverable::fifo_id(&dedup_id),
        }
    }
}

/// Why one entry was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The destination says that the message itself is at fault, or it is too large: it will not be accepted later.
    #[error("refused for good ({0})")]
    Refused(String),
    /// Throttled, unreachable, or not mentioned in the answer.
    #[error("not accepted ({0})")]
    NotNow(String),
}

/// Sends batches. One result per entry, by position.
pub trait Publisher: Debug + Send + Sync + 'static {
    /// Sends at most 10 entries that fit the destination's bytes in one call.
    fn publish<'a>(
        &'a self,
        destination: &'a Destination,
        entries: &'a [Outgoing],
    ) -> BoxFuture<'a, Vec<Result<(), PublishError>>>;
}

/// Cuts entries of these sizes into calls, by count and by the bytes that the destination takes in one call, which are as
/// many as in one message. An entry that is alone too large gets a call of its own, and the destination's refusal.
pub(super) fn into_calls(destination: &Destination, sizes: &[usize]) -> Vec<std::ops::Range<usize>> {
    let max_bytes = destination.max_bytes();
    let mut calls = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (index, size) in sizes.iter().enumerate() {
        let full = index - start == MAX_ENTRIES || bytes.saturating_add(*size) > max_bytes;
        if full && index > start {
            calls.push(start..index);
            (start, bytes) = (index, 0);
        }
        bytes = bytes.saturating_add(*size);
    }
    if start < sizes.len() {
        calls.push(start..sizes.len());
    }
    calls
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("body", &Hidden::text(&self.body))
            .field("event_type", &self.event_type)
            .field("aggregate_type", &self.aggregate_type)
            .field("group", &self.group)
            .field("event_id", &self.event_id)
            .field("dedup_id", &self.dedup_id)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_cut_by_count_and_by_bytes() {
        let topic: Destination = "arn:aws:sns:::t".parse().unwrap();
        assert_eq!(into_calls(&topic, &[1; 23]), [0..10, 10..20, 20..23]);
        assert_eq!(into_calls(&topic, &[100_000, 100_000, 100_000]), [0..2, 2..3]);
        assert_eq!(into_calls(&topic, &[1, 300_000, 1]), [0..1, 1..2, 2..3]);
        assert!(into_calls(&topic, &[]).is_empty());
    }
}
