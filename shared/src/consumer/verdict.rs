use std::fmt;

/// What became of one record. Every record of a batch has exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The effect is committed.
    Applied,
    /// This consumer had applied the event before.
    Duplicate,
    /// Something newer had been applied before.
    Stale,
    /// The consumer does not handle this event type.
    Unhandled,
    /// It did not work this time; the record comes again.
    Transient(String),
    /// The event can never be applied.
    Permanent(String),
    /// The body is no event, or not in a shape that the consumer knows.
    Malformed(String),
    /// The event is older than the inbox remembers: it may have been applied long ago, and is not applied now.
    TooOld(String),
    /// A call may or may not have been done, and the provider cannot tell: a person has to.
    Unknown(String),
    /// Not tried: an earlier record of its FIFO group has to come first.
    HeldBack,
    /// Not tried: there was no time left.
    NotStarted,
}

impl Verdict {
    /// Whether the record is done with, so that SQS may delete it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Applied | Self::Duplicate | Self::Stale | Self::Unhandled)
    }

    /// The name in logs and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Duplicate => "duplicate",
            Self::Stale => "stale",
            Self::Unhandled => "unhandled",
            Self::Transient(_) => "transient",
            Self::Permanent(_) => "permanent",
            Self::Malformed(_) => "malformed",
            Self::TooOld(_) => "too_old",
            Self::Unknown(_) => "unknown",
            Self::HeldBack => "held_back",
            Self::NotStarted => "not_started",
        }
    }

    /// Why, where there is more to say than the name.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Transient(reason)
            | Self::Permanent(reason)
            | Self::Malformed(reason)
            | Self::TooOld(reason)
            | Self::Unknown(reason) => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many records of a batch ended in which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) applied: usize,
    pub(super) duplicate: usize,
    pub(super) stale: usize,
    pub(super) unhandled: usize,
    pub(super) transient: usize,
    pub(super) permanent: usize,
    pub(super) malformed: usize,
    pub(super) too_old: usize,
    pub(super) unknown: usize,
    pub(super) held_back: usize,
    pub(super) not_started: usize,
    /// Of the permanent, malformed, too old, unknown and transient ones: those that are in the quarantine now.
    pub(super) quarantined: usize,
}

impl Counts {
    /// Counts `verdicts`.
    pub(super) fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Applied => &mut counts.applied,
                Verdict::Duplicate => &mut counts.duplicate,
                Verdict::Stale => &mut counts.stale,
                Verdict::Unhandled => &mut counts.unhandled,
                Verdict::Transient(_) => &mut counts.transient,
                Verdict::Permanent(_) => &mut counts.permanent,
                Verdict::Malformed(_) => &mut counts.malformed,
                Verdict::TooOld(_) => &mut counts.too_old,
                Verdict::Unknown(_) => &mut counts.unknown,
                Verdict::HeldBack => &mut counts.held_back,
                Verdict::NotStarted => &mut counts.not_started,
            } += 1;
        }
        counts
    }
}
