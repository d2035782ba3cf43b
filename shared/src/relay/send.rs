//! Sending rows to their destinations: full batches to standard ones, waves to FIFO ones.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{self, StreamExt};

use super::keeper::Keeper;
use super::progress::{Next, Progress, State};
use super::publish::{Outgoing, into_calls};
use super::seen::Seen;
use super::tally::Tally;
use super::{Destination, PublishError, Publisher};
use crate::outbox::deliverable;
use crate::retry::Backoff;
use crate::time::{Clock, Deadline};

/// Calls to destinations in flight at once.
const CONCURRENT_CALLS: usize = 8;
/// How often an entry is tried in one invocation.
const ATTEMPTS: u32 = 4;

/// Sends rows; shared by relay and sweeper.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub(super) publisher: Arc<dyn Publisher>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) backoff: Backoff,
    pub(super) seen: Seen,
    /// The id of a replay, which FIFO destinations must not take for the publication before.
    pub(super) again: Option<Arc<str>>,
}

/// One row at one destination: places in the list of rows and in its list of destinations.
type Place = (usize, usize);

impl Sender {
    /// One that remembers nothing yet.
    pub(super) fn new(publisher: Arc<dyn Publisher>, clock: Arc<dyn Clock>) -> Self {
        Self { publisher, clock, backoff: Backoff::default(), seen: Seen::default(), again: None }
    }

    /// Sends to all standard destinations, then to the FIFO ones. A row that those refuse for good is let go of by
    /// `keeper` before anything behind it goes out. Answers what the destinations said.
    pub(super) async fn send(&self, rows: &mut [Progress<'_>], keeper: &Keeper, deadline: Deadline) -> Tally {
        let mut tally = Tally::default();
        self.remember(rows);
        self.standard(rows, deadline, &mut tally).await;
        self.fifo(rows, keeper, deadline, &mut tally).await;
        tally
    }

    /// What this instance has had accepted before is not sent again.
    fn remember(&self, rows: &mut [Progress<'_>]) {
        for progress in rows {
            for (destination, state) in progress.destinations.iter().zip(&mut progress.states) {
                if self.seen.has(&progress.row.sk, destination) {
                    *state = State::Accepted;
                }
            }
        }
    }

    async fn standard(&self, rows: &mut [Progress<'_>], deadline: Deadline, tally: &mut Tally) {
        for attempt in 0..ATTEMPTS {
            let places: Vec<Place> = rows
                .iter()
                .enumerate()
                .flat_map(|(row, progress)| progress.owed(false).map(move |at| (row, at)).collect::<Vec<_>>())
                .collect();
            if places.is_empty() || !self.wait(attempt, deadline).await {
                return;
            }
            self.round(rows, places, tally).await;
        }
    }

    /// At most one unaccepted row of an aggregate is in flight; behind one that is not accepted, nothing of its
    /// aggregate goes out. Batches are filled across aggregates.
    async fn fifo(&self, rows: &mut [Progress<'_>], keeper: &Keeper, deadline: Deadline, tally: &mut Tally) {
        let mut lanes = fifo_lanes(rows);
        while !lanes.is_empty() {
            let least = lanes.iter().map(|lane| lane.attempts).min().unwrap_or_default();
            if !self.wait(least, deadline).await {
                return;
            }
            let places: Vec<Place> = lanes
                .iter()
                .filter_map(|lane| lane.rows.last())
                .filter_map(|row| Some((row, rows.get(*row)?)))
                .flat_map(|(row, progress)| progress.owed(true).map(|at| (*row, at)).collect::<Vec<_>>())
                .collect();
            self.round(rows, places, tally).await;
            let mut open = Vec::with_capacity(lanes.len());
            for mut lane in lanes {
                let Some(progress) = lane.rows.last().and_then(|row| rows.get_mut(*row)) else { continue };
                if progress.owed(true).next().is_some() {
                    lane.attempts += 1;
                    if lane.attempts < ATTEMPTS {
                        open.push(lane);
                    }
                    continue;
                }
                match progress.next() {
                    Next::Quarantine => {
                        if !keeper.quarantine_refused(progress, deadline).await {
                            continue;
                        }
                        progress.gone = true;
                    }
                    // A standard destination still owes an answer, so it comes again; it may be accepted here then.
                    Next::Again(_) if progress.is_refused_in_order() => continue,
                    Next::Again(_) | Next::Finish => {}
                }
                lane.attempts = 0;
                lane.rows.pop();
                if !lane.rows.is_empty() {
                    open.push(lane);
                }
            }
            lanes = open;
        }
    }

    /// One try at each place.
    async fn round(&self, rows: &mut [Progress<'_>], places: Vec<Place>, tally: &mut Tally) {
        let mut by_destination: HashMap<&Destination, Vec<(Place, Outgoing, usize)>> = HashMap::new();
        for place in places {
            let Some(progress) = rows.get(place.0) else { continue };
            let Some(destination) = progress.destinations.get(place.1) else { continue };
            let row = progress.row;
            by_destination.entry(destination).or_default().push((
                place,
                Outgoing::of(row, self.again.as_deref()),
                deliverable::message_bytes(row),
            ));
        }
        let mut calls = Vec::new();
        for (destination, entries) in by_destination {
            let sizes: Vec<usize> = entries.iter().map(|(_, _, bytes)| *bytes).collect();
            let mut entries = entries.into_iter();
            for range in into_calls(destination, &sizes) {
                let (places, entries): (Vec<_>, Vec<_>) =
                    entries.by_ref().take(range.len()).map(|(place, entry, _)| (place, entry)).unzip();
                tally.call(destination);
                calls.push((destination, places, entries));
            }
        }
        let results: Vec<_> = stream::iter(calls)
            .map(|(destination, places, entries)| async move {
                let results = self.publisher.publish(destination, &entries).await;
                (destination, places, entries, results)
            })
            .buffer_unordered(CONCURRENT_CALLS)
            .collect()
            .await;
        for (destination, places, entries, results) in results {
            let mut results = results.into_iter();
            for (place, entry) in places.into_iter().zip(entries) {
                let state = match results.next() {
                    Some(Ok(())) => {
                        self.seen.add(&entry.event_id, destination);
                        State::Accepted
                    }
                    Some(Err(PublishError::Refused(reason))) => State::Refused(reason),
                    Some(Err(PublishError::NotNow(reason))) => State::Owed(Some(reason)),
                    None => State::Owed(Some("the publisher gave no result".to_owned())),
                };
                tally.outcome(destination, &state);
                if let Some(slot) =
                    rows.get_mut(place.0).and_then(|progress| progress.states.get_mut(place.1))
                {
                    *slot = state;
                }
            }
        }
    }

    /// Waits before another attempt; false when there is no time for one.
    async fn wait(&self, attempt: u32, deadline: Deadline) -> bool {
        let left = deadline.left(self.clock.now());
        if attempt == 0 {
            return !left.is_zero();
        }
        let wait = self.backoff.delay(attempt);
        if wait >= left {
            return false;
        }
        tokio::time::sleep(wait).await;
        true
    }
}

/// Rows of one aggregate that have FIFO destinations.
struct Lane {
    /// Last one first, so that the head can be popped.
    rows: Vec<usize>,
    /// How often the head has been tried.
    attempts: u32,
}

/// DynamoDB may interleave the records of one transaction, so rows go by sequence where all of an aggregate have one.
fn fifo_lanes(rows: &[Progress<'_>]) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut by_aggregate: HashMap<&str, usize> = HashMap::new();
    for (place, progress) in rows.iter().enumerate() {
        if !progress.destinations.iter().any(Destination::is_fifo) {
            continue;
        }
        let lane = *by_aggregate.entry(&progress.row.pk).or_insert_with(|| {
            lanes.push(Lane { rows: Vec::new(), attempts: 0 });
            lanes.len() - 1
        });
        if let Some(lane) = lanes.get_mut(lane) {
            lane.rows.push(place);
        }
    }
    let sequence = |place: &usize| rows.get(*place).and_then(|progress| progress.row.sequence);
    for lane in &mut lanes {
        if lane.rows.iter().all(|place| sequence(place).is_some()) {
            lane.rows.sort_by_key(|place| sequence(place));
        }
        lane.rows.reverse();
    }
    lanes
}
