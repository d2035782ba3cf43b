use std::error::Error as StdError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::consumer::Visibility;

/// A [`Visibility`] that keeps what it is asked for. Clones are one.
///
/// ```
/// use oncebox::consumer::Visibility;
/// use oncebox::testing::kit::MemoryVisibility;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let visibility = MemoryVisibility::default();
/// visibility.fail_next();
/// assert!(visibility.change("queue", &[("receipt".to_owned(), 30)]).await.is_err());
/// assert!(visibility.change("queue", &[("receipt".to_owned(), 30)]).await.is_ok());
/// assert_eq!(visibility.changes(), [("receipt".to_owned(), 30)]);
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryVisibility(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    changes: Vec<(String, u32)>,
    failures: usize,
}

/// The source of a scripted failure.
#[derive(Debug, thiserror::Error)]
#[error("scripted by the test")]
struct Scripted;

impl MemoryVisibility {
    /// Refuses one more call.
    pub fn fail_next(&self) {
        self.lock().failures += 1;
    }

    /// Every receipt handle with the seconds that were asked for, in order.
    #[must_use]
    pub fn changes(&self) -> Vec<(String, u32)> {
        self.lock().changes.clone()
    }

    /// Refusals that nobody has met yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.lock().failures
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visibility for MemoryVisibility {
    fn change<'a>(
        &'a self,
        _queue_url: &'a str,
        entries: &'a [(String, u32)],
    ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>> {
        Box::pin(async move {
            let mut state = self.lock();
            if let Some(left) = state.failures.checked_sub(1) {
                state.failures = left;
                return Err(Scripted.into());
            }
            state.changes.extend_from_slice(entries);
            Ok(())
        })
    }
}
