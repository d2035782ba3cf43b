//! Records that share transactions (opt-in): fewer, larger calls, while failures stay individual.

mod pack;
mod plan;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

#[cfg(feature = "test-util")]
use aws_sdk_dynamodb::types::TransactWriteItem;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::time::Instant;

use self::pack::{Committed, Member};
use self::plan::{Footprint, plan};
use super::discard;
use super::engine::Engine;
use super::lanes::{Entry, Times};
use super::settle::Settled;

/// Built records that wait for others are packed at the latest when there are so many.
const FULL: usize = 500;
/// How long a built record waits for others. A handler that takes longer holds nobody up.
const LINGER: Duration = Duration::from_millis(50);

/// What a handler's first run came to.
enum Step<'a, S> {
    Built(Box<Member<'a, S>>),
    Settled(usize, Settled),
}

/// A lane of which at most one record is under way, so that copies of one event and records of one FIFO group are never
/// in one transaction.
struct Lane<'a> {
    rest: VecDeque<&'a Entry<'a>>,
    current: &'a Entry<'a>,
    blocked: HashSet<&'a str>,
}

/// Everything under way.
struct Line<'a, S> {
    lanes: Vec<Lane<'a>>,
    /// Lanes whose current record can start.
    ready: VecDeque<usize>,
    handlers: FuturesUnordered<BoxFuture<'a, Step<'a, S>>>,
    built: Vec<Member<'a, S>>,
    /// Since when `built` waits.
    waiting_since: Option<Instant>,
    packs: VecDeque<Vec<Member<'a, S>>>,
    commits: FuturesUnordered<BoxFuture<'a, Committed<'a, S>>>,
    done: Vec<(usize, Settled)>,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Runs handlers side by side, and commits what they have built together: when no more comes, when enough has come,
    /// or after a short while.
    pub(super) async fn run_packed<'a>(
        &'a self,
        lanes: &'a [Vec<Entry<'a>>],
        times: Times<'a>,
    ) -> Vec<(usize, Settled)> {
        let mut line = Line::new(lanes);
        loop {
            self.start(&mut line, times);
            let linger = LINGER.min(times.until.left(self.parts.clock.now()) / 4);
            let packing_at = line.waiting_since.map(|since| since + linger);
            let waits = packing_at.is_some() && line.packs.is_empty();
            tokio::select! {
                biased;
                Some(Committed { settled, left }) = line.commits.next(), if !line.commits.is_empty() => {
                    line.packs.extend(left);
                    for (lane, settled) in settled {
                        line.settled(lane, settled);
                    }
                }
                Some(step) = line.handlers.next(), if !line.handlers.is_empty() => match step {
                    Step::Built(member) => {
                        line.waiting_since.get_or_insert_with(Instant::now);
                        line.built.push(*member);
                    }
                    Step::Settled(lane, settled) => line.settled(lane, settled),
                },
                () = tokio::time::sleep_until(packing_at.unwrap_or_else(Instant::now)), if waits => line.pack(),
                else => break,
            }
        }
        line.done
    }

    /// Fills the places that are free, for handlers and for commits.
    fn start<'a>(&'a self, line: &mut Line<'a, S>, times: Times<'a>) {
        while line.handlers.len() < self.parts.concurrency
            && line.built.len() < FULL
            && let Some(number) = line.ready.pop_front()
        {
            if let Some(lane) = line.lanes.get(number) {
                line.handlers.push(self.first(number, lane.current, times).boxed());
            }
        }
        if line.packs.is_empty() && (line.handlers.is_empty() || line.built.len() >= FULL) {
            line.pack();
        }
        while line.commits.len() < self.parts.concurrency
            && let Some(pack) = line.packs.pop_front()
        {
            line.commits.push(self.commit_pack(pack, times).boxed());
        }
    }

    /// The handler's first run.
    async fn first<'a>(&'a self, lane: usize, entry: &'a Entry<'a>, times: Times<'a>) -> Step<'a, S> {
        let started: Timestamp = self.parts.clock.now();
        if !times.pace.fits(&entry.body, times.until.left(started)) {
            return Step::Settled(lane, Settled::not_started());
        }
        let watch = self.watch(entry, times);
        let verdict = match self.admit_entry(entry, &watch, times) {
            Ok(admitted) => match self.run_first(&admitted).await {
                Ok(built) => return Step::Built(Box::new(Member { lane, entry, started, admitted, built })),
                Err(verdict) => {
                    discard(admitted);
                    verdict
                }
            },
            Err(verdict) => verdict,
        };
        Step::Settled(lane, self.conclude(entry, &watch, verdict, started, times).await)
    }
}

impl<'a, S> Line<'a, S> {
    fn new(lanes: &'a [Vec<Entry<'a>>]) -> Self {
        let lanes = lanes.iter().filter_map(|lane| {
            let mut rest: VecDeque<&Entry<'_>> = lane.iter().collect();
            Some(Lane { current: rest.pop_front()?, rest, blocked: HashSet::new() })
        });
        let lanes: Vec<Lane<'_>> = lanes.collect();
        Self {
            ready: (0..lanes.len()).collect(),
            lanes,
            handlers: FuturesUnordered::new(),
            built: Vec::new(),
            waiting_since: None,
            packs: VecDeque::new(),
            commits: FuturesUnordered::new(),
            done: Vec::new(),
        }
    }

    /// The lane's current record is settled; the next one that is not held back can start.
    fn settled(&mut self, number: usize, settled: Settled) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        if !settled.is_done() {
            lane.blocked.extend(lane.current.group());
        }
        self.done.push((lane.current.index, settled));
        while let Some(next) = lane.rest.pop_front() {
            if next.group().is_some_and(|group| lane.blocked.contains(group)) {
                self.done.push((next.index, Settled::held_back()));
            } else {
                lane.current = next;
                self.ready.push_back(number);
                break;
            }
        }
    }

    /// Sorts what is built into packs.
    fn pack(&mut self) {
        self.waiting_since = None;
        let built = std::mem::take(&mut self.built);
        let built = built.into_iter().map(|member| (Footprint::of(&member.built.items), member));
        self.packs.extend(plan(built));
    }
}

/// How many packs these records' transactions make.
#[cfg(feature = "test-util")]
pub(super) fn packs(transactions: &[Vec<TransactWriteItem>]) -> usize {
    plan(transactions.iter().map(|items| (Footprint::of(items), ()))).len()
}
