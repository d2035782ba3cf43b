//! How long records of this invocation take, so that none is started that cannot finish.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::event::{Envelope, Malformed};

/// The longest time that an event of each type has taken. What its neighbours needed is the only thing known about the
/// next one; one type's slowness says nothing about another's.
#[derive(Debug, Default)]
pub(super) struct Pace {
    longest: Mutex<HashMap<String, Duration>>,
}

impl Pace {
    /// Whether a record can be expected to finish within `left`.
    pub(super) fn fits(&self, body: &Result<Arc<Envelope>, Malformed>, left: Duration) -> bool {
        let known = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        !left.is_zero() && known.get(type_of(body)).is_none_or(|longest| left >= *longest)
    }

    /// Notes how long a record has taken.
    pub(super) fn took(&self, body: &Result<Arc<Envelope>, Malformed>, time: Duration) {
        let mut known = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get_mut(type_of(body)) {
            Some(longest) => *longest = time.max(*longest),
            None => drop(known.insert(type_of(body).to_owned(), time)),
        }
    }
}

fn type_of(body: &Result<Arc<Envelope>, Malformed>) -> &str {
    body.as_ref().map(|envelope| envelope.event_type.as_str()).unwrap_or_default()
}
