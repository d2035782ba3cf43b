//! Which records run side by side, and which after one another.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use tracing::Instrument;

use super::engine::Engine;
use super::record::Record;
use super::settle::Settled;
use super::watch::Watch;
use super::{Verdict, decode, report};
use crate::event::{Envelope, Malformed};
use crate::time::Deadline;

/// One record with its decoded body.
pub(super) struct Entry<'a> {
    pub(super) index: usize,
    pub(super) record: &'a Record<'a>,
    pub(super) body: Result<Envelope, Malformed>,
}

/// The times that bound an invocation.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// When it began.
    pub(super) now: Timestamp,
    /// Until when records are worked on.
    pub(super) until: Deadline,
    /// Until when quarantine rows may be written: half of the margin is theirs.
    pub(super) settle_until: Deadline,
}

impl<'a> Entry<'a> {
    pub(super) fn new(index: usize, record: &'a Record<'a>) -> Self {
        Self { index, record, body: record.body.as_deref().ok_or(Malformed::NoBody).and_then(decode) }
    }

    /// Records that must not run side by side share a key: one FIFO group, or copies of one event.
    fn lane(&self) -> Option<(bool, String)> {
        if self.record.is_fifo() {
            return Some((true, self.record.group.as_deref().unwrap_or_default().to_owned()));
        }
        self.body.as_ref().ok().map(|envelope| (false, envelope.key().as_str().to_owned()))
    }
}

/// Sorts records into lanes, which keep the order of the batch.
pub(super) fn into_lanes<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Vec<Vec<Entry<'a>>> {
    let mut lanes: Vec<Vec<Entry<'a>>> = Vec::new();
    let mut by_key: HashMap<(bool, String), usize> = HashMap::new();
    for entry in entries {
        let lane = entry.lane().and_then(|key| match by_key.get(&key) {
            Some(lane) => Some(*lane),
            None => {
                by_key.insert(key, lanes.len());
                None
            }
        });
        match lane.and_then(|lane| lanes.get_mut(lane)) {
            Some(lane) => lane.push(entry),
            None => lanes.push(vec![entry]),
        }
    }
    lanes
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// One lane in order. In a FIFO lane, nothing is started behind a record that has to come again.
    pub(super) async fn run_lane(&self, lane: Vec<Entry<'_>>, times: Times) -> Vec<(usize, Settled)> {
        let clock = &self.parts.clock;
        let mut blocked = false;
        let mut longest = Duration::ZERO;
        let mut done = Vec::with_capacity(lane.len());
        for Entry { index, record, body } in lane {
            let started = clock.now();
            let left = times.until.left(started);
            let settled = if blocked {
                Settled::held_back()
            } else if left.is_zero() || left < longest {
                Settled::not_started()
            } else {
                let watch = Watch::start(&self.parts, record, body.as_ref().ok(), times.now);
                let verdict = match &body {
                    Ok(envelope) => match self.admit(record, envelope, &watch, times) {
                        Ok(admitted) => self.run(&admitted).await,
                        Err(verdict) => verdict,
                    },
                    Err(malformed) => Verdict::Malformed(malformed.to_string()),
                };
                self.conclude(record, body.as_ref().ok(), &watch, verdict, times).await
            };
            longest =
                longest.max(Duration::try_from(clock.now().duration_since(started)).unwrap_or_default());
            blocked |= record.is_fifo() && !settled.is_done();
            done.push((index, settled));
        }
        done
    }

    /// Settles a started record and logs what became of it.
    pub(super) async fn conclude(
        &self,
        record: &Record<'_>,
        envelope: Option<&Envelope>,
        watch: &Watch,
        verdict: Verdict,
        times: Times,
    ) -> Settled {
        let sample = Some(watch.sample(self.parts.clock.now()));
        let settling = self.settle(record, envelope, verdict, times.settle_until);
        let settled = Settled { sample, ..settling.instrument(watch.span.clone()).await };
        report::record(watch, &settled);
        settled
    }
}
