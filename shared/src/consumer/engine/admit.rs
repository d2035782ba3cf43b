//! Which events come to a handler at all.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::single::Advance;
use super::{Admitted, Engine};
use crate::consumer::dispatch::Prepared;
use crate::consumer::lanes::Times;
use crate::consumer::watch::Watch;
use crate::consumer::{Record, Verdict, discard};
use crate::event::{Envelope, Malformed};
use crate::time::{Deadline, LONGEST_INVOCATION};

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Finds the event's handler and reads its data.
    ///
    /// # Errors
    /// The verdict of an event that comes to no handler.
    pub(in crate::consumer) fn admit<'a>(
        &'a self,
        record: &'a Record<'_>,
        envelope: &'a Arc<Envelope>,
        watch: &Arc<Watch>,
        times: Times<'_>,
    ) -> Result<Admitted<'a, S>, Verdict> {
        let now = times.now;
        let Some(versions) = self.routes.get(envelope.event_type.as_str()) else {
            let on_unhandled = self.parts.on_unhandled.as_ref().ok_or(Verdict::Unhandled)?;
            let advance = Box::new(Advance { on_unhandled, envelope });
            return Ok(self.admitted(record, envelope, advance, watch, times));
        };
        let born = envelope.born().map_err(|malformed| Verdict::Malformed(malformed.to_string()))?;
        let age_at = |when: Timestamp| {
            born.and_then(|born| Duration::try_from(when.duration_since(born)).ok()).unwrap_or_default()
        };
        let Some(route) = versions.get(&envelope.schema_version) else {
            return Err(self.unknown_version(
                envelope,
                versions.keys(),
                born.is_some() && age_at(now) < self.parts.version_grace,
            ));
        };
        let window = self.parts.retention.inbox;
        // As old as it will be when its commit is sent: the key of an earlier commit must outlast that.
        let age = age_at(times.until.at().min(Deadline::after(now, LONGEST_INVOCATION).at()));
        if route.needs_inbox() && age >= Duration::from(window) {
            let days = age.as_secs() / 86_400;
            return Err(Verdict::TooOld(format!(
                "outside the retention window: the event is {days} days old, and the inbox remembers {window}; whether it \
                 was applied is not known here, so find out from the data before applying it by hand"
            )));
        }
        // Reading the data runs the event type's own code.
        let read = AssertUnwindSafe(|| route.prepare(Arc::clone(envelope), now, record.receive_count));
        let prepared = panic::catch_unwind(read)
            .map_err(|panic| {
                discard(panic);
                Verdict::Transient("reading the event's data panicked".to_owned())
            })?
            .map_err(|malformed| Verdict::Malformed(malformed.to_string()))?;
        Ok(self.admitted(record, envelope, prepared, watch, times))
    }

    fn admitted<'a>(
        &self,
        record: &'a Record<'_>,
        envelope: &'a Envelope,
        prepared: Box<dyn Prepared<S> + 'a>,
        watch: &Arc<Watch>,
        times: Times<'_>,
    ) -> Admitted<'a, S> {
        Admitted {
            envelope,
            prepared,
            now: times.now,
            deadline: times.until,
            attempt: record.receive_count,
            watch: Arc::clone(watch),
            #[cfg(feature = "fault-injection")]
            receipt: record.receipt_handle.as_deref(),
        }
    }

    /// During a rollout a producer may be ahead of its consumers for a while.
    fn unknown_version<'v>(
        &self,
        envelope: &Envelope,
        known: impl Iterator<Item = &'v u32>,
        in_grace: bool,
    ) -> Verdict {
        let malformed = Malformed::Version {
            event_type: envelope.event_type.clone(),
            version: envelope.schema_version,
            known: known.copied().collect(),
        };
        if in_grace {
            Verdict::Transient(malformed.to_string())
        } else {
            Verdict::Malformed(malformed.to_string())
        }
    }
}
