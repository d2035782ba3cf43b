//! What destinations said, by destination.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Destination;
use super::progress::State;
use crate::telemetry::{Emf, METRICS, dimension_value};

/// Calls and outcomes at every destination of one invocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally(BTreeMap<String, Outcomes>);

/// At one destination. An entry that was tried twice counts twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Outcomes {
    calls: usize,
    accepted: usize,
    refused: usize,
    not_accepted: usize,
}

impl Tally {
    pub(super) fn call(&mut self, destination: &Destination) {
        self.at(destination).calls += 1;
    }

    pub(super) fn outcome(&mut self, destination: &Destination, state: &State) {
        let outcomes = self.at(destination);
        match state {
            State::Accepted => outcomes.accepted += 1,
            State::Refused(_) => outcomes.refused += 1,
            State::Owed(_) => outcomes.not_accepted += 1,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (name, outcomes) in &other.0 {
            let all = self.0.entry(name.clone()).or_default();
            all.calls += outcomes.calls;
            all.accepted += outcomes.accepted;
            all.refused += outcomes.refused;
            all.not_accepted += outcomes.not_accepted;
        }
    }

    pub(super) fn calls(&self) -> usize {
        self.0.values().map(|outcomes| outcomes.calls).sum()
    }

    fn at(&mut self, destination: &Destination) -> &mut Outcomes {
        self.0.entry(destination.name().to_owned()).or_default()
    }

    /// One line, with metrics, for each destination that was called.
    pub(super) fn report(&self, now: Timestamp) {
        for (destination, outcomes) in &self.0 {
            let Outcomes { calls, accepted, refused, not_accepted } = *outcomes;
            let mut emf = Emf::new(now, "destination");
            emf.count("PublishCalls", calls);
            emf.count("Accepted", accepted);
            emf.count("Refused", refused);
            emf.count("NotAccepted", not_accepted);
            let destination = dimension_value(destination);
            for emf in emf.into_lines() {
                tracing::info!(target: METRICS, destination, calls, accepted, refused, not_accepted, emf, "destination done");
            }
        }
    }
}
