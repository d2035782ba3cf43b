//! What becomes of "started": an answer is added, its lease ends, or the row goes.

use std::time::Duration;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{Delete, TransactWriteItem, Update};
use jiff::Timestamp;

use super::{After, Held};
use crate::consumer::Verdict;
use crate::consumer::engine::{Admitted, Engine, taken_over};
use crate::effect::remote::{Kind, Reply, names, number, reply_attributes, text};
use crate::quarantine::cut;
use crate::retry;
use crate::store::WriteError;
use crate::telemetry::chain;
use crate::time::Deadline;

/// Between the end of an invocation and the end of its lease, for clocks that differ.
const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// Bytes of what is kept of what was heard: a status, or why there is none.
const MAX_HEARD: usize = 512;
/// How long a row that is left behind is worth waiting for: its lease ends by itself.
const PATIENCE: Duration = Duration::from_secs(1);

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// When this invocation cannot be calling any more.
    pub(super) fn lease_until(&self, event: &Admitted<'_, S>) -> Timestamp {
        // Records are worked on until the deadline less the margin.
        let end = event.deadline.at().max(self.parts.clock.now());
        Deadline::after(end, self.parts.margin.saturating_add(LEASE_MARGIN)).at()
    }

    /// Adds the answer of an unkeyed call to its row, so that a crash from here on leaves nothing unknown.
    ///
    /// # Errors
    /// When the call is another delivery's by now.
    pub(super) async fn store(
        &self,
        held: &Held<'_>,
        reply: &Reply,
        event: &Admitted<'_, S>,
    ) -> Result<(), After> {
        if matches!(held.remote.kind, Kind::Keyed { .. }) {
            return Ok(());
        }
        let update =
            held.answered(reply).map_err(|error| After::Release(Verdict::Permanent(error.to_string())))?;
        let clock = self.parts.clock.as_ref();
        let deadline = event.deadline.less(event.deadline.left(clock.now()) / 2);
        let stored =
            retry::update(self.parts.store.as_ref(), clock, self.parts.backoff, deadline, &update).await;
        match stored {
            Ok(()) => crate::fault::point("remote-after-answer"),
            Err(WriteError::ConditionFailed(_)) => return Err(After::Release(taken_over())),
            // The commit may succeed all the same, and then nothing is unknown.
            Err(error) => tracing::warn!(reason = chain(&error), "the provider's answer was not stored"),
        }
        Ok(())
    }

    /// Ends the lease, so that the next delivery need not wait for it, and leaves what was heard in the place of an answer.
    pub(super) async fn release(&self, held: &Held<'_>, heard: Option<&str>, event: &Admitted<'_, S>) {
        let Ok(update) = held.released(self.parts.clock.now(), heard) else { return };
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        let deadline = event.deadline.min(Deadline::after(clock.now(), PATIENCE));
        let ended = retry::update(store, clock, self.parts.backoff, deadline, &update).await;
        if let Err(error @ (WriteError::Refused { .. } | WriteError::Throttled { .. })) = ended {
            tracing::warn!(reason = chain(&error), "the lease of the call ends by itself");
        }
    }

    /// Removes the row of a call that was not done.
    pub(super) async fn clear(&self, held: &Held<'_>, event: &Admitted<'_, S>) {
        let Ok(delete) = held.ending() else { return };
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        let deadline = event.deadline.min(Deadline::after(clock.now(), PATIENCE));
        let token = self.parts.ids.fresh(clock.now()).to_string();
        let busy = |reasons: &[crate::store::CancelReason]| {
            reasons.iter().all(|reason| reason.code != crate::store::CancelCode::ConditionalCheckFailed)
        };
        let cleared =
            retry::transact(store, clock, self.parts.backoff, deadline, &token, &[delete], busy).await;
        if let Err(error) = cleared {
            tracing::warn!(
                reason = chain(&error),
                "the call was not done, but its \"started\" row may still be there"
            );
        }
    }
}

impl Held<'_> {
    /// The end of "started", while it is ours.
    pub(super) fn ending(&self) -> Result<TransactWriteItem, BuildError> {
        let delete = Delete::builder()
            .table_name(&*self.provider.table)
            .set_key(Some(self.row.key()))
            .condition_expression("#lease = :lease")
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_values(":lease", text(&self.row.lease))
            .build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    fn released(&self, now: Timestamp, heard: Option<&str>) -> Result<Update, BuildError> {
        let update = Update::builder().table_name(&*self.provider.table).set_key(Some(self.row.key()));
        let update = match heard {
            None => update.update_expression("SET #until = :now"),
            Some(heard) => update
                .update_expression("SET #until = :now, #heard = :heard")
                .expression_attribute_names("#heard", names::HEARD)
                .expression_attribute_values(":heard", text(cut(heard, MAX_HEARD))),
        };
        update
            .condition_expression("#lease = :lease")
            .expression_attribute_names("#until", names::LEASE_UNTIL)
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_values(":now", number(now.as_millisecond()))
            .expression_attribute_values(":lease", text(&self.row.lease))
            .build()
    }

    fn answered(&self, reply: &Reply) -> Result<Update, BuildError> {
        let mut update = Update::builder()
            .table_name(&*self.provider.table)
            .set_key(Some(self.row.key()))
            .condition_expression("#lease = :lease")
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_values(":lease", text(&self.row.lease));
        let mut set = Vec::new();
        for (at, (name, value)) in reply_attributes(reply).into_iter().enumerate() {
            update = update
                .expression_attribute_names(format!("#n{at}"), name)
                .expression_attribute_values(format!(":v{at}"), value);
            set.push(format!("#n{at} = :v{at}"));
        }
        update.update_expression(format!("SET {}", set.join(", "))).build()
    }
}
