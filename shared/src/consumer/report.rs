//! What a consumer logs: names, counts and reasons; never a body.

use super::{Counts, Record, Verdict};
use crate::event::EventKey;

pub(super) fn received(consumer: &str, records: usize) {
    tracing::info!(consumer, records, "batch received");
}

pub(super) fn record(consumer: &str, record: &Record<'_>, key: Option<&EventKey>, verdict: &Verdict) {
    let event_id = key.map_or("", EventKey::as_str);
    let message_id = record.message_id.as_deref().unwrap_or("");
    let attempt = record.receive_count;
    match verdict.reason() {
        Some(reason) => {
            tracing::warn!(
                consumer,
                event_id,
                message_id,
                attempt,
                verdict = verdict.name(),
                reason,
                "record"
            );
        }
        None => tracing::debug!(consumer, event_id, message_id, attempt, verdict = verdict.name(), "record"),
    }
}

pub(super) fn done(consumer: &str, counts: &Counts, records: usize) {
    tracing::info!(
        consumer,
        records,
        applied = counts.applied,
        duplicate = counts.duplicate,
        stale = counts.stale,
        unhandled = counts.unhandled,
        transient = counts.transient,
        permanent = counts.permanent,
        malformed = counts.malformed,
        held_back = counts.held_back,
        not_started = counts.not_started,
        "batch done"
    );
}
