//! Which events come to a handler at all.

use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::single::Advance;
use super::{Admitted, Engine};
use crate::consumer::dispatch::Prepared;
use crate::consumer::lanes::Times;
use crate::consumer::watch::Watch;
use crate::consumer::{Record, Verdict};
use crate::event::{Envelope, Malformed};

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Finds the event's handler and reads its data.
    ///
    /// # Errors
    /// The verdict of an event that comes to no handler.
    pub(in crate::consumer) fn admit<'a>(
        &'a self,
        record: &'a Record<'_>,
        envelope: &'a Envelope,
        watch: &'a Watch,
        times: Times,
    ) -> Result<Admitted<'a, S>, Verdict> {
        let now = times.now;
        let Some(versions) = self.routes.get(envelope.event_type.as_str()) else {
            let on_unhandled = self.parts.on_unhandled.as_ref().ok_or(Verdict::Unhandled)?;
            let advance = Box::new(Advance { on_unhandled, envelope });
            return Ok(self.admitted(record, envelope, advance, watch, times));
        };
        let born = born_at(envelope).map_err(|malformed| Verdict::Malformed(malformed.to_string()))?;
        let age = born.and_then(|born| Duration::try_from(now.duration_since(born)).ok()).unwrap_or_default();
        let Some(route) = versions.get(&envelope.schema_version) else {
            return Err(self.unknown_version(
                envelope,
                versions.keys(),
                born.is_some() && age < self.parts.version_grace,
            ));
        };
        if route.needs_inbox() && age >= Duration::from(self.parts.retention.inbox) {
            let window = self.parts.retention.inbox;
            let days = age.as_secs() / 86_400;
            return Err(Verdict::TooOld(format!(
                "outside the retention window: the event is {days} days old, and the inbox remembers {window}; whether it \
                 was applied is not known here, so find out from the data before applying it by hand"
            )));
        }
        let prepared = route
            .prepare(envelope.clone(), now, record.receive_count)
            .map_err(|malformed| Verdict::Malformed(malformed.to_string()))?;
        Ok(self.admitted(record, envelope, prepared, watch, times))
    }

    fn admitted<'a>(
        &self,
        record: &'a Record<'_>,
        envelope: &'a Envelope,
        prepared: Box<dyn Prepared<S> + 'a>,
        watch: &'a Watch,
        times: Times,
    ) -> Admitted<'a, S> {
        Admitted {
            envelope,
            prepared,
            now: times.now,
            deadline: times.until,
            attempt: record.receive_count,
            watch,
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

/// When the event came to be: its `time`, or what a UUID v7 says. `None` for an event that states neither, whose age
/// cannot be known.
pub(in crate::consumer) fn born_at(envelope: &Envelope) -> Result<Option<Timestamp>, Malformed> {
    if !envelope.time.is_empty() {
        let time = envelope.time.parse();
        return time.map(Some).map_err(|_| Malformed::Unusable("time", "it is no RFC 3339 timestamp"));
    }
    let id = Uuid::try_parse(&envelope.id).ok().filter(|id| id.get_version_num() == 7);
    let (seconds, nanos) = match id.and_then(|id| id.get_timestamp()) {
        Some(timestamp) => timestamp.to_unix(),
        None => return Ok(None),
    };
    Ok(i64::try_from(seconds).ok().and_then(|seconds| Timestamp::new(seconds, nanos.cast_signed()).ok()))
}
