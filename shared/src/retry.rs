//! Waiting between attempts, and the loop around `TransactWriteItems` that the SDK does not have.

#[cfg(any(feature = "consumer", feature = "relay"))]
mod write;

use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::store::{CancelReason, Store, TransactError};
use crate::time::{Clock, Deadline};

#[cfg(any(feature = "consumer", feature = "relay"))]
pub(crate) use write::update;
#[cfg(feature = "consumer")]
pub(crate) use write::{NotWritten, write};

/// Exponential back-off with full jitter: attempt `n` waits a random time below `min(cap, base * 2^n)`.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use oncebox::retry::Backoff;
///
/// let backoff = Backoff { base: Duration::from_millis(20), cap: Duration::from_secs(1) };
/// assert!(backoff.delay(3) < Duration::from_millis(160));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first wait. Default 20 ms.
    pub base: Duration,
    /// The longest wait of all. Default 1 s.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_millis(20), cap: Duration::from_secs(1) }
    }
}

impl Backoff {
    /// A random wait before the attempt after `attempt` (from 0).
    #[must_use]
    pub fn delay(&self, attempt: u32) -> Duration {
        let ceiling = self.base.saturating_mul(2_u32.saturating_pow(attempt.min(20))).min(self.cap);
        ceiling.mul_f64(fastrand::f64())
    }
}

/// Sends the same transaction under one token until it is settled, or until `deadline`.
///
/// `worth_a_retry` judges a cancellation; throttles and unknown outcomes are always tried again. If any attempt had
/// no definite answer and no later one brought it, the result is [`TransactError::Unknown`], also when the last
/// attempt was merely throttled: the earlier one may have been applied.
pub(crate) async fn transact(
    store: &dyn Store,
    clock: &dyn Clock,
    backoff: Backoff,
    deadline: Deadline,
    token: &str,
    items: &[TransactWriteItem],
    worth_a_retry: impl Fn(&[CancelReason]) -> bool,
) -> Result<(), TransactError> {
    let mut open: Option<TransactError> = None;
    let mut attempt = 0_u32;
    loop {
        let error = match store.transact(items.to_vec(), token).await.map_err(|error| in_place(error, items))
        {
            Ok(()) => return Ok(()),
            // DynamoDB answers a repeated token from memory, so a false condition says that no earlier attempt
            // was applied either.
            Err(TransactError::Cancelled(reasons)) if !worth_a_retry(&reasons) => {
                return Err(TransactError::Cancelled(reasons));
            }
            Err(error @ TransactError::Refused { .. }) => return Err(open.unwrap_or(error)),
            Err(error) => error,
        };
        // A conflict may be with our own earlier attempt: it does not settle an open one.
        let worst = match open.take() {
            Some(unknown @ TransactError::Unknown { .. }) => unknown,
            _ => error,
        };
        let wait = backoff.delay(attempt);
        if wait >= deadline.left(clock.now()) {
            return Err(worst);
        }
        open = Some(worst);
        attempt = attempt.saturating_add(1);
        tokio::time::sleep(wait).await;
    }
}

/// Reasons that are not one for each action say nothing about positions, and are dropped.
fn in_place(error: TransactError, items: &[TransactWriteItem]) -> TransactError {
    match error {
        TransactError::Cancelled(reasons) if reasons.len() != items.len() => {
            TransactError::Cancelled(Vec::new())
        }
        other => other,
    }
}
