//! One pack from its transaction to a verdict for each member.

use std::sync::Arc;

use aws_sdk_dynamodb::types::TransactWriteItem;
use jiff::Timestamp;

use crate::consumer::engine::{Admitted, Built, Engine};
use crate::consumer::lanes::{Entry, Times};
use crate::consumer::settle::Settled;
use crate::consumer::watch::Watch;
use crate::consumer::{Verdict, discard};
use crate::inbox;
use crate::retry;
use crate::store::{CancelCode, CancelReason, TransactError};
use crate::time::Deadline;

/// A record that is ready to be committed.
pub(super) struct Member<'a, S> {
    pub(super) lane: usize,
    pub(super) entry: &'a Entry<'a>,
    pub(super) started: Timestamp,
    pub(super) admitted: Admitted<'a, S>,
    pub(super) built: Built,
}

/// What one call made of a pack.
pub(super) struct Committed<'a, S> {
    /// By lane.
    pub(super) settled: Vec<(usize, Settled)>,
    /// What is still to be committed: packs of one for those that have to find out by themselves.
    pub(super) left: Vec<Vec<Member<'a, S>>>,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// One transaction for all members. When it is cancelled: duplicates are dropped, whoever stopped it is committed by
    /// itself, and the clean ones go together once more.
    pub(super) async fn commit_pack<'a>(
        &'a self,
        mut pack: Vec<Member<'a, S>>,
        times: Times<'a>,
    ) -> Committed<'a, S> {
        let mut settled = Vec::new();
        let mut left = Vec::new();
        if pack.len() == 1
            && let Some(member) = pack.pop()
        {
            let Member { lane, entry, started, admitted, built } = member;
            let verdict = self.run_built(&admitted, built).await;
            settled.push((lane, self.conclude(entry, &admitted.watch, verdict, started, times).await));
            discard(admitted);
            return Committed { settled, left };
        }
        let (done, verdict) = match self.send_pack(&mut pack, times.until).await {
            Some(Ok(())) => {
                crate::fault::point("consumer-after-commit");
                (pack, Verdict::Applied)
            }
            Some(Err(TransactError::Cancelled(reasons))) => {
                let (clean, duplicates, guilty) = sort(pack, &reasons);
                left.extend(guilty.into_iter().map(|member| vec![member]));
                if !clean.is_empty() {
                    left.push(clean);
                }
                (duplicates, Verdict::Duplicate)
            }
            // Refused as a whole, or not known: each record finds out by itself. Where the pack had been applied, its
            // inbox keys say so.
            Some(Err(_)) | None => {
                left.extend(pack.into_iter().map(|member| vec![member]));
                (Vec::new(), Verdict::Duplicate)
            }
        };
        for Member { lane, entry, started, admitted, .. } in done {
            settled
                .push((lane, self.conclude(entry, &admitted.watch, verdict.clone(), started, times).await));
            discard(admitted);
        }
        Committed { settled, left }
    }

    /// Leaves half of the time for committing the records singly. `None` when no answer came in the other half.
    async fn send_pack(
        &self,
        pack: &mut [Member<'_, S>],
        until: Deadline,
    ) -> Option<Result<(), TransactError>> {
        let now = self.parts.clock.now();
        let half = until.left(now) / 2;
        if half.is_zero() {
            return None;
        }
        let watches: Vec<Arc<Watch>> = pack.iter().map(|member| Arc::clone(&member.admitted.watch)).collect();
        let _timings: Vec<_> = watches.iter().map(|watch| watch.time_commit()).collect();
        let token = self.parts.ids.fresh(now).to_string();
        let deadline = Deadline::after(now, half);
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        // Lent, not copied: each attempt makes a copy of its own.
        let numbers: Vec<usize> = pack.iter().map(|member| member.built.items.len()).collect();
        let items: Vec<TransactWriteItem> =
            pack.iter_mut().flat_map(|member| std::mem::take(&mut member.built.items)).collect();
        let sending = retry::transact(store, clock, self.parts.backoff, deadline, &token, &items, |_| false);
        let sent = tokio::time::timeout(half, sending).await.ok();
        let mut items = items.into_iter();
        for (member, number) in pack.iter_mut().zip(numbers) {
            member.built.items.extend(items.by_ref().take(number));
        }
        sent
    }
}

/// Clean members, duplicates, and those that have to be committed singly.
type Sorted<'a, S> = (Vec<Member<'a, S>>, Vec<Member<'a, S>>, Vec<Member<'a, S>>);

/// At least one member leaves the clean ones, so that a pack gets smaller each time.
fn sort<'a, S>(pack: Vec<Member<'a, S>>, reasons: &[CancelReason]) -> Sorted<'a, S> {
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
        // Without the item, it is not known which event the key is there for.
        let known = own.first().is_some_and(|inbox| inbox.item.is_some());
        if own.iter().all(|reason| reason.code == CancelCode::None) {
            clean.push(member);
        } else if known && inbox::Verdict::of_reasons(own, 0, hash) == inbox::Verdict::Duplicate {
            duplicates.push(member);
        } else {
            guilty.push(member);
        }
    }
    (clean, duplicates, guilty)
}
