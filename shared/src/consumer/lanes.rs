//! Which records run side by side, and which after one another.

use std::collections::hash_map;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tracing::Instrument;

use super::engine::{Admitted, Engine};
use super::pace::Pace;
use super::record::Record;
use super::settle::Settled;
use super::watch::Watch;
use super::{Verdict, decode, discard, report};
use crate::event::{Envelope, Malformed};
use crate::time::Deadline;

/// One record with its decoded body.
pub(super) struct Entry<'a> {
    pub(super) index: usize,
    pub(super) record: &'a Record<'a>,
    pub(super) body: Result<Arc<Envelope>, Malformed>,
}

/// The times that bound an invocation.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    /// When it began.
    pub(super) now: Timestamp,
    /// Until when records are worked on.
    pub(super) until: Deadline,
    /// Until when quarantine rows may be written: half of the margin is theirs.
    pub(super) settle_until: Deadline,
    pub(super) pace: &'a Pace,
}

/// Two records that share one must not run side by side.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Group(&'a str),
    Event(String),
}

impl<'a> Entry<'a> {
    pub(super) fn new(index: usize, record: &'a Record<'a>) -> Self {
        Self {
            index,
            record,
            body: record.body.as_deref().ok_or(Malformed::NoBody).and_then(decode).map(Arc::new),
        }
    }

    pub(super) fn group(&self) -> Option<&'a str> {
        self.record.fifo_group()
    }

    fn keys(&self) -> impl Iterator<Item = Key<'a>> {
        let event = self.body.as_ref().ok().map(|envelope| Key::Event(envelope.key().as_str().to_owned()));
        self.group().map(Key::Group).into_iter().chain(event)
    }
}

/// Sorts records into lanes, which keep the order of the batch: a FIFO group is one, copies of an event are one, and
/// groups that share an event are one.
pub(super) fn into_lanes<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Vec<Vec<Entry<'a>>> {
    let entries: Vec<Entry<'a>> = entries.collect();
    let mut joined = Joined::new(entries.len());
    let mut first_by_key: HashMap<Key<'a>, usize> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        for key in entry.keys() {
            match first_by_key.entry(key) {
                hash_map::Entry::Occupied(first) => joined.join(*first.get(), place),
                hash_map::Entry::Vacant(free) => drop(free.insert(place)),
            }
        }
    }
    let mut lanes: Vec<Vec<Entry<'a>>> = Vec::new();
    let mut lane_by_head: HashMap<usize, usize> = HashMap::new();
    for (place, entry) in entries.into_iter().enumerate() {
        let lane = *lane_by_head.entry(joined.head(place)).or_insert(lanes.len());
        match lanes.get_mut(lane) {
            Some(lane) => lane.push(entry),
            None => lanes.push(vec![entry]),
        }
    }
    lanes
}

/// Places that belong together; each set is known by its lowest place.
struct Joined {
    before: Vec<usize>,
}

impl Joined {
    fn new(places: usize) -> Self {
        Self { before: (0..places).collect() }
    }

    fn head(&mut self, place: usize) -> usize {
        let mut head = place;
        while let Some(before) = self.before.get(head).copied().filter(|before| *before != head) {
            head = before;
        }
        // The way is short the next time.
        if let Some(before) = self.before.get_mut(place) {
            *before = head;
        }
        head
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.head(one), self.head(other));
        if let Some(before) = self.before.get_mut(one.max(other)) {
            *before = one.min(other);
        }
    }
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// One lane in order. In a FIFO group, nothing is started behind a record that has to come again.
    pub(super) async fn run_lane(&self, lane: Vec<Entry<'_>>, times: Times<'_>) -> Vec<(usize, Settled)> {
        let mut blocked = HashSet::new();
        let mut done = Vec::with_capacity(lane.len());
        for entry in lane {
            let settled = match entry.group() {
                Some(group) if blocked.contains(group) => Settled::held_back(),
                _ => self.run_entry(&entry, times).await,
            };
            if !settled.is_done() {
                blocked.extend(entry.group());
            }
            done.push((entry.index, settled));
        }
        done
    }

    async fn run_entry(&self, entry: &Entry<'_>, times: Times<'_>) -> Settled {
        let started = self.parts.clock.now();
        if !times.pace.fits(&entry.body, times.until.left(started)) {
            return Settled::not_started();
        }
        let watch = self.watch(entry, times);
        let verdict = match self.admit_entry(entry, &watch, times) {
            Ok(admitted) => {
                let verdict = self.run(&admitted).await;
                discard(admitted);
                verdict
            }
            Err(verdict) => verdict,
        };
        self.conclude(entry, &watch, verdict, started, times).await
    }

    pub(super) fn watch(&self, entry: &Entry<'_>, times: Times<'_>) -> Arc<Watch> {
        Arc::new(Watch::start(&self.parts, entry.record, entry.body.as_deref().ok(), times.now))
    }

    pub(super) fn admit_entry<'a>(
        &'a self,
        entry: &'a Entry<'_>,
        watch: &Arc<Watch>,
        times: Times<'_>,
    ) -> Result<Admitted<'a, S>, Verdict> {
        match &entry.body {
            Ok(envelope) => self.admit(entry.record, envelope, watch, times),
            Err(malformed) => Err(Verdict::Malformed(malformed.to_string())),
        }
    }

    /// Settles a started record, notes how long it took, and logs what became of it.
    pub(super) async fn conclude(
        &self,
        entry: &Entry<'_>,
        watch: &Watch,
        verdict: Verdict,
        started: Timestamp,
        times: Times<'_>,
    ) -> Settled {
        let sample = Some(watch.sample(self.parts.clock.now()));
        let settling = self.settle(entry.record, entry.body.as_deref().ok(), verdict, times.settle_until);
        let settled = settling.instrument(watch.span.clone()).await;
        let settled = Settled { sample, wait: watch.wait(self.parts.clock.now()), ..settled };
        let time = self.parts.clock.now().duration_since(started);
        times.pace.took(&entry.body, Duration::try_from(time).unwrap_or_default());
        report::record(watch, &settled);
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_joined_have_one_head() {
        let mut joined = Joined::new(6);
        joined.join(1, 4);
        joined.join(3, 5);
        joined.join(5, 4);
        let heads: Vec<usize> = (0..6).map(|place| joined.head(place)).collect();
        assert_eq!(heads, [0, 1, 2, 1, 1, 1]);
    }
}
