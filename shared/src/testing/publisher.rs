use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::relay::{Destination, Outgoing, PublishError, Publisher};

/// A [`Publisher`] that keeps what it accepts, and refuses what a test tells it to. Clones are one publisher.
#[derive(Debug, Clone, Default)]
pub struct MemoryPublisher {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    accepted: Vec<(Destination, Outgoing)>,
    calls: Vec<usize>,
    refusals: VecDeque<(String, PublishError)>,
}

impl MemoryPublisher {
    /// Refuses the next entry with this event id, once.
    pub fn refuse(&self, event_id: &str, error: PublishError) {
        self.lock().refusals.push_back((event_id.to_owned(), error));
    }

    /// What was accepted, in order.
    #[must_use]
    pub fn accepted(&self) -> Vec<(Destination, Outgoing)> {
        self.lock().accepted.clone()
    }

    /// The number of entries of each call, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<usize> {
        self.lock().calls.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Publisher for MemoryPublisher {
    fn publish<'a>(
        &'a self,
        destination: &'a Destination,
        entries: &'a [Outgoing],
    ) -> BoxFuture<'a, Vec<Result<(), PublishError>>> {
        Box::pin(async move {
            let mut state = self.lock();
            state.calls.push(entries.len());
            let mut results = Vec::with_capacity(entries.len());
            for entry in entries {
                let refusal = state.refusals.iter().position(|(id, _)| *id == entry.event_id);
                match refusal.and_then(|at| state.refusals.remove(at)) {
                    Some((_, error)) => results.push(Err(error)),
                    None => {
                        state.accepted.push((destination.clone(), entry.clone()));
                        results.push(Ok(()));
                    }
                }
            }
            results
        })
    }
}
