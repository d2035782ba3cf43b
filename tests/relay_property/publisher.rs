//! Destinations in bad weather.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use oncebox::relay::{Destination, Outgoing, PublishError, Publisher};

use crate::scenario::{Bad, Call, Entry, Said};
use oncebox_tests::on_its_way;

/// All destinations. They note what they accept, and what they should not have been sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct WeatherPublisher(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    coming: VecDeque<Call<Said>>,
    /// Event id and destination name.
    accepted: Vec<(String, String)>,
    /// What is always said to an event at a destination.
    always: HashMap<(String, String), PublishError>,
    committed: HashMap<String, String>,
    wrong: Vec<String>,
}

impl WeatherPublisher {
    pub(crate) fn new(coming: &[Call<Said>]) -> Self {
        let coming = coming.to_vec().into();
        Self(Arc::new(Mutex::new(State { coming, ..State::default() })))
    }

    pub(crate) fn clear_up(&self) {
        self.0.lock().unwrap().coming.clear();
    }

    /// From now on the event may be published, with this body.
    pub(crate) fn committed(&self, event_id: &str, body: &str) {
        self.0.lock().unwrap().committed.insert(event_id.to_owned(), body.to_owned());
    }

    pub(crate) fn always(&self, event_id: &str, destinations: &[Destination], bad: Bad) {
        let (place, error) = match bad {
            Bad::Refused(place) => (place, PublishError::Refused("too long".to_owned())),
            Bad::NotNow(place) => (place, PublishError::NotNow("not today".to_owned())),
        };
        let name = destinations[place % destinations.len()].name().to_owned();
        self.0.lock().unwrap().always.insert((event_id.to_owned(), name), error);
    }

    /// Event id and destination name, in the order of acceptance.
    pub(crate) fn accepted(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().accepted.clone()
    }

    /// What should not have been sent.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.0.lock().unwrap().wrong.clone()
    }
}

impl State {
    fn look(&mut self, destination: &Destination, entries: &[Outgoing]) {
        if entries.is_empty() || entries.len() > 10 {
            self.wrong.push(format!("a call with {} entries", entries.len()));
        }
        let mut groups = HashSet::new();
        for entry in entries {
            match self.committed.get(&entry.event_id) {
                None => self.wrong.push(format!("{} was published and not committed", entry.event_id)),
                Some(body) if *body != entry.body => {
                    self.wrong.push(format!("{} was published with another body", entry.event_id));
                }
                Some(_) => {}
            }
            if destination.is_fifo() && !groups.insert(&entry.group) {
                self.wrong.push(format!("two of {} in one call to {destination}", entry.group));
            }
        }
    }

    fn answer(
        &mut self,
        destination: &Destination,
        entries: &[Outgoing],
        said: Said,
    ) -> Vec<Result<(), PublishError>> {
        let mut results = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let each = match said {
                Said::Accepted | Said::Short(_) => Entry::Accepted,
                Said::Failed => Entry::NotNow,
                Said::LostAnswer => Entry::LostAnswer,
                Said::Each(entries) => entries[place % entries.len()],
            };
            let always = self.always.get(&(entry.event_id.clone(), destination.name().to_owned()));
            let not_now = || Err(PublishError::NotNow("throttled".to_owned()));
            let (taken, result) = match (always, each) {
                // Who is not reached does not refuse.
                (_, Entry::NotNow) => (false, not_now()),
                (Some(error), _) => (false, Err(error.clone())),
                (None, Entry::Accepted) => (true, Ok(())),
                (None, Entry::Refused) => (false, Err(PublishError::Refused("no".to_owned()))),
                (None, Entry::LostAnswer) => (true, not_now()),
            };
            if taken {
                self.accepted.push((entry.event_id.clone(), destination.name().to_owned()));
            }
            results.push(result);
        }
        if let Said::Short(mentioned) = said {
            results.truncate(mentioned);
        }
        results
    }
}

impl Publisher for WeatherPublisher {
    fn publish<'a>(
        &'a self,
        destination: &'a Destination,
        entries: &'a [Outgoing],
    ) -> BoxFuture<'a, Vec<Result<(), PublishError>>> {
        let (state, destination, entries) = (Arc::clone(&self.0), destination.clone(), entries.to_vec());
        let call = {
            let mut state = self.0.lock().unwrap();
            state.look(&destination, &entries);
            state.coming.pop_front()
        };
        let Call { before, after, answer } =
            call.unwrap_or(Call { before: 0, after: 0, answer: Said::default() });
        Box::pin(on_its_way(before, after, async move {
            state.lock().unwrap().answer(&destination, &entries, answer)
        }))
    }
}
