//! What a consumer logs: names, counts and reasons; never a body.

use super::settle::Settled;
use super::{Counts, Record};
use crate::event::Envelope;

pub(super) fn received(consumer: &str, records: usize) {
    tracing::info!(consumer, records, "batch received");
}

pub(super) fn record(consumer: &str, record: &Record<'_>, envelope: Option<&Envelope>, settled: &Settled) {
    let Settled { verdict, quarantined } = settled;
    let event_id = envelope.map_or("", |envelope| &envelope.id);
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
                quarantined,
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
        too_old = counts.too_old,
        quarantined = counts.quarantined,
        held_back = counts.held_back,
        not_started = counts.not_started,
        "batch done"
    );
}
