use super::super::progress::{Next, Progress, State};
use super::super::send::Sender;
use super::super::{Destination, RouteError};
use super::Replay;
use crate::event::Envelope;
use crate::outbox::Row;
use crate::quarantine::{Case, CaseKey, Quarantine, QuarantineError, SettleError};
use crate::time::Deadline;

/// A case that was not sent, or not let go of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetryError {
    /// There is no such case.
    #[error("there is no such case in the quarantine: it was settled meanwhile")]
    Gone,
    /// A consumer's case owes nothing to a destination.
    #[error("the case is {owner}'s, a consumer's: send it to that consumer's queue with Replay::redrive")]
    Consumers {
        /// The consumer.
        owner: String,
    },
    /// A destination that is owed cannot be read.
    #[error("the case names a destination that cannot be used")]
    Destination(#[source] RouteError),
    /// Not all destinations have accepted it; the case stays, with those that have not.
    #[error("not accepted everywhere, and the case stays: {0}")]
    NotAccepted(String),
    /// The quarantine could not be read or written. What was accepted is accepted: a later retry sends it again.
    #[error("the quarantine table failed")]
    Settle(#[from] SettleError),
    /// What is still owed could not be written down. A later retry sends to all that were owed before.
    #[error("the quarantine table did not take what is still owed")]
    Keep(#[from] QuarantineError),
}

impl Replay {
    /// Sends a relay's case to the destinations that have not accepted it, and to no other; then it is out of the
    /// quarantine. Dying in between costs a second publish with the same event id.
    ///
    /// # Errors
    /// [`RetryError`]; the case is then still in the quarantine, unless it was gone before.
    pub async fn quarantined(
        &self,
        quarantine: &Quarantine,
        key: &CaseKey,
        deadline: Deadline,
    ) -> Result<(), RetryError> {
        let stored = quarantine.load(key).await?.ok_or(RetryError::Gone)?;
        if stored.case.destinations.is_empty() {
            return Err(RetryError::Consumers { owner: stored.case.owner });
        }
        let destinations = stored
            .case
            .destinations
            .iter()
            .map(|name| self.destination(name))
            .collect::<Result<Vec<_>, RouteError>>()
            .map_err(RetryError::Destination)?;
        // The deduplication id of the first publication: a destination that has it after all, and lost its answer, does
        // not deliver it twice.
        let left = self.send_case(&self.sender.clone(), &stored.case, &destinations, deadline).await;
        if left.is_empty() {
            return Ok(quarantine
                .settle(&stored, self.keeper.ids.as_ref(), self.keeper.clock.as_ref(), deadline)
                .await?);
        }
        let (owed, reasons): (Vec<String>, Vec<String>) =
            left.into_iter().map(|(to, why)| (to.clone(), format!("{to}: {why}"))).unzip();
        let reasons = reasons.join("; ");
        let case = Case {
            destinations: owed,
            detail: reasons.clone(),
            attempts: stored.case.attempts.saturating_add(1),
            ..stored.case
        };
        quarantine.keep(&case, self.keeper.clock.as_ref(), self.keeper.ids.as_ref(), deadline).await?;
        Err(RetryError::NotAccepted(reasons))
    }

    /// Sends a consumer's case to `queue`, the queue that it came from, and takes it out of the quarantine. If it fails
    /// there once more, the consumer quarantines it anew.
    ///
    /// # Errors
    /// [`RetryError`]; the case is then still in the quarantine, unless it was gone before.
    pub async fn redrive(
        &self,
        quarantine: &Quarantine,
        key: &CaseKey,
        queue: &Destination,
        deadline: Deadline,
    ) -> Result<(), RetryError> {
        let stored = quarantine.load(key).await?.ok_or(RetryError::Gone)?;
        let left =
            self.send_case(&self.sender_again(), &stored.case, std::slice::from_ref(queue), deadline).await;
        if let Some((to, why)) = left.first() {
            return Err(RetryError::NotAccepted(format!("{to}: {why}")));
        }
        Ok(quarantine.settle(&stored, self.keeper.ids.as_ref(), self.keeper.clock.as_ref(), deadline).await?)
    }

    /// As the routes have it, with its bounds; by its name alone where they do not have it any more.
    fn destination(&self, name: &str) -> Result<Destination, RouteError> {
        self.routes.all().find(|one| one.name() == name).cloned().map_or_else(|| name.parse(), Ok)
    }

    /// Answers the destinations that did not accept it, with the reasons.
    async fn send_case(
        &self,
        sender: &Sender,
        case: &Case,
        destinations: &[Destination],
        deadline: Deadline,
    ) -> Vec<(String, String)> {
        let row = row_of(case);
        let mut progress = [Progress::new(&row, destinations)];
        sender.send(&mut progress, &self.keeper, deadline.less(self.margin)).await;
        let [progress] = progress;
        if progress.next() == Next::Finish {
            return Vec::new();
        }
        let pairs = destinations.iter().zip(&progress.states);
        pairs
            .filter_map(|(destination, state)| {
                let why = match state {
                    State::Accepted => return None,
                    State::Refused(why) | State::Owed(Some(why)) => why.clone(),
                    State::Owed(None) => "not tried".to_owned(),
                };
                Some((destination.name().to_owned(), why))
            })
            .collect()
    }
}

/// The row that the case was, or would have been.
fn row_of(case: &Case) -> Row {
    let envelope = Envelope::parse(&case.body).ok();
    let aggregate_type = envelope.as_ref().map_or("", |envelope| &*envelope.aggregate_type);
    Row {
        pk: format!("{aggregate_type}#{}", case.aggregate_id),
        sk: envelope.as_ref().map_or_else(|| case.message_id.clone(), |envelope| envelope.id.to_string()),
        event_type: case.event_type.clone(),
        sequence: envelope.as_ref().and_then(|envelope| envelope.sequence),
        body: case.body.clone(),
        route: String::new(),
        region: None,
        created_at: 0,
    }
}
