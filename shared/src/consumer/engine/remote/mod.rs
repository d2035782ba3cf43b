//! HTTP effects: "started" before every call, the effects of the answer with the end of "started".

mod begin;
mod call;
mod lease;

use super::{Admitted, Engine, Tried, of_handler, out_of_runs};
use crate::consumer::Verdict;
use crate::effect::Reads;
use crate::effect::remote::{Outcome, Provider, Remote, Reply, Started};

/// A call that this delivery has begun, and nobody else may make until its lease passes.
struct Held<'a> {
    provider: &'a Provider,
    remote: &'a Remote,
    row: Started,
    /// Whether no delivery before this one can have called.
    first: bool,
}

/// What becomes of the "started" row when its call did not end in a commit.
enum After {
    /// It stays, with its request, for the next delivery or a person.
    Release(Verdict),
    /// The same, with what was heard in the place of an answer.
    Heard(Verdict, String),
    /// Nothing was done: the next delivery begins anew.
    Clear(Verdict),
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// From the request to the verdict.
    pub(super) async fn remote(&self, remote: &Remote, event: &Admitted<'_, S>) -> Verdict {
        let held = match self.begin(remote, event).await {
            Ok(held) => held,
            Err(verdict) => return verdict,
        };
        crate::fault::point("remote-after-started");
        let after = match self.answer(&held, event).await {
            Ok(reply) => match self.follow(&held, reply, event).await {
                verdict @ (Verdict::Applied | Verdict::Duplicate) => return verdict,
                verdict => After::Release(verdict),
            },
            Err(after) => after,
        };
        match after {
            After::Release(verdict) => {
                self.release(&held, None, event).await;
                verdict
            }
            After::Heard(verdict, heard) => {
                self.release(&held, Some(&heard), event).await;
                verdict
            }
            After::Clear(verdict) => {
                self.clear(&held, event).await;
                verdict
            }
        }
    }

    /// The provider's answer: the stored one, or that of a call that is made now.
    async fn answer(&self, held: &Held<'_>, event: &Admitted<'_, S>) -> Result<Reply, After> {
        if let Some(stored) = &held.row.reply {
            return match held.remote.judge_stored(stored.clone()) {
                Outcome::Refused(_, said) => Err(After::Release(refused(said))),
                _ => Ok(stored.clone()),
            };
        }
        let outcome = self.attempt(held, event).await.map_err(|verdict| held.not_done(verdict))?;
        crate::fault::point("remote-after-call");
        match outcome {
            Outcome::Answered(reply) => {
                self.store(held, &reply, event).await?;
                Ok(reply)
            }
            Outcome::Refused(reply, said) => {
                self.store(held, &reply, event).await?;
                Err(After::Release(refused(said)))
            }
            Outcome::Again(said) => Err(After::Heard(Verdict::Transient(said.clone()), said)),
            Outcome::Unknown(said) => Err(After::Heard(unknown(&said), said)),
            Outcome::NotDone(said) => Err(held.not_done(Verdict::Transient(said))),
        }
    }

    /// The effects of the answer, committed. When a condition is false, only this is run again.
    async fn follow(&self, held: &Held<'_>, reply: Reply, event: &Admitted<'_, S>) -> Verdict {
        for _ in 0..self.parts.reruns {
            let reads = Reads::new(std::sync::Arc::clone(&self.parts.store));
            let effects = {
                let _timing = event.watch.time_handler();
                held.remote.follow(reply.clone(), reads).await
            };
            let built = effects.map_err(|error| of_handler(&error)).and_then(|effects| {
                let ending = held.ending().map_err(|error| Verdict::Permanent(error.to_string()))?;
                self.build(effects, event, Some(ending))
            });
            match built {
                Ok(built) => match self.commit(built, event).await {
                    Tried::Verdict(verdict) => return verdict,
                    Tried::Rerun => {}
                },
                Err(verdict) => return verdict,
            }
        }
        out_of_runs(self.parts.reruns)
    }
}

impl Held<'_> {
    /// Only cleared where nothing can have been sent before: else the age of a keyed call must go on counting, and the next
    /// unkeyed one is still a call that may be a repeat.
    fn not_done(&self, verdict: Verdict) -> After {
        if self.first { After::Clear(verdict) } else { After::Release(verdict) }
    }
}

fn refused(said: String) -> Verdict {
    Verdict::Permanent(said)
}

fn unknown(why: &str) -> Verdict {
    Verdict::Unknown(format!(
        "{why}; it is not known whether the call was done, and it is not made again: find out from the provider, resolve \
         it as done or not done, then redrive"
    ))
}
