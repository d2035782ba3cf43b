mod commit;
mod single;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;

use super::dispatch::{Prepared, Routes};
use super::{HandlerError, Record, Verdict};
use crate::effect::{Reads, Work};
use crate::event::Envelope;
use crate::inbox::{self, InboxKey};
use crate::outbox::Outbox;
use crate::retry::Backoff;
use crate::store::Store;
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
