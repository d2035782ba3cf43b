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
    refusals: Vec<Refusal>,
}

#[derive(Debug)]
struct Refusal {
    event_id: String,
    destination: Option<String>,
    error: PublishError,
    times: usize,
}

impl MemoryPublisher {
    /// Refuses the event at every destination, so many times in all.
    pub fn refuse(&self, event_id: &str, error: PublishError, times: usize) {
        self.refuse_at(event_id, None, error, times);
    }

    /// Refuses the event at one destination, or at every one, so many times.
    pub fn refuse_at(&self, event_id: &str, destination: Option<&str>, error: PublishError, times: usize) {
        let (event_id, destination) = (event_id.to_owned(), destination.map(str::to_owned));
        self.lock().refusals.push(Refusal { event_id, destination, error, times });
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
                let refusal = state.refusals.iter_mut().find(|refusal| {
                    let here = refusal.destination.as_deref().is_none_or(|name| name == destination.name());
                    refusal.times > 0 && here && refusal.event_id == entry.event_id
                });
                match refusal {
                    Some(refusal) => {
                        refusal.times -= 1;
                        results.push(Err(refusal.error.clone()));
                    }
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
