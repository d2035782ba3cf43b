use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::{Bytes, Uuid};

use super::Destination;

/// As many as the largest stream batch has records, so that all of one can come again.
const CAPACITY: usize = 10_000;

/// What this instance has had accepted: event id and destination, the newest 10,000.
///
/// The only state that outlives an invocation. It saves a second publish where a stream batch comes again after a
/// partial failure; it is never what correctness rests on. It is exact, since an event taken for another would be lost.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Memory>>);

/// A full one is half a megabyte if all ids are UUIDs, four times less than with ids and destinations as text.
#[derive(Debug, Default)]
struct Memory {
    /// A destination's place here stands for it.
    destinations: Vec<Destination>,
    uuids: Newest<(Bytes, u16)>,
    others: Newest<(Box<str>, u16)>,
}

impl Seen {
    pub(super) fn add(&self, event_id: &str, destination: &Destination) {
        let mut memory = self.lock();
        let Some(place) = memory.place_or_next(destination) else { return };
        match as_uuid(event_id) {
            Some(uuid) => memory.uuids.add((uuid, place)),
            None => memory.others.add((event_id.into(), place)),
        }
    }

    pub(super) fn has(&self, event_id: &str, destination: &Destination) -> bool {
        let memory = self.lock();
        let Some(place) = memory.place(destination) else { return false };
        match as_uuid(event_id) {
            Some(uuid) => memory.uuids.members.contains(&(uuid, place)),
            None => memory.others.members.contains(&(event_id.into(), place)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn place(&self, destination: &Destination) -> Option<u16> {
        let place = self.destinations.iter().position(|known| known == destination)?;
        u16::try_from(place).ok()
    }

    fn place_or_next(&mut self, destination: &Destination) -> Option<u16> {
        self.place(destination).or_else(|| {
            self.destinations.push(destination.clone());
            u16::try_from(self.destinations.len() - 1).ok()
        })
    }
}

/// The id as a UUID, if it is spelled as `Display` would spell that: two spellings are two rows.
fn as_uuid(id: &str) -> Option<Bytes> {
    let uuid = Uuid::try_parse(id).ok()?;
    let mut spelled = Uuid::encode_buffer();
    (uuid.hyphenated().encode_lower(&mut spelled) == id).then(|| uuid.into_bytes())
}

/// A set that forgets the oldest beyond [`CAPACITY`].
#[derive(Debug)]
struct Newest<T> {
    members: HashSet<T>,
    order: VecDeque<T>,
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self { members: HashSet::new(), order: VecDeque::new() }
    }
}

impl<T: Clone + Eq + Hash> Newest<T> {
    fn add(&mut self, member: T) {
        if !self.members.insert(member.clone()) {
            return;
        }
        if self.order.len() == CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.members.remove(&oldest);
        }
        self.order.push_back(member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(name: &str) -> Destination {
        format!("arn:aws:sns:r:1:{name}").parse().unwrap()
    }

    #[test]
    fn it_tells_ids_and_destinations_apart_exactly() {
        let (a, b) = (destination("a"), destination("b"));
        let spellings = [
            "0190a3e4-7b1c-7def-8a00-000000000001",
            "0190A3E4-7B1C-7DEF-8A00-000000000001",
            "0190a3e47b1c7def8a00000000000001",
            "{0190a3e4-7b1c-7def-8a00-000000000001}",
            "0190a3e4-7b1c-7def-8a00-000000000002",
            "42",
            "",
        ];
        for known in spellings {
            let seen = Seen::default();
            seen.add(known, &b);
            for id in spellings {
                assert_eq!(seen.has(id, &b), id == known, "{id} after {known}");
                assert!(!seen.has(id, &a), "{id} after {known}");
            }
        }
    }

    #[test]
    fn it_keeps_the_newest() {
        let (seen, to) = (Seen::default(), destination("a"));
        let ids: Vec<String> = (0..=CAPACITY).map(|n| Uuid::from_u128(n as u128).to_string()).collect();
        for id in &ids {
            seen.add(id, &to);
        }
        seen.add(&ids[1], &to);
        let kept = |id: &String| seen.has(id, &to);
        assert!(!kept(&ids[0]) && ids[1..].iter().all(kept));
        let memory = seen.lock();
        assert_eq!((memory.uuids.members.len(), memory.uuids.order.len()), (CAPACITY, CAPACITY));
    }
}
