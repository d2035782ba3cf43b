//! Records that share transactions (opt-in): fewer, larger calls, while failures stay individual.

mod plan;

use std::collections::VecDeque;

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures::stream::{self, StreamExt};

use self::plan::{Footprint, plan};
use super::Verdict;
use super::engine::{Admitted, Built, Engine};
use super::lanes::{Entry, Times};
use super::settle::Settled;
use super::watch::Watch;
use crate::inbox;
use crate::retry;
use crate::store::{CancelCode, CancelReason, TransactError};
use crate::time::Deadline;

/// Records whose handlers run before anything of them is committed.
const WAVE: usize = 500;

/// A record that is ready to be committed: its place in the wave, and its transaction.
struct Member {
    place: usize,
    built: Built,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// All lanes in waves: a wave holds at most one record of a lane, so that copies of one event and records of one FIFO
    /// group are never in one transaction.
    pub(super) async fn run_packed(&self, lanes: Vec<Vec<Entry<'_>>>, times: Times) -> Vec<(usize, Settled)> {
        let mut lanes: VecDeque<VecDeque<Entry<'_>>> = lanes.into_iter().map(VecDeque::from).collect();
        let mut done = Vec::new();
        while !lanes.is_empty() && !times.until.left(self.parts.clock.now()).is_zero() {
            let mut rest = lanes.split_off(lanes.len().min(WAVE));
            let wave: Vec<Entry<'_>> = lanes.iter_mut().filter_map(VecDeque::pop_front).collect();
            let settled = self.run_wave(&wave, times).await;
            for ((lane, entry), settled) in lanes.into_iter().zip(&wave).zip(settled) {
                if entry.record.is_fifo() && !settled.is_done() {
                    done.extend(lane.into_iter().map(|entry| (entry.index, Settled::held_back())));
                } else if !lane.is_empty() {
                    rest.push_back(lane);
                }
                done.push((entry.index, settled));
            }
            lanes = rest;
        }
        done.extend(lanes.into_iter().flatten().map(|entry| (entry.index, Settled::not_started())));
        done
    }

    /// One result per entry, by position.
    async fn run_wave(&self, wave: &[Entry<'_>], times: Times) -> Vec<Settled> {
        let start =
            |entry: &Entry<'_>| Watch::start(&self.parts, entry.record, entry.body.as_ref().ok(), times.now);
        let watches: Vec<Watch> = wave.iter().map(start).collect();
        let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(wave.len());
        let mut admitted: Vec<Option<Admitted<'_, S>>> = Vec::with_capacity(wave.len());
        for (entry, watch) in wave.iter().zip(&watches) {
            let one = match &entry.body {
                Ok(envelope) => self.admit(entry.record, envelope, watch, times),
                Err(malformed) => Err(Verdict::Malformed(malformed.to_string())),
            };
            let (event, verdict) = match one {
                Ok(event) => (Some(event), None),
                Err(verdict) => (None, Some(verdict)),
            };
            admitted.push(event);
            verdicts.push(verdict);
        }
        let events = admitted.iter().enumerate().filter_map(|(place, event)| Some((place, event.as_ref()?)));
        let mut running = stream::iter(events)
            .map(|(place, event)| async move {
                // A handler that ran long leaves no time for those behind it.
                if times.until.left(self.parts.clock.now()).is_zero() {
                    return (place, Err(Verdict::NotStarted));
                }
                (place, self.run_first(event).await)
            })
            .buffered(self.parts.concurrency);
        let mut members = Vec::new();
        while let Some((place, outcome)) = running.next().await {
            match outcome {
                Ok(built) => members.push(Member { place, built }),
                Err(verdict) => set(&mut verdicts, place, verdict),
            }
        }
        drop(running);
        let packs = plan(members.into_iter().map(|member| (Footprint::of(&member.built.items), member)));
        let mut committing = stream::iter(packs)
            .map(|pack| self.commit_pack(pack, &admitted, times.until))
            .buffer_unordered(self.parts.concurrency);
        while let Some(committed) = committing.next().await {
            for (place, verdict) in committed {
                set(&mut verdicts, place, verdict);
            }
        }
        drop(committing);
        let concluding =
            wave.iter().zip(&watches).zip(verdicts).map(|((entry, watch), verdict)| async move {
                match verdict {
                    Some(Verdict::NotStarted) | None => Settled::not_started(),
                    Some(verdict) => {
                        self.conclude(entry.record, entry.body.as_ref().ok(), watch, verdict, times).await
                    }
                }
            });
        stream::iter(concluding).buffered(self.parts.concurrency).collect().await
    }

    /// One transaction for all members. When it is cancelled: duplicates are dropped, whoever stopped it is committed by
    /// itself, and the clean ones go together once more.
    async fn commit_pack(
        &self,
        mut pack: Vec<Member>,
        events: &[Option<Admitted<'_, S>>],
        until: Deadline,
    ) -> Vec<(usize, Verdict)> {
        let mut done = Vec::new();
        let mut alone = Vec::new();
        while pack.len() > 1 {
            let sent = {
                let event = |member: &Member| events.get(member.place).and_then(Option::as_ref);
                let _timings: Vec<_> =
                    pack.iter().filter_map(event).map(|event| event.watch.time_commit()).collect();
                self.send_pack(&pack, until).await
            };
            match sent {
                Ok(()) => {
                    crate::fault::point("consumer-after-commit");
                    done.extend(pack.drain(..).map(|member| (member.place, Verdict::Applied)));
                }
                Err(TransactError::Cancelled(reasons)) => {
                    let (clean, duplicates, guilty) = sort(std::mem::take(&mut pack), &reasons);
                    done.extend(duplicates.into_iter().map(|member| (member.place, Verdict::Duplicate)));
                    alone.extend(guilty);
                    pack = clean;
                }
                // Refused as a whole, or not known: each record finds out by itself. Where the pack had been applied, its
                // inbox keys say so.
                Err(_) => alone.append(&mut pack),
            }
        }
        alone.append(&mut pack);
        let singles = alone.into_iter().filter_map(|Member { place, built }| {
            let event = events.get(place).and_then(Option::as_ref)?;
            Some(async move { (place, self.run_built(event, built).await) })
        });
        done.extend(stream::iter(singles).buffer_unordered(self.parts.concurrency).collect::<Vec<_>>().await);
        done
    }

    /// Leaves half of the time for committing the records singly.
    async fn send_pack(&self, pack: &[Member], until: Deadline) -> Result<(), TransactError> {
        let now = self.parts.clock.now();
        let items: Vec<TransactWriteItem> =
            pack.iter().flat_map(|member| member.built.items.clone()).collect();
        let token = self.parts.ids.fresh(now).to_string();
        let deadline = Deadline::after(now, until.left(now) / 2);
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        retry::transact(store, clock, self.parts.backoff, deadline, &token, &items, |_| false).await
    }
}

fn set(verdicts: &mut [Option<Verdict>], place: usize, verdict: Verdict) {
    if let Some(slot) = verdicts.get_mut(place) {
        *slot = Some(verdict);
    }
}

/// Clean members, duplicates, and those that have to be committed singly. At least one leaves the clean ones, so that
/// the pack gets smaller each time.
fn sort(pack: Vec<Member>, reasons: &[CancelReason]) -> (Vec<Member>, Vec<Member>, Vec<Member>) {
    let (mut clean, mut duplicates, mut guilty) = (Vec::new(), Vec::new(), Vec::new());
    let expected: usize = pack.iter().map(|member| member.built.items.len()).sum();
    if reasons.len() != expected || reasons.iter().all(|reason| reason.code == CancelCode::None) {
        return (clean, duplicates, pack);
    }
    let mut rest = reasons;
    for member in pack {
        let (own, after) = rest.split_at(member.built.items.len().min(rest.len()));
        rest = after;
        let hash = member.built.key.body_hash().as_str();
        if own.iter().all(|reason| reason.code == CancelCode::None) {
            clean.push(member);
        } else if inbox::Verdict::of_reasons(own, 0, hash) == inbox::Verdict::Duplicate {
            duplicates.push(member);
        } else {
            guilty.push(member);
        }
    }
    (clean, duplicates, guilty)
}
