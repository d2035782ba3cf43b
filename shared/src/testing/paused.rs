use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::time::{Clock, Deadline};

/// The clock of a test that runs under tokio's paused time: whatever sleeps moves it, and nothing else does.
///
/// ```
/// use std::time::Duration;
///
/// use oncebox::testing::PausedClock;
/// use oncebox::time::Clock;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let clock = PausedClock::start();
/// let before = clock.now();
/// tokio::time::sleep(Duration::from_secs(5)).await;
/// assert_eq!(clock.now().duration_since(before).as_secs(), 5);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PausedClock {
    start: Timestamp,
    origin: Instant,
}

impl PausedClock {
    /// Starts at 2027-01-15T08:00:00Z. To be called inside the paused runtime.
    #[must_use]
    pub fn start() -> Self {
        Self { start: super::TestClock::default().now(), origin: Instant::now() }
    }

    /// A deadline `millis` from now.
    #[must_use]
    pub fn deadline_in(&self, millis: u64) -> Deadline {
        Deadline::after(self.now(), Duration::from_millis(millis))
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        self.start.checked_add(self.origin.elapsed()).unwrap_or(Timestamp::MAX)
    }
}
