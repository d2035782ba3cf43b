use std::fmt;

use super::Days;
use crate::config::Reader;

/// How long everything is kept that can bring an event back, declared in one place.
///
/// An event whose inbox key has been forgotten looks new, and would be applied a second time. So the inbox window must
/// outlast the longest way back: published again at the end of the replay window, retried by SNS for its whole delivery
/// time, lain in the queue, then in the dead letter queue or the quarantine, and in the queue once more. What comes
/// back later all the same is quarantined as too old, not applied.
///
/// # Examples
/// ```
/// use oncebox::inbox::{Days, Retention};
///
/// let default = Retention::default();
/// assert_eq!(default.longest_way_back().get(), 61);
/// assert!(default.check().is_ok());
/// assert!(Retention { inbox: Days::new(1), ..default }.check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The inbox window: how long an inbox key is kept. `INBOX_WINDOW_DAYS`, default 90.
    pub inbox: Days,
    /// The queue's message retention. `QUEUE_RETENTION_DAYS`, default 4; SQS allows up to 14.
    pub queue: Days,
    /// The dead letter queue's message retention. `DLQ_RETENTION_DAYS`, default 14, which is SQS's most.
    pub dlq: Days,
    /// How long SNS goes on delivering to a queue that does not accept. `SNS_RETRY_DAYS`, default 23 ("Amazon SNS
    /// message delivery retries"); 0 without SNS.
    pub sns: Days,
    /// How long after its first publication an event may be replayed, from kept outbox rows or elsewhere.
    /// `REPLAY_WINDOW_DAYS`, default 0: no replay.
    pub replay: Days,
    /// How long after its last failure a quarantined message may be redriven. `QUARANTINE_WINDOW_DAYS`, default 30.
    pub quarantine: Days,
}

/// An inbox window that is shorter than the longest way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowTooShort(Retention);

impl Default for Retention {
    fn default() -> Self {
        Self {
            inbox: Days::new(90),
            queue: Days::new(4),
            dlq: Days::new(14),
            sns: Days::new(23),
            replay: Days::new(0),
            quarantine: Days::new(30),
        }
    }
}

impl Retention {
    /// Reads the settings named at the fields, and reports an inbox window that is too short.
    #[must_use]
    pub fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let retention = Self {
            inbox: reader.or("INBOX_WINDOW_DAYS", default.inbox),
            queue: reader.or("QUEUE_RETENTION_DAYS", default.queue),
            dlq: reader.or("DLQ_RETENTION_DAYS", default.dlq),
            sns: reader.or("SNS_RETRY_DAYS", default.sns),
            replay: reader.or("REPLAY_WINDOW_DAYS", default.replay),
            quarantine: reader.or("QUARANTINE_WINDOW_DAYS", default.quarantine),
        };
        if let Err(short) = retention.check() {
            reader.report("INBOX_WINDOW_DAYS", short.to_string());
        }
        retention
    }

    /// Replay, SNS retries, queue, the longer of dead letter queue and quarantine, and the queue again.
    #[must_use]
    pub fn longest_way_back(&self) -> Days {
        Days::new(u16::try_from(self.way_back()).unwrap_or(u16::MAX))
    }

    /// In days, more than [`Days`] holds if need be.
    fn way_back(&self) -> u32 {
        let parked = self.dlq.max(self.quarantine);
        [self.replay, self.sns, self.queue, parked, self.queue].iter().map(|days| u32::from(days.get())).sum()
    }

    /// Compares the inbox window with the longest way back.
    ///
    /// # Errors
    /// [`WindowTooShort`], with the sum and its parts.
    pub fn check(&self) -> Result<(), WindowTooShort> {
        if u32::from(self.inbox.get()) >= self.way_back() && self.inbox > Days::new(0) {
            Ok(())
        } else {
            Err(WindowTooShort(*self))
        }
    }
}

impl fmt::Display for WindowTooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Retention { inbox, queue, dlq, sns, replay, quarantine } = self.0;
        write!(
            f,
            "is too short: an inbox key is kept for {inbox}, but an event can come back after {back} days (replay {replay}, \
             SNS retries {sns}, queue {queue}, the longer of dead letter queue {dlq} and quarantine {quarantine}, queue \
             again {queue}) and would be applied a second time; keep keys for at least {back} days, or shorten the others",
            back = self.0.way_back(),
        )
    }
}

impl std::error::Error for WindowTooShort {}
