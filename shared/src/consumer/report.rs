//! What a consumer logs and measures: names, counts, times and reasons; never a body.

use jiff::Timestamp;

use super::settle::Settled;
use super::watch::{Sample, Watch};
use super::{Counts, Record, Verdict};
use crate::telemetry::{Emf, METRICS, dimension_value};

pub(super) fn received(consumer: &str, records: usize) {
    tracing::info!(consumer, records, "batch received");
}

/// What became of a record that was started. Whose it is stands in its span.
pub(super) fn record(watch: &Watch, settled: &Settled) {
    let Settled { verdict, quarantined, .. } = settled;
    watch.span.record("verdict", verdict.name());
    let (span, verdict) = (&watch.span, verdict.name());
    match settled.verdict.reason() {
        Some(reason) => tracing::warn!(parent: span, verdict, quarantined, reason, "record"),
        None => tracing::debug!(parent: span, verdict, "record"),
    }
}

/// The last line of an invocation, which is its metrics too.
pub(super) fn done(consumer: &str, records: &[Record<'_>], settled: &[Settled], now: Timestamp) {
    let counts = Counts {
        quarantined: settled.iter().filter(|settled| settled.quarantined).count(),
        ..Counts::of(settled.iter().map(|settled| &settled.verdict))
    };
    // A metric's dimension has fewer characters to choose from than a name.
    let consumer = dimension_value(consumer);
    let mut lines = metrics(&counts, records, settled, now).into_lines().into_iter();
    tracing::info!(
        target: METRICS,
        consumer,
        records = records.len(),
        applied = counts.applied,
        duplicate = counts.duplicate,
        stale = counts.stale,
        unhandled = counts.unhandled,
        transient = counts.transient,
        permanent = counts.permanent,
        malformed = counts.malformed,
        too_old = counts.too_old,
        unknown = counts.unknown,
        quarantined = counts.quarantined,
        held_back = counts.held_back,
        not_started = counts.not_started,
        emf = lines.next(),
        "batch done"
    );
    for emf in lines {
        tracing::info!(target: METRICS, consumer, emf, "more values");
    }
}

fn metrics(counts: &Counts, records: &[Record<'_>], settled: &[Settled], now: Timestamp) -> Emf {
    let mut emf = Emf::new(now, "consumer");
    emf.count("BatchSize", records.len());
    emf.count("Applied", counts.applied);
    emf.count("Duplicate", counts.duplicate);
    emf.count("Stale", counts.stale);
    emf.count("Unhandled", counts.unhandled);
    emf.count("Transient", counts.transient);
    emf.count("Permanent", counts.permanent);
    emf.count("Malformed", counts.malformed);
    emf.count("TooOld", counts.too_old);
    emf.count("Unknown", counts.unknown);
    emf.count("Quarantined", counts.quarantined);
    emf.count("HeldBack", counts.held_back);
    emf.count("NotStarted", counts.not_started);
    emf.numbers("Deliveries", records.iter().map(|record| record.receive_count));
    let again = settled.iter().filter(|settled| settled.sample.is_some_and(|sample| sample.called_again));
    emf.count("CalledAgain", again.count());
    let samples = || settled.iter().filter_map(|settled| Some((&settled.verdict, settled.sample?)));
    let nonzero =
        |of: fn(Sample) -> u64| samples().map(move |(_, sample)| of(sample)).filter(|span| *span > 0);
    emf.times("HandlerTime", nonzero(|sample| sample.handler));
    emf.times("CommitTime", nonzero(|sample| sample.commit));
    let applied = samples().filter(|(verdict, _)| matches!(verdict, Verdict::Applied));
    emf.times("CommitToApplyLag", applied.filter_map(|(_, sample)| sample.age));
    emf
}
