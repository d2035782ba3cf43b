use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of whole days, from 0 to 3650.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days(u16);

/// A text that is no number of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a whole number of days from 0 to 3650 is needed")]
pub struct NotDays;

impl Days {
    const MAX: u16 = 3650;

    /// `days`; more than 3650 become 3650.
    #[must_use]
    pub const fn new(days: u16) -> Self {
        Self(if days > Self::MAX { Self::MAX } else { days })
    }

    /// How many.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl FromStr for Days {
    type Err = NotDays;

    fn from_str(text: &str) -> Result<Self, NotDays> {
        match text.parse() {
            Ok(days) if days <= Self::MAX => Ok(Self(days)),
            _ => Err(NotDays),
        }
    }
}

impl From<Days> for Duration {
    fn from(days: Days) -> Self {
        Self::from_secs(u64::from(days.0) * 86_400)
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "day" } else { "days" })
    }
}
