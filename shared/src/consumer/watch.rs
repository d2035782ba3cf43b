//! What is observed of one record: its span, and how long its parts took.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;
use tracing::Span;
use tracing::field::Empty;

use super::Record;
use super::engine::Parts;
use crate::event::{Envelope, TraceContext};
use crate::telemetry::SPANS;

/// Observes one record that is being worked on.
#[derive(Debug)]
pub(super) struct Watch {
    /// The record's own place in its producer's trace, or in a new one. Emitted events carry it.
    pub(super) trace: TraceContext,
    pub(super) span: Span,
    born: Option<Timestamp>,
    handler: AtomicU64,
    commit: AtomicU64,
    called_again: AtomicBool,
    /// Epoch milliseconds before which another delivery is of no use.
    not_before: AtomicI64,
}

/// What the metrics take of one record, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) handler: u64,
    pub(super) commit: u64,
    /// From the event's time to now, where it states one.
    pub(super) age: Option<u64>,
    /// Whether a call that may have been done was made again, by choice.
    pub(super) called_again: bool,
}

/// Adds the time until it is dropped, also when the work is cut short by a panic or by the deadline.
pub(super) struct Timing<'a> {
    total: &'a AtomicU64,
    since: Instant,
}

impl Watch {
    pub(super) fn start(
        parts: &Parts,
        record: &Record<'_>,
        envelope: Option<&Envelope>,
        now: Timestamp,
    ) -> Self {
        let producer = envelope.and_then(|envelope| envelope.cause.traceparent.as_deref());
        let producer = producer.and_then(TraceContext::parse);
        let trace = TraceContext::below(producer.as_ref(), parts.ids.as_ref(), now);
        let span = tracing::info_span!(
            target: SPANS,
            "record",
            otel.kind = "consumer",
            consumer = parts.name,
            message_id = record.message_id.as_deref(),
            event_id = envelope.map(|envelope| envelope.id.as_str()),
            event_type = envelope.map(|envelope| envelope.event_type.as_str()),
            aggregate = envelope.map(|envelope| envelope.aggregate_id.as_str()),
            attempt = record.receive_count,
            trace_id = trace.trace_id(),
            span_id = trace.span_id(),
            parent_span_id = producer.map(|producer| producer.span_id()),
            verdict = Empty,
        );
        let born = envelope.and_then(|envelope| envelope.born().ok().flatten());
        Self {
            trace,
            span,
            born,
            handler: AtomicU64::new(0),
            commit: AtomicU64::new(0),
            called_again: AtomicBool::new(false),
            not_before: AtomicI64::new(i64::MIN),
        }
    }

    pub(super) fn time_handler(&self) -> Timing<'_> {
        Timing { total: &self.handler, since: Instant::now() }
    }

    pub(super) fn time_commit(&self) -> Timing<'_> {
        Timing { total: &self.commit, since: Instant::now() }
    }

    /// Another delivery before `time` is of no use. The last word counts.
    #[cfg(feature = "remote")]
    pub(super) fn not_before(&self, time: Timestamp) {
        self.not_before.store(time.as_millisecond(), Ordering::Relaxed);
    }

    /// A call that may have been done is made again.
    #[cfg(feature = "remote")]
    pub(super) fn calls_again(&self) {
        self.called_again.store(true, Ordering::Relaxed);
    }

    /// How long a record that comes again has to stay away at least.
    pub(super) fn wait(&self, now: Timestamp) -> Duration {
        let left = self.not_before.load(Ordering::Relaxed).saturating_sub(now.as_millisecond());
        Duration::from_millis(u64::try_from(left).unwrap_or_default())
    }

    pub(super) fn sample(&self, now: Timestamp) -> Sample {
        let age = self.born.map(|born| Duration::try_from(now.duration_since(born)).unwrap_or_default());
        Sample {
            handler: self.handler.load(Ordering::Relaxed),
            commit: self.commit.load(Ordering::Relaxed),
            age: age.map(micros),
            called_again: self.called_again.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        self.total.fetch_add(micros(self.since.elapsed()), Ordering::Relaxed);
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
