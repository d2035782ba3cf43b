//! Naturally idempotent effects: one conditional write, no inbox row.

use futures::FutureExt;
use futures::future::{self, BoxFuture};

use super::{Admitted, Engine, Tried, permanent};
use crate::consumer::dispatch::Prepared;
use crate::consumer::{HandlerError, Verdict};
use crate::effect::{Reads, Settled, Single, UpsertNext, Work};
use crate::event::Envelope;
use crate::retry::{self, NotWritten};
use crate::store::WriteError;
use crate::telemetry::chain;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// One conditional write. Sending it again is harmless: the item tells our own write apart.
    pub(super) async fn single(&self, single: &Single, event: &Admitted<'_, S>) -> Tried {
        let _timing = event.watch.time_commit();
        let guarded = single.guarded();
        let write = match guarded.write(event.envelope) {
            Ok(write) => write,
            Err(reason) => return permanent(&reason),
        };
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        let sent = retry::write(clock, self.parts.backoff, event.deadline, || write.send(store)).await;
        let Err(NotWritten { error, open }) = sent else {
            crate::fault::point("consumer-after-commit");
            return Tried::Verdict(Verdict::Applied);
        };
        match error {
            WriteError::ConditionFailed(old) => match guarded.settle(old.as_ref(), event.envelope) {
                Settled::Ours if open => Tried::Verdict(Verdict::Applied),
                Settled::Ours | Settled::Duplicate => Tried::Verdict(Verdict::Duplicate),
                Settled::Stale => Tried::Verdict(Verdict::Stale),
                Settled::Transient(reason) => Tried::Verdict(Verdict::Transient(reason)),
                Settled::Permanent(reason) => permanent(&reason),
                Settled::Unexplained => Tried::Rerun,
            },
            WriteError::Refused { .. } => permanent(&chain(&error)),
            WriteError::Throttled { .. } | WriteError::Unconfirmed { .. } => {
                Tried::Verdict(Verdict::Transient(chain(&error)))
            }
        }
    }

    /// An event type without a handler is counted as such, once its item has advanced.
    pub(super) async fn unhandled(&self, advance: Option<&Single>, event: &Admitted<'_, S>) -> Tried {
        let Some(advance) = advance else { return Tried::Verdict(Verdict::Unhandled) };
        match self.single(advance, event).await {
            Tried::Verdict(verdict) if verdict.is_done() => Tried::Verdict(Verdict::Unhandled),
            other => other,
        }
    }
}

/// What the builder was given for event types without a handler.
pub(in crate::consumer) type OnUnhandled = Box<dyn Fn(&Envelope) -> Option<UpsertNext> + Send + Sync>;

/// Stands where the handler stands, so that a panic costs this record only.
pub(super) struct Advance<'a> {
    pub(super) on_unhandled: &'a OnUnhandled,
    pub(super) envelope: &'a Envelope,
}

impl<S> Prepared<S> for Advance<'_> {
    fn run(&self, _reads: Reads, _state: S) -> BoxFuture<'_, Result<Work, HandlerError>> {
        future::lazy(|_| {
            let next = (self.on_unhandled)(self.envelope);
            Ok(Work::Unhandled(next.map(Single::new)))
        })
        .boxed()
    }
}
