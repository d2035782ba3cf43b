use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use crate::time::Clock;

/// A clock that stands still until it is moved. Clones are one clock.
///
/// ```
/// use std::time::Duration;
///
/// use oncebox::testing::TestClock;
/// use oncebox::time::Clock;
///
/// let clock = TestClock::at_ms(1_800_000_000_000);
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(clock.now().as_millisecond(), 1_800_000_002_000);
/// ```
#[derive(Debug, Clone)]
pub struct TestClock {
    now_ms: Arc<AtomicI64>,
}

impl TestClock {
    /// A clock that stands at `millis` since 1970.
    #[must_use]
    pub fn at_ms(millis: i64) -> Self {
        Self { now_ms: Arc::new(AtomicI64::new(millis)) }
    }

    /// Sets the clock, backwards too.
    pub fn set_ms(&self, millis: i64) {
        self.now_ms.store(millis, Ordering::SeqCst);
    }

    /// Moves the clock on; below a millisecond nothing moves.
    pub fn advance(&self, span: Duration) {
        self.now_ms.fetch_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

/// 2027-01-15T08:00:00Z, a time that every kind of timestamp can hold.
impl Default for TestClock {
    fn default() -> Self {
        Self::at_ms(1_800_000_000_000)
    }
}

impl Clock for TestClock {
    /// Times that a [`Timestamp`] cannot hold become its last one.
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now_ms.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}
