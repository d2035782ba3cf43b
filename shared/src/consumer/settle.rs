//! From a verdict to what becomes of the record: acknowledged, listed or quarantined.

use super::engine::Engine;
use super::watch::Sample;
use super::{Record, Verdict};
use crate::event::Envelope;
use crate::quarantine::{Case, Reason};
use crate::telemetry::chain;
use crate::time::Deadline;

/// A record's verdict, and whether it was quarantined for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) verdict: Verdict,
    pub(crate) quarantined: bool,
    /// What was measured of a started record.
    pub(super) sample: Option<Sample>,
}

impl Settled {
    fn new(verdict: Verdict, quarantined: bool) -> Self {
        Self { verdict, quarantined, sample: None }
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
            Verdict::Transient(_) if last => Reason::Exhausted,
            _ => return Settled::new(verdict, false),
        };
        let (Some(quarantine), Some(message_id)) = (&self.parts.quarantine, record.message_id.as_deref())
        else {
            return Settled::new(verdict, false);
        };
        let case = self.case(record, envelope, message_id, reason, verdict.reason().unwrap_or_default());
        let (clock, ids) = (self.parts.clock.as_ref(), self.parts.ids.as_ref());
        match quarantine.keep(&case, clock, ids, deadline).await {
            Ok(()) => Settled::new(verdict, true),
            Err(error) => {
                tracing::error!(reason = chain(&error), "not quarantined; the record comes again");
                Settled::new(verdict, false)
            }
        }
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
            body: record.body.as_deref().unwrap_or(record.raw).to_owned(),
        }
    }
}
