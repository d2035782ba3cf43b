//! Waiting between the attempts at a single write.

use aws_sdk_dynamodb::types::Update;
use futures::future::BoxFuture;

use super::Backoff;
use crate::store::{Store, WriteError};
use crate::time::{Clock, Deadline};

/// A single write that did not end in `Ok`.
#[derive(Debug)]
pub(crate) struct NotWritten {
    pub(crate) error: WriteError,
    /// Whether an attempt had no definite answer. If so, what made a condition false may be that attempt's own write.
    #[cfg_attr(
        not(feature = "consumer"),
        allow(dead_code, reason = "only a consumer's conditions can be met by its own write")
    )]
    pub(crate) open: bool,
}

/// Sends a single write until it is settled, or until `deadline`. As with [`transact`](super::transact), an attempt
/// without a definite answer is what is reported, unless a condition settles it.
pub(crate) async fn write<'a>(
    clock: &dyn Clock,
    backoff: Backoff,
    deadline: Deadline,
    send: impl Fn() -> BoxFuture<'a, Result<(), WriteError>>,
) -> Result<(), NotWritten> {
    let mut open: Option<WriteError> = None;
    let mut attempt = 0_u32;
    loop {
        let error = match send().await {
            Ok(()) => return Ok(()),
            Err(error @ WriteError::ConditionFailed(_)) => {
                return Err(NotWritten { error, open: open.is_some() });
            }
            Err(error) => error,
        };
        let refused = matches!(error, WriteError::Refused { .. });
        let worst = open.take().unwrap_or(error);
        let unconfirmed = matches!(worst, WriteError::Unconfirmed { .. });
        let wait = backoff.delay(attempt);
        if refused || wait >= deadline.left(clock.now()) {
            return Err(NotWritten { error: worst, open: unconfirmed });
        }
        open = unconfirmed.then_some(worst);
        attempt = attempt.saturating_add(1);
        tokio::time::sleep(wait).await;
    }
}

/// Sends an idempotent update until it is confirmed, or until `deadline`.
pub(crate) async fn update(
    store: &dyn Store,
    clock: &dyn Clock,
    backoff: Backoff,
    deadline: Deadline,
    update: &Update,
) -> Result<(), WriteError> {
    write(clock, backoff, deadline, || store.update(update.clone())).await.map_err(|failed| failed.error)
}
