use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures::FutureExt;
use jiff::Timestamp;

use super::dispatch::{Prepared, Routes};
use super::{HandlerError, Record, Verdict};
use crate::effect::{Effects, OnFailed, Reads, Settled, Upsert, Work};
use crate::event::{Cause, Envelope, EventId};
use crate::inbox::{self, InboxKey};
use crate::outbox::{Outbox, limits};
use crate::retry::{self, Backoff};
use crate::store::{Store, TransactError, WriteError};
use crate::telemetry::chain;
use crate::time::{Clock, Deadline, Ids};

/// What a consumer was built with, except its handlers and their state.
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) store: Arc<dyn Store>,
    pub(super) inbox: Option<String>,
    pub(super) outbox: Option<Outbox>,
    pub(super) window: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) backoff: Backoff,
    pub(super) concurrency: usize,
    pub(super) margin: Duration,
    pub(super) reruns: u32,
    #[cfg(feature = "fault-injection")]
    pub(super) sabotage: crate::fault::Sabotage,
}

pub(super) struct Engine<S> {
    pub(super) settings: Settings,
    pub(super) routes: Routes<S>,
    pub(super) state: S,
}

/// An event on its way through the engine.
struct Event<'a> {
    envelope: &'a Envelope,
    now: Timestamp,
    deadline: Deadline,
    attempt: u32,
    #[cfg(feature = "fault-injection")]
    receipt: Option<&'a str>,
}

/// What one try at a commit says: a verdict, or that the handler has to look again.
enum Tried {
    Verdict(Verdict),
    Rerun,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Handles one record whose envelope has been read. A panic of the handler is a transient failure of this record.
    pub(super) async fn handle(
        &self,
        record: &Record<'_>,
        envelope: Envelope,
        now: Timestamp,
        deadline: Deadline,
    ) -> Verdict {
        let Some(route) = self.routes.get(envelope.event_type.as_str()) else { return Verdict::Unhandled };
        let event = Event {
            envelope: &envelope,
            now,
            deadline,
            attempt: record.receive_count,
            #[cfg(feature = "fault-injection")]
            receipt: record.receipt_handle.as_deref(),
        };
        let prepared = match route.prepare(envelope.clone(), now, event.attempt) {
            Ok(prepared) => prepared,
            Err(malformed) => return Verdict::Malformed(malformed.to_string()),
        };
        let left = deadline.left(self.settings.clock.now());
        let run = AssertUnwindSafe(self.run(prepared.as_ref(), &event)).catch_unwind();
        match tokio::time::timeout(left, run).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_panic)) => Verdict::Transient("the handler panicked".to_owned()),
            Err(_elapsed) => {
                Verdict::Transient("the invocation's deadline came before the commit".to_owned())
            }
        }
    }

    async fn run(&self, prepared: &dyn Prepared<S>, event: &Event<'_>) -> Verdict {
        if event.attempt > 1
            && let Some(verdict) = self.look_first(event).await
        {
            return verdict;
        }
        for _ in 0..self.settings.reruns {
            crate::fault::panic_point("handler-panic");
            let reads = Reads::new(Arc::clone(&self.settings.store));
            let work = match prepared.run(reads, self.state.clone()).await {
                Ok(work) => work,
                Err(error) => return of_handler(&error),
            };
            let tried = match work {
                Work::Transaction(effects) => self.commit(effects, event).await,
                Work::Upsert(upsert) => self.upsert(upsert, event).await,
            };
            match tried {
                Tried::Verdict(verdict) => return verdict,
                Tried::Rerun => {}
            }
        }
        Verdict::Transient(format!(
            "the effect's condition was false {} times in a row",
            self.settings.reruns
        ))
    }

    /// A redelivered event is often a duplicate: one read is cheaper than a handler run and a cancelled transaction.
    /// It only saves work; the condition in the transaction is what decides.
    async fn look_first(&self, event: &Event<'_>) -> Option<Verdict> {
        #[cfg(feature = "fault-injection")]
        if self.settings.sabotage.no_inbox {
            return None;
        }
        let key = self.inbox_key(event)?;
        let found = self.settings.store.get(key.table(), key.key()).await.ok()??;
        match found.get(inbox::names::BODY_HASH).and_then(|hash| hash.as_s().ok()) {
            Some(hash) if hash != key.body_hash().as_str() => Some(id_reused()),
            _ => Some(Verdict::Duplicate),
        }
    }

    fn inbox_key(&self, event: &Event<'_>) -> Option<InboxKey> {
        let table = self.settings.inbox.as_ref()?;
        Some(InboxKey::new(table, &self.settings.name, event.envelope, event.now, self.settings.window))
    }

    /// Inbox key, effects and outbox rows, in this order, in one transaction.
    async fn commit(&self, effects: Effects, event: &Event<'_>) -> Tried {
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

    /// One conditional write. Sending it again is harmless: the stored event id tells our own write apart.
    async fn upsert(&self, upsert: Upsert, event: &Event<'_>) -> Tried {
        let key = event.envelope.key();
        let mut attempt = 0_u32;
        loop {
            let update = match upsert.update(&key) {
                Ok(update) => update,
                Err(error) => return permanent(&error.to_string()),
            };
            let error = match self.settings.store.update(update).await {
                Ok(()) => {
                    crate::fault::point("consumer-after-commit");
                    return Tried::Verdict(Verdict::Applied);
                }
                Err(error) => error,
            };
            match error {
                WriteError::ConditionFailed(old) => {
                    return match upsert.settle(old.as_ref(), &key) {
                        Settled::Duplicate => Tried::Verdict(Verdict::Duplicate),
                        Settled::Stale => Tried::Verdict(Verdict::Stale),
                        Settled::Conflict { version } => permanent(&format!(
                            "another event has written version {version} of the item in table {:?}",
                            upsert.table()
                        )),
                        Settled::Vanished => Tried::Rerun,
                    };
                }
                WriteError::Refused { .. } => return permanent(&chain(&error)),
                WriteError::Unconfirmed { .. } => {
                    let wait = self.settings.backoff.delay(attempt);
                    if wait >= event.deadline.left(self.settings.clock.now()) {
                        return Tried::Verdict(Verdict::Transient(chain(&error)));
                    }
                    attempt = attempt.saturating_add(1);
                    tokio::time::sleep(wait).await;
                }
            }
        }
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

fn permanent(reason: &str) -> Tried {
    Tried::Verdict(Verdict::Permanent(reason.to_owned()))
}

fn id_reused() -> Verdict {
    Verdict::Permanent("another event with this id, but other content, has been applied".to_owned())
}

fn of_handler(error: &HandlerError) -> Verdict {
    if error.is_permanent() {
        Verdict::Permanent(error.to_string())
    } else {
        Verdict::Transient(error.to_string())
    }
}
