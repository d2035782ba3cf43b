use super::Destination;
use crate::outbox::Row;

/// How far one row has come at each of its destinations.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    pub(super) row: &'a Row,
    pub(super) destinations: &'a [Destination],
    pub(super) states: Vec<State>,
    /// Already quarantined: the row is not there any more.
    pub(super) gone: bool,
}

/// How far a row has come at one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Not tried, or not yet accepted for a passing reason.
    Owed(Option<String>),
    /// Accepted.
    Accepted,
    /// Refused for good.
    Refused(String),
}

/// What is to be done about a row after sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// All destinations have accepted it.
    Finish,
    /// Some destinations refuse it for good, and all others have accepted it.
    Quarantine,
    /// It has to come again, for this reason.
    Again(String),
}

impl<'a> Progress<'a> {
    pub(super) fn new(row: &'a Row, destinations: &'a [Destination]) -> Self {
        Self { row, destinations, states: vec![State::Owed(None); destinations.len()], gone: false }
    }

    /// Positions of destinations that still have to be tried, of the kind asked for.
    pub(super) fn owed(&self, fifo: bool) -> impl Iterator<Item = usize> {
        let pairs = self.destinations.iter().zip(&self.states).enumerate();
        pairs
            .filter(move |(_, (destination, state))| {
                destination.is_fifo() == fifo && matches!(state, State::Owed(_))
            })
            .map(|(position, _)| position)
    }

    pub(super) fn next(&self) -> Next {
        let owed = self.states.iter().zip(self.destinations).find_map(|(state, destination)| match state {
            State::Owed(why) => Some(format!("{destination}: {}", why.as_deref().unwrap_or("not tried"))),
            _ => None,
        });
        match owed {
            Some(reason) => Next::Again(reason),
            None if self.states.iter().all(|state| *state == State::Accepted) => Next::Finish,
            None => Next::Quarantine,
        }
    }

    /// Whether a FIFO destination refuses it.
    pub(super) fn is_refused_in_order(&self) -> bool {
        let mut pairs = self.destinations.iter().zip(&self.states);
        pairs.any(|(destination, state)| destination.is_fifo() && matches!(state, State::Refused(_)))
    }

    /// Whether it was sent anywhere, in vain or not.
    pub(super) fn was_tried(&self) -> bool {
        self.states.iter().any(|state| *state != State::Owed(None))
    }

    /// Names of the destinations that have not accepted the row.
    pub(super) fn not_accepted(&self) -> Vec<String> {
        let pairs = self.destinations.iter().zip(&self.states);
        pairs
            .filter(|(_, state)| **state != State::Accepted)
            .map(|(destination, _)| destination.to_string())
            .collect()
    }

    /// Who refuses the row, and why, in words.
    pub(super) fn refused_because(&self) -> String {
        let reasons: Vec<String> = self.refusals().iter().map(|(to, why)| format!("{to}: {why}")).collect();
        reasons.join("; ")
    }

    /// Destinations that refuse the row, with their reasons.
    pub(super) fn refusals(&self) -> Vec<(&'a Destination, &str)> {
        let pairs = self.destinations.iter().zip(&self.states);
        pairs
            .filter_map(|(destination, state)| match state {
                State::Refused(reason) => Some((destination, reason.as_str())),
                _ => None,
            })
            .collect()
    }
}
