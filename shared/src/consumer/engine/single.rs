//! Naturally idempotent effects: one conditional write, no inbox row.

use super::{Admitted, Engine, Tried, permanent};
use crate::consumer::Verdict;
use crate::effect::{Settled, Upsert};
use crate::store::WriteError;
use crate::telemetry::chain;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// One conditional write. Sending it again is harmless: the stored event id tells our own write apart.
    pub(super) async fn upsert(&self, upsert: Upsert, event: &Admitted<'_, S>) -> Tried {
        let key = event.envelope.key();
        let mut attempt = 0_u32;
        loop {
            let update = match upsert.update(&key) {
                Ok(update) => update,
                Err(error) => return permanent(&error.to_string()),
            };
            let error = match self.parts.store.update(update).await {
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
                WriteError::Throttled { .. } | WriteError::Unconfirmed { .. } => {
                    let wait = self.parts.backoff.delay(attempt);
                    if wait >= event.deadline.left(self.parts.clock.now()) {
                        return Tried::Verdict(Verdict::Transient(chain(&error)));
                    }
                    attempt = attempt.saturating_add(1);
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }
}
