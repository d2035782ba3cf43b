//! From a verdict to what becomes of the record: acknowledged, listed or quarantined.

use std::time::Duration;

use super::engine::Engine;
use super::watch::Sample;
use super::{Record, Verdict};
use crate::event::Envelope;
use crate::quarantine::{Case, Reason};
use crate::telemetry::chain;
use crate::time::Deadline;

/// How long one record may wait for the quarantine table.
const PATIENCE: Duration = Duration::from_secs(3);

/// A record's verdict, and whether it was quarantined for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) verdict: Verdict,
    pub(crate) quarantined: bool,
    /// What was measured of a started record.
    pub(super) sample: Option<Sample>,
    /// How long it has to stay away at least, if it comes again.
    pub(super) wait: Duration,
}

impl Settled {
    fn new(verdict: Verdict, quarantined: bool) -> Self {
        Self { verdict, quarantined, sample: None, wait: Duration::ZERO }
    }

    pub(super) fn not_started() -> Self {
        Self::new(Verdict::NotStarted, false)
    }

    pub(super) fn held_back() -> Self {
        Self::new(Verdict::HeldBack, false)
    }

    /// Whether SQS may delete the record.
    pub(super) fn is_done(&self) -> bool {
        self.quarantined || self.verdict.is_done()
    }
}

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Quarantines a *started* record that cannot succeed, or that failed on its last receive. If that write fails, the
    /// record is listed: it must not be let go of.
    pub(super) async fn settle(
        &self,
        record: &Record<'_>,
        envelope: Option<&Envelope>,
        verdict: Verdict,
        deadline: Deadline,
    ) -> Settled {
        let last = self.parts.max_receive_count.is_some_and(|max| record.receive_count >= max.get());
        let reason = match &verdict {
            Verdict::Permanent(_) => Reason::Permanent,
            Verdict::Malformed(_) => Reason::Malformed,
            Verdict::TooOld(_) => Reason::TooOld,
            Verdict::Unknown(_) => Reason::Unknown,
            Verdict::Transient(_) if last => Reason::Exhausted,
            _ => return Settled::new(verdict, false),
        };
        let clock = self.parts.clock.as_ref();
        // A table that does not answer holds up nobody for long: the record comes again.
        let deadline = deadline.min(Deadline::after(clock.now(), PATIENCE));
        if let Some(envelope) = envelope {
            let half = deadline.left(clock.now()) / 2;
            let looking = self.has_applied(envelope, clock.now());
            match tokio::time::timeout(half, looking).await {
                Ok(Ok(true)) => return Settled::new(Verdict::Duplicate, false),
                Ok(Ok(false)) => {}
                // Another delivery finds out, if there is one.
                Ok(Err(_)) | Err(_) if !last => return Settled::new(verdict, false),
                Ok(Err(_)) | Err(_) => {}
            }
        }
        let (Some(quarantine), Some(message_id)) = (&self.parts.quarantine, record.message_id.as_deref())
        else {
            return Settled::new(verdict, false);
        };
        let case = self.case(record, envelope, message_id, reason, verdict.reason().unwrap_or_default());
        let keeping = quarantine.keep(&case, clock, self.parts.ids.as_ref(), deadline);
        let reason = match tokio::time::timeout(deadline.left(clock.now()), keeping).await {
            Ok(Ok(())) => return Settled::new(verdict, true),
            Ok(Err(error)) => chain(&error),
            Err(_elapsed) => "the quarantine table did not answer in time".to_owned(),
        };
        tracing::error!(reason, "not quarantined; the record comes again");
        Settled::new(verdict, false)
    }

    fn case(
        &self,
        record: &Record<'_>,
        envelope: Option<&Envelope>,
        message_id: &str,
        reason: Reason,
        detail: &str,
    ) -> Case {
        let text = |of: fn(&Envelope) -> &str| envelope.map(of).unwrap_or_default().to_owned();
        Case {
            owner: self.parts.name.clone(),
            source: record.queue_arn.as_deref().unwrap_or_default().to_owned(),
            event_key: envelope.map(Envelope::key),
            message_id: message_id.to_owned(),
            event_type: text(|envelope| &envelope.event_type),
            aggregate_id: text(|envelope| &envelope.aggregate_id),
            group: record.group.as_deref().map(str::to_owned),
            reason,
            detail: detail.to_owned(),
            attempts: record.receive_count,
            traceparent: envelope.and_then(|envelope| envelope.cause.traceparent.clone()),
            destinations: Vec::new(),
            body: record.body.as_deref().or(record.raw).unwrap_or_default().to_owned(),
        }
    }
}
