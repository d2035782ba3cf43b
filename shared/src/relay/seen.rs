use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use super::Destination;

/// What this instance has had accepted: event id and destination, the newest 10,000.
///
/// The only state that outlives an invocation. It saves a second publish where a stream batch comes again after a
/// partial failure; it is never what correctness rests on.
#[derive(Debug, Clone)]
pub(super) struct Seen(Arc<Mutex<LruCache<(String, Destination), ()>>>);

const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

impl Default for Seen {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(CAPACITY))))
    }
}

impl Seen {
    pub(super) fn add(&self, event_id: &str, destination: &Destination) {
        self.lock().put((event_id.to_owned(), destination.clone()), ());
    }

    pub(super) fn has(&self, event_id: &str, destination: &Destination) -> bool {
        self.lock().get(&(event_id.to_owned(), destination.clone())).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<(String, Destination), ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
