//! One record from its envelope to its verdict.

mod admit;
mod commit;
mod look;
#[cfg(feature = "remote")]
mod remote;
mod single;

use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use tracing::Instrument;

pub(super) use self::commit::Built;
pub(super) use self::single::OnUnhandled;
use super::dispatch::{Prepared, Routes};
use super::visibility::RetryDelay;
use super::watch::Watch;
use super::{HandlerError, Verdict, discard};
use crate::effect::{Reads, Work};
use crate::event::Envelope;
use crate::inbox::Retention;
use crate::outbox::Outbox;
use crate::quarantine::Quarantine;
use crate::retry::Backoff;
use crate::store::Store;
use crate::time::{Clock, Deadline, Ids};

/// What a consumer was built with, except its handlers and their state.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) store: Arc<dyn Store>,
    pub(super) inbox: Option<String>,
    pub(super) outbox: Option<Outbox>,
    #[cfg(feature = "remote")]
    pub(super) remote: Option<crate::effect::remote::Provider>,
    pub(super) quarantine: Option<Quarantine>,
    pub(super) max_receive_count: Option<NonZeroU32>,
    pub(super) retry_delay: Option<RetryDelay>,
    pub(super) retention: Retention,
    pub(super) version_grace: Duration,
    pub(super) packing: bool,
    pub(super) on_unhandled: Option<OnUnhandled>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) backoff: Backoff,
    pub(super) concurrency: usize,
    pub(super) margin: Duration,
    /// Assumed when the deadline is unknown.
    pub(super) unstated: Duration,
    pub(super) reruns: u32,
    #[cfg(feature = "fault-injection")]
    pub(super) sabotage: crate::fault::Sabotage,
}

pub(super) struct Engine<S> {
    pub(super) parts: Parts,
    pub(super) routes: Routes<S>,
    pub(super) state: S,
}

/// An event on its way through the engine, with its handler.
pub(super) struct Admitted<'a, S> {
    envelope: &'a Envelope,
    prepared: Box<dyn Prepared<S> + 'a>,
    now: Timestamp,
    deadline: Deadline,
    attempt: u32,
    pub(super) watch: Arc<Watch>,
    #[cfg(feature = "fault-injection")]
    receipt: Option<&'a str>,
}

/// What one try at a commit says: a verdict, or that the handler has to look again.
enum Tried {
    Verdict(Verdict),
    Rerun,
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// From the handler to the verdict, committing by itself.
    pub(super) async fn run(&self, event: &Admitted<'_, S>) -> Verdict {
        let runs = self.parts.reruns;
        self.guard(event, self.run_from(event, None, runs)).await.unwrap_or_else(|verdict| verdict)
    }

    /// The handler's first run, up to a transaction that could be committed with others. What does not end in one is
    /// settled here.
    pub(super) async fn run_first(&self, event: &Admitted<'_, S>) -> Result<Built, Verdict> {
        let first = async {
            let work = self.call(event).await?;
            match work {
                Work::Transaction(effects) => self.build(effects, event, None),
                other => Err(self.run_from(event, Some(other), self.parts.reruns).await),
            }
        };
        self.guard(event, first).await?
    }

    /// Commits what [`run_first`](Self::run_first) has built, by itself; runs the handler again where that is asked for.
    pub(super) async fn run_built(&self, event: &Admitted<'_, S>, built: Built) -> Verdict {
        let rest = async {
            match self.commit(built, event).await {
                Tried::Verdict(verdict) => verdict,
                Tried::Rerun => self.run_from(event, None, self.parts.reruns.saturating_sub(1)).await,
            }
        };
        self.guard(event, rest).await.unwrap_or_else(|verdict| verdict)
    }

    /// Runs the handler until its conditions hold, at most `runs` times. `work` is what a first run has returned.
    async fn run_from(&self, event: &Admitted<'_, S>, mut work: Option<Work>, runs: u32) -> Verdict {
        for _ in 0..runs {
            let next = match work.take() {
                Some(work) => Ok(work),
                None => self.call(event).await,
            };
            let tried = match next {
                Ok(Work::Transaction(effects)) => match self.build(effects, event, None) {
                    Ok(built) => self.commit(built, event).await,
                    Err(verdict) => return verdict,
                },
                Ok(Work::Single(single)) => self.single(&single, event).await,
                #[cfg(feature = "remote")]
                Ok(Work::Remote(remote)) => return self.remote(&remote, event).await,
                Ok(Work::Unhandled(advance)) => self.unhandled(advance.as_ref(), event).await,
                Err(verdict) => return verdict,
            };
            match tried {
                Tried::Verdict(verdict) => return verdict,
                Tried::Rerun => {}
            }
        }
        out_of_runs(self.parts.reruns)
    }

    /// Looks first where that is worth it, then calls the handler.
    async fn call(&self, event: &Admitted<'_, S>) -> Result<Work, Verdict> {
        // A redelivered event is often a duplicate: one read is cheaper than a handler run and a cancelled transaction.
        // It only saves work; the condition in the transaction is what decides.
        if event.attempt > 1
            && let Ok(Some(verdict)) = self.look(event.envelope, event.now).await
        {
            return Err(verdict);
        }
        let _timing = event.watch.time_handler();
        crate::fault::panic_point("handler-panic");
        let reads = Reads::new(Arc::clone(&self.parts.store));
        event.prepared.run(reads, self.state.clone()).await.map_err(|error| of_handler(&error))
    }

    /// A panic, or the deadline, is a transient failure of this record alone.
    async fn guard<T>(&self, event: &Admitted<'_, S>, work: impl Future<Output = T>) -> Result<T, Verdict> {
        let left = event.deadline.left(self.parts.clock.now());
        if left.is_zero() {
            return Err(out_of_time());
        }
        let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind().instrument(event.watch.span.clone()));
        let outcome = tokio::time::timeout(left, &mut work).await;
        // What is left of a handler may panic too.
        discard(work);
        match outcome {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => {
                discard(panic);
                Err(Verdict::Transient("the handler panicked".to_owned()))
            }
            Err(_elapsed) => Err(out_of_time()),
        }
    }
}

fn permanent(reason: &str) -> Tried {
    Tried::Verdict(Verdict::Permanent(reason.to_owned()))
}

fn out_of_runs(runs: u32) -> Verdict {
    Verdict::Transient(format!("the effect's condition was false {runs} times in a row"))
}

/// The call that this delivery had begun is another's by now: its lease had passed.
fn taken_over() -> Verdict {
    Verdict::Transient("another delivery has taken the call over".to_owned())
}

fn out_of_time() -> Verdict {
    Verdict::Transient("the invocation's deadline came before the commit".to_owned())
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
