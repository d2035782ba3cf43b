//! Time and identity come from outside, so that tests can hold both still.

use std::fmt::Debug;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

/// Where "now" comes from.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// Where new event ids come from.
pub trait Ids: Debug + Send + Sync + 'static {
    /// A fresh id, never given out before. `at` is the creation time, for ids that carry one (UUID v7 does).
    fn fresh(&self, at: Timestamp) -> Uuid;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// UUID v7 from the given time and the machine's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn fresh(&self, at: Timestamp) -> Uuid {
        let seconds = u64::try_from(at.as_second()).unwrap_or_default();
        let nanos = u32::try_from(at.subsec_nanosecond()).unwrap_or_default();
        Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
    }
}

/// Source: Lambda quotas, "Function timeout".
pub(crate) const LONGEST_INVOCATION: Duration = Duration::from_secs(900);

/// When an invocation must have answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// The deadline that Lambda's context states, in milliseconds since 1970.
    ///
    /// A deadline that has passed when the invocation starts means "unknown", not "expired": `cargo lambda
    /// watch` sends one in 1970. `otherwise` from now is assumed then. One that is further away than Lambda's longest
    /// invocation, 15 min, is taken for that: what has to come again would stay invisible until then.
    #[must_use]
    pub fn from_context_millis(millis: u64, now: Timestamp, otherwise: Duration) -> Self {
        let stated = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        match stated {
            Some(stated) if stated > now => Self(stated).min(Self::after(now, LONGEST_INVOCATION)),
            _ => Self::after(now, otherwise),
        }
    }

    /// A deadline `span` after `now`; saturates at the end of time.
    #[must_use]
    pub fn after(now: Timestamp, span: Duration) -> Self {
        Self(now.checked_add(span).unwrap_or(Timestamp::MAX))
    }

    /// The instant itself.
    #[must_use]
    pub fn at(self) -> Timestamp {
        self.0
    }

    /// How long until the deadline; zero when it has passed.
    #[must_use]
    pub fn left(self, now: Timestamp) -> Duration {
        Duration::try_from(self.0.duration_since(now)).unwrap_or_default()
    }

    /// The deadline moved forward by `margin`, which is kept for answering.
    #[must_use]
    pub fn less(self, margin: Duration) -> Self {
        Self(self.0.checked_sub(margin).unwrap_or(Timestamp::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    #[test]
    fn a_deadline_already_past_means_unknown() {
        let now = at(1_800_000_000_000);
        let assumed = Deadline::from_context_millis(600_000, now, Duration::from_secs(5));
        assert_eq!(assumed.left(now), Duration::from_secs(5));
    }

    #[test]
    fn a_deadline_is_no_further_away_than_an_invocation_can_last() {
        let now = at(1_800_000_000_000);
        for (stated, left) in [(1_800_000_900_000, 900), (1_800_000_901_000, 900), (253_000_000_000_000, 900)]
        {
            let deadline = Deadline::from_context_millis(stated, now, Duration::from_secs(5));
            assert_eq!(deadline.left(now).as_secs(), left);
        }
        let unusable = Deadline::from_context_millis(u64::MAX, now, Duration::from_secs(5));
        assert_eq!(unusable.left(now), Duration::from_secs(5));
    }

    #[test]
    fn a_stated_deadline_is_kept_and_shrinks_to_zero() {
        let now = at(1_800_000_000_000);
        let stated = Deadline::from_context_millis(1_800_000_000_350, now, Duration::from_secs(5));
        assert_eq!(stated.left(now), Duration::from_millis(350));
        assert_eq!(stated.less(Duration::from_millis(100)).left(now), Duration::from_millis(250));
        assert_eq!(stated.left(at(1_800_000_001_000)), Duration::ZERO);
    }

    #[test]
    fn fresh_ids_are_version_7_of_the_given_time() {
        let id = RandomIds.fresh(at(1_800_000_000_123));
        assert_eq!(id.get_version_num(), 7);
        let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds, nanos / 1_000_000), (1_800_000_000, 123));
        assert_ne!(id, RandomIds.fresh(at(1_800_000_000_123)));
    }
}
