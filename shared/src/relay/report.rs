//! What the relay logs and measures: counts and lag, never a body.

use jiff::Timestamp;

use super::tally::Tally;
use crate::outbox::Row;
use crate::telemetry::{Emf, METRICS, dimension_value};

/// How the records of one invocation ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) records: usize,
    /// Rows that all their destinations have accepted.
    pub(super) published: usize,
    pub(super) quarantined: usize,
    /// Changes and removals of rows.
    pub(super) not_inserts: usize,
    /// Rows that another Region publishes.
    pub(super) other_region: usize,
    /// Late records whose row is gone: published before.
    pub(super) gone: usize,
    pub(super) failed: usize,
    /// What the destinations said.
    pub(super) tally: Tally,
    /// From a row's write to its acceptance everywhere, in milliseconds.
    pub(super) lags: Vec<u64>,
}

/// A row that states no time, or one in the future, says nothing about lag.
pub(super) fn lag(counts: &mut Counts, row: &Row, now: Timestamp) {
    let lag = now.as_millisecond().saturating_sub(row.created_at);
    if row.created_at > 0
        && let Ok(lag) = u64::try_from(lag)
    {
        counts.lags.push(lag);
    }
}

/// The last line of an invocation, which is its metrics too. `relay` is the function that publishes.
pub(super) fn done(counts: &Counts, relay: &str, now: Timestamp) {
    let ignored = counts.not_inserts + counts.other_region;
    let mut emf = Emf::new(now, "relay");
    emf.count("BatchSize", counts.records);
    emf.count("Published", counts.published);
    emf.count("Quarantined", counts.quarantined);
    emf.count("Ignored", ignored);
    emf.count("Gone", counts.gone);
    emf.count("Failed", counts.failed);
    emf.count("PublishCalls", counts.tally.calls());
    emf.times("PublishLag", counts.lags.iter().map(|millis| millis.saturating_mul(1000)));
    counts.tally.report(now);
    let relay = dimension_value(relay);
    let mut lines = emf.into_lines().into_iter();
    tracing::info!(
        target: METRICS,
        relay,
        records = counts.records,
        published = counts.published,
        quarantined = counts.quarantined,
        ignored,
        gone = counts.gone,
        failed = counts.failed,
        publish_lag_ms = counts.lags.iter().max(),
        emf = lines.next(),
        "relay done"
    );
    for emf in lines {
        tracing::info!(target: METRICS, relay, emf, "more values");
    }
}
