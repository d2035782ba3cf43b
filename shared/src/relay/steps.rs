//! Single steps of an invocation, for `tests/bench` to measure. No API: they change with the code that they lead to.

use super::progress::Progress;
use super::{Relay, stream};
use crate::outbox::Row;
use crate::time::Deadline;

/// The rows that a stream batch asks to publish; what is no batch has none.
#[must_use]
pub fn rows(event: &str) -> Vec<Row> {
    let records = stream::split(event).unwrap_or_default();
    records.into_iter().filter_map(|record| record.content.ok()?.ok()).collect()
}

/// Sends rows along the relay's routes, and answers how many calls that took.
pub async fn send(relay: &Relay, rows: &[Row], deadline: Deadline) -> usize {
    let routed =
        rows.iter().filter_map(|row| Some(Progress::new(row, relay.routes.of(&row.route, &row.event_type)?)));
    let mut routed: Vec<Progress<'_>> = routed.collect();
    relay.sender.send(&mut routed, &relay.keeper, deadline).await.calls()
}
