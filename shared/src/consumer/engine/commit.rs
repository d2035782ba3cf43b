//! The transaction of inbox key, effects and outbox rows.

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::{Engine, Event, Tried, id_reused, permanent};
use crate::consumer::Verdict;
use crate::effect::{Effects, OnFailed};
use crate::event::{Cause, EventId};
use crate::inbox::{self, InboxKey};
use crate::outbox::limits;
use crate::retry;
use crate::store::TransactError;
use crate::telemetry::chain;
use crate::time::Deadline;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Inbox key, effects and outbox rows, in this order, in one transaction.
    pub(super) async fn commit(&self, effects: Effects, event: &Event<'_>) -> Tried {
        let Some(key) = self.inbox_key(event) else {
            return permanent("the consumer has no inbox table");
        };
        let Effects { actions, emits, misuse } = effects;
        if let Some(misuse) = misuse {
            return permanent(misuse);
        }
        let (business, meanings): (Vec<_>, Vec<_>) = actions.into_iter().unzip();
        let events = emits.len();
        let mut items: Vec<TransactWriteItem> = Vec::with_capacity(1 + business.len() + events);
        match key.action() {
            Ok(action) => items.push(action),
            Err(error) => return permanent(&error.to_string()),
        }
        items.extend(business);
        let cause = Cause {
            traceparent: event.envelope.cause.traceparent.clone(),
            correlation_id: event.envelope.cause.correlation_id.clone(),
            causation_id: Some(event.envelope.id.clone()),
        };
        for emit in emits {
            let Some(outbox) = &self.settings.outbox else {
                return permanent("the handler emits an event, but the consumer was built without an outbox");
            };
            let id = EventId::new(self.settings.ids.fresh(event.now));
            match outbox.row_action(emit.inherit(&cause), id, event.now) {
                Ok(action) => items.push(action),
                Err(error) => return permanent(&chain(&error)),
            }
        }
        if let Err(limit) = limits::check(&items, events, true) {
            return permanent(&limit.to_string());
        }
        #[cfg(feature = "fault-injection")]
        {
            self.settings.sabotage.before_commit(event.receipt).await;
            if self.settings.sabotage.no_inbox {
                items.remove(0);
            }
        }
        match self.send(&items, &key, event.deadline).await {
            Ok(()) => {
                crate::fault::point("consumer-after-commit");
                Tried::Verdict(Verdict::Applied)
            }
            Err(error) => explain(&error, &key, &meanings),
        }
    }

    async fn send(
        &self,
        items: &[TransactWriteItem],
        key: &InboxKey,
        deadline: Deadline,
    ) -> Result<(), TransactError> {
        let token = self.settings.ids.fresh(self.settings.clock.now()).to_string();
        let hash = key.body_hash().as_str();
        let busy = |reasons: &[_]| inbox::Verdict::of_reasons(reasons, 0, hash) == inbox::Verdict::Busy;
        let (store, clock) = (self.settings.store.as_ref(), self.settings.clock.as_ref());
        retry::transact(store, clock, self.settings.backoff, deadline, &token, items, busy).await
    }
}

/// `meanings` are those of the business actions, which stand at positions 1 to their number; outbox rows follow.
fn explain(error: &TransactError, key: &InboxKey, meanings: &[OnFailed]) -> Tried {
    match key.verdict(error, 0) {
        inbox::Verdict::Duplicate => Tried::Verdict(Verdict::Duplicate),
        inbox::Verdict::IdReused => Tried::Verdict(id_reused()),
        inbox::Verdict::ConditionFailed(positions) => {
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
