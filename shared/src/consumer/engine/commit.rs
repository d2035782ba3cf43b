//! The transaction of inbox key, effects and outbox rows.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::{Admitted, Engine, Tried, id_reused, permanent, taken_over};
use crate::consumer::Verdict;
use crate::effect::{Effects, OnFailed};
use crate::event::{Cause, EventId};
use crate::inbox::{self, InboxKey};
use crate::outbox::limits;
use crate::retry;
use crate::store::{CancelCode, TransactError};
use crate::telemetry::chain;
use crate::time::Deadline;

/// A record's whole transaction, ready to be sent: by itself, or with others.
#[derive(Debug)]
pub(in crate::consumer) struct Built {
    /// Inbox key, effects and outbox rows, in this order.
    pub(in crate::consumer) items: Vec<TransactWriteItem>,
    pub(in crate::consumer) key: InboxKey,
    /// What a false condition means, for the effects, which stand at positions 1 to their number.
    meanings: Vec<OnFailed>,
    /// Where the end of a remote call stands: at the last position.
    ending: Option<usize>,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Puts the transaction together; what cannot be committed is found here, before any call. `ending` is the end of a
    /// remote call.
    pub(super) fn build(
        &self,
        effects: Effects,
        event: &Admitted<'_, S>,
        ending: Option<TransactWriteItem>,
    ) -> Result<Built, Verdict> {
        let impossible = |reason: &str| Verdict::Permanent(reason.to_owned());
        let key = self
            .inbox_key(event.envelope, event.now)
            .ok_or_else(|| impossible("the consumer has no inbox table"))?;
        let Effects { actions, emits, misuse } = effects;
        if let Some(misuse) = misuse {
            return Err(impossible(misuse));
        }
        let (business, meanings): (Vec<_>, Vec<_>) = actions.into_iter().unzip();
        let events = emits.len();
        let mut items: Vec<TransactWriteItem> = Vec::with_capacity(1 + business.len() + events);
        items.push(key.action().map_err(|error| impossible(&error.to_string()))?);
        items.extend(business);
        for emit in emits {
            let cause = Cause {
                traceparent: Some(event.watch.trace.to_string()),
                correlation_id: event.envelope.cause.correlation_id.clone(),
                causation_id: Some(event.envelope.id.clone()),
            };
            let outbox = self.parts.outbox.as_ref().ok_or_else(|| {
                impossible("the handler emits an event, but the consumer was built without an outbox")
            })?;
            let id = EventId::new(self.parts.ids.fresh(event.now));
            let action = outbox.row_action(emit.inherit(&cause), id, event.now);
            items.push(action.map_err(|error| impossible(&chain(&error)))?);
        }
        let ending = ending.map(|delete| {
            items.push(delete);
            items.len() - 1
        });
        limits::check(&items, events, true).map_err(|limit| impossible(&limit.to_string()))?;
        Ok(Built { items, key, meanings, ending })
    }

    /// Sends one record's transaction.
    pub(super) async fn commit(&self, built: Built, event: &Admitted<'_, S>) -> Tried {
        #[cfg(feature = "fault-injection")]
        let built = self.sabotaged(built, event).await;
        let _timing = event.watch.time_commit();
        match self.send(&built.items, &built.key, event.deadline).await {
            Ok(()) => {
                crate::fault::point("consumer-after-commit");
                Tried::Verdict(Verdict::Applied)
            }
            Err(error) if is_unproven(&error) => self.same_event(event).await,
            Err(error) => explain(&error, &built),
        }
    }

    /// The inbox key is there, but the answer did not say for which event.
    async fn same_event(&self, event: &Admitted<'_, S>) -> Tried {
        Tried::Verdict(match self.look(event.envelope, event.now).await {
            Ok(known) => known.unwrap_or(Verdict::Duplicate),
            Err(error) => Verdict::Transient(chain(&error)),
        })
    }

    async fn send(
        &self,
        items: &[TransactWriteItem],
        key: &InboxKey,
        deadline: Deadline,
    ) -> Result<(), TransactError> {
        let token = self.parts.ids.fresh(self.parts.clock.now()).to_string();
        let hash = key.body_hash().as_str();
        let busy = |reasons: &[_]| inbox::Verdict::of_reasons(reasons, 0, hash) == inbox::Verdict::Busy;
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        retry::transact(store, clock, self.parts.backoff, deadline, &token, items, busy).await
    }

    #[cfg(feature = "fault-injection")]
    async fn sabotaged(&self, mut built: Built, event: &Admitted<'_, S>) -> Built {
        self.parts.sabotage.before_commit(event.receipt).await;
        // The put stays, without its condition: the reasons of a cancelled transaction are read by position.
        if self.parts.sabotage.no_inbox
            && let Some(put) = built.items.first_mut().and_then(|inbox| inbox.put.as_mut())
        {
            put.condition_expression = None;
        }
        built
    }
}

/// DynamoDB sends the item that it was asked for; not every emulator does.
pub(super) fn is_unproven(error: &TransactError) -> bool {
    let TransactError::Cancelled(reasons) = error else { return false };
    let inbox = reasons.first().filter(|inbox| inbox.code == CancelCode::ConditionalCheckFailed);
    inbox.is_some_and(|inbox| inbox.item.is_none())
}

/// Business actions stand at positions 1 to the number of their meanings; outbox rows follow.
fn explain(error: &TransactError, Built { key, meanings, ending, .. }: &Built) -> Tried {
    match key.verdict(error, 0) {
        inbox::Verdict::Duplicate => Tried::Verdict(Verdict::Duplicate),
        inbox::Verdict::IdReused => Tried::Verdict(id_reused()),
        inbox::Verdict::ConditionFailed(positions) => {
            if ending.is_some_and(|ending| positions.contains(&ending)) {
                return Tried::Verdict(taken_over());
            }
            let failed = positions.iter().map(|position| meanings.get(position.wrapping_sub(1)));
            let mut rerun = None;
            for meaning in failed {
                match meaning {
                    None => return permanent("the id of an emitted event is already in the outbox"),
                    Some(OnFailed::Permanent(reason)) => return permanent(reason),
                    Some(OnFailed::Stale) => rerun = rerun.or(Some(Tried::Verdict(Verdict::Stale))),
                    Some(OnFailed::Rerun) => rerun = Some(Tried::Rerun),
                }
            }
            rerun.unwrap_or(Tried::Rerun)
        }
        inbox::Verdict::Invalid(positions) => permanent(&format!(
            "DynamoDB calls the actions at positions {positions:?} invalid (0 is the inbox key)"
        )),
        inbox::Verdict::Refused => permanent(&chain(error)),
        inbox::Verdict::Busy | inbox::Verdict::Unknown => Tried::Verdict(Verdict::Transient(chain(error))),
    }
}
