//! What the relay logs: counts and lag, never a body.

use jiff::Timestamp;

use crate::outbox::Row;

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
    /// From the row's write to its acceptance everywhere, in milliseconds; the longest of the batch.
    pub(super) lag_ms: Option<i64>,
}

/// A row that states no time, or one in the future, says nothing about lag.
pub(super) fn lag(counts: &mut Counts, row: &Row, now: Timestamp) {
    let lag = now.as_millisecond().saturating_sub(row.created_at);
    if row.created_at > 0 && lag >= 0 {
        counts.lag_ms = counts.lag_ms.max(Some(lag));
    }
}

pub(super) fn done(counts: &Counts) {
    tracing::info!(
        records = counts.records,
        published = counts.published,
        quarantined = counts.quarantined,
        ignored = counts.not_inserts + counts.other_region,
        gone = counts.gone,
        failed = counts.failed,
        publish_lag_ms = counts.lag_ms,
        "relay done"
    );
}
