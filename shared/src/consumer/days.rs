use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::time::Duration;

/// A number of whole days, from 1 to 3650. Default 90: the inbox window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days(NonZeroU16);

/// A text that is no number of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a whole number of days from 1 to 3650 is needed")]
pub struct NotDays;

impl Days {
    const MAX: u16 = 3650;

    /// `days`, if it is within the bounds.
    #[must_use]
    pub fn new(days: u16) -> Option<Self> {
        NonZeroU16::new(days).filter(|days| days.get() <= Self::MAX).map(Self)
    }
}

impl Default for Days {
    fn default() -> Self {
        Self(NonZeroU16::MIN.saturating_add(89))
    }
}

impl FromStr for Days {
    type Err = NotDays;

    fn from_str(text: &str) -> Result<Self, NotDays> {
        text.parse().ok().and_then(Self::new).ok_or(NotDays)
    }
}

impl From<Days> for Duration {
    fn from(days: Days) -> Self {
        Self::from_secs(u64::from(days.0.get()) * 86_400)
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} days", self.0)
    }
}
