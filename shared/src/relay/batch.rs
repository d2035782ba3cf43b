use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use futures::stream::{self as streams, StreamExt};

use super::keeper::Keeper;
use super::progress::{Next, Progress};
use super::report::{self, Counts};
use super::send::Sender;
use super::stream::{self, Ignored, StreamRecord};
use super::{AfterPublish, Publisher, Routes};
use crate::outbox::{Row, is_published};
use crate::quarantine::Quarantine;
use crate::store::Store;
use crate::telemetry::chain;
use crate::time::{Clock, Deadline, Ids, SystemClock};

/// Reads in flight at once.
const CONCURRENT_READS: usize = 8;

/// Publishes what an outbox table's stream brings, then deletes the rows or [marks them](AfterPublish::Keep).
///
/// A row is published before it is deleted or marked: dying in between costs a second publish with the same event id, never a
/// loss. Rows of one aggregate reach a FIFO destination in order; standard destinations keep none.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use oncebox::quarantine::Quarantine;
/// use oncebox::relay::{Publisher, Relay, Routes};
/// use oncebox::store::Store;
///
/// fn relay(store: Arc<dyn Store>, publisher: Arc<dyn Publisher>, routes: Routes) -> Relay {
///     let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
///     Relay::new(store, publisher, "outbox", routes).quarantine(quarantine)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Relay {
    pub(super) sender: Sender,
    pub(super) keeper: Keeper,
    pub(super) routes: Routes,
    grace: Duration,
    margin: Duration,
}

/// An invocation that fails as a whole, so that the batch comes again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvocationError {
    /// The event is no stream batch.
    #[error("the event is no DynamoDB stream batch: it needs a list \"Records\"; {0}")]
    NotABatch(String),
    /// A record that has to come again cannot be named.
    #[error(
        "a stream record has to come again ({reason}), but it has no SequenceNumber to answer; the whole batch is given back rather than losing it in silence"
    )]
    Unidentified {
        /// Why the record failed.
        reason: String,
    },
}

/// What became of one record; `Err` is why it has to come again.
type Settled = Result<(), String>;

impl Relay {
    /// Publishes rows of `table` along `routes`.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        publisher: Arc<dyn Publisher>,
        table: impl Into<Arc<str>>,
        routes: Routes,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Self {
            sender: Sender::new(publisher, Arc::clone(&clock)),
            keeper: Keeper::new(store, table.into(), "outbox-relay", clock),
            routes,
            grace: Duration::from_secs(300),
            margin: Duration::from_millis(500),
        }
    }

    /// Where rows go that a destination refuses for good. Without it they stay in the outbox and hold their shard until
    /// the mapping gives up on them.
    #[must_use]
    pub fn quarantine(mut self, quarantine: Quarantine) -> Self {
        self.keeper.quarantine = Some(quarantine);
        self
    }

    /// What becomes of published rows, default [`AfterPublish::Delete`].
    #[must_use]
    pub fn after_publish(mut self, after: AfterPublish) -> Self {
        self.keeper.after = after;
        self
    }

    /// The sweeper's grace period, default 5 min: a stream record that is older is looked up first, since the sweeper
    /// may have published its row.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.sender.clock = Arc::clone(&clock);
        self.keeper.clock = clock;
        self.keeper.ids = ids;
        self
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        self.keeper.clock.as_ref()
    }

    /// Handles one Lambda invocation. The answer names at most one record: the one with the lowest position that has
    /// to come again. Lambda sends it and everything after it once more.
    ///
    /// # Errors
    /// [`InvocationError`] when a record that has to come again has no sequence number to name it by.
    pub async fn handle(
        &self,
        event: &str,
        deadline: Deadline,
    ) -> Result<DynamoDbEventResponse, InvocationError> {
        let records = stream::split(event).map_err(|error| InvocationError::NotABatch(chain(&error)))?;
        let mut counts = Counts { records: records.len(), ..Counts::default() };
        let mut settled: Vec<Settled> = vec![Ok(()); records.len()];
        let mut rows: Vec<(usize, Progress<'_>)> = Vec::new();
        let candidates = records.iter().enumerate().filter_map(|(index, record)| match &record.content {
            Ok(Ok(row)) => Some((index, row)),
            Ok(Err(ignored)) => {
                match ignored {
                    Ignored::NotAnInsert => counts.not_inserts += 1,
                    Ignored::OtherRegion => counts.other_region += 1,
                }
                None
            }
            Err(misconfigured) => {
                if let Some(slot) = settled.get_mut(index) {
                    *slot = Err(misconfigured.to_string());
                }
                None
            }
        });
        // A record that came twice in one batch is one row: its key may stand only once in a call.
        let mut keys = HashSet::new();
        let candidates: Vec<_> = candidates.filter(|(_, row)| keys.insert((&row.pk, &row.sk))).collect();
        let present = self.present(&candidates).await;
        for ((index, row), present) in candidates.into_iter().zip(present) {
            match self.routes.of(&row.route, &row.event_type) {
                _ if !present => counts.gone += 1,
                Some(destinations) => rows.push((index, Progress::new(row, destinations))),
                None => {
                    if let Some(slot) = settled.get_mut(index) {
                        *slot = Err(format!("route {:?} of event {} has no destination", row.route, row.sk));
                    }
                }
            }
        }
        let (indices, mut rows): (Vec<usize>, Vec<Progress<'_>>) = rows.into_iter().unzip();
        counts.tally = self.sender.send(&mut rows, &self.keeper, deadline.less(self.margin)).await;
        crate::fault::point("relay-after-publish");
        self.finish(&rows, &mut counts, deadline, |place, reason| {
            if let Some(slot) = indices.get(place).and_then(|index| settled.get_mut(*index)) {
                *slot = Err(reason);
            }
        })
        .await;
        counts.failed = settled.iter().filter(|settled| settled.is_err()).count();
        report::done(&counts, &self.keeper.owner, self.clock().now());
        respond(&records, &settled)
    }

    /// Lets go of what is published, quarantines what is refused, and tells of the rest.
    pub(super) async fn finish(
        &self,
        rows: &[Progress<'_>],
        counts: &mut Counts,
        deadline: Deadline,
        mut again: impl FnMut(usize, String),
    ) {
        let mut done = Vec::with_capacity(rows.len());
        for (place, progress) in rows.iter().enumerate() {
            match progress.next() {
                Next::Finish => {
                    counts.published += 1;
                    report::lag(counts, progress.row, self.clock().now());
                    done.push(progress.row.key());
                }
                Next::Quarantine if progress.gone => counts.quarantined += 1,
                Next::Quarantine => {
                    if self.keeper.quarantine_refused(progress, deadline).await {
                        counts.quarantined += 1;
                    } else {
                        again(place, "refused, and not quarantined".to_owned());
                    }
                }
                Next::Again(reason) => again(place, reason),
            }
        }
        self.keeper.settle(done, deadline).await;
    }

    /// Whether each row is still owed. Only late records are looked up: their rows may have been swept.
    async fn present(&self, candidates: &[(usize, &Row)]) -> Vec<bool> {
        let now = self.clock().now().as_millisecond();
        let grace = i64::try_from(self.grace.as_millis()).unwrap_or(i64::MAX);
        let reads = candidates.iter().map(|(_, row)| async move {
            if now.saturating_sub(row.created_at) < grace {
                return true;
            }
            // A read that fails decides nothing: publishing again is the cheaper mistake.
            match self.keeper.store.get(&self.keeper.table, row.key()).await {
                Ok(None) => false,
                Ok(Some(item)) => !is_published(&item),
                Err(_) => true,
            }
        });
        streams::iter(reads).buffered(CONCURRENT_READS).collect().await
    }
}

fn respond(records: &[StreamRecord], settled: &[Settled]) -> Result<DynamoDbEventResponse, InvocationError> {
    let mut response = DynamoDbEventResponse::default();
    let first =
        records.iter().zip(settled).find_map(|(record, settled)| Some((record, settled.as_ref().err()?)));
    if let Some((record, reason)) = first {
        let sequence_number = record.sequence_number.as_deref().unwrap_or("");
        tracing::error!(sequence_number, reason, "a stream record has to come again");
        match &record.sequence_number {
            Some(number) => {
                // Never `None`: Lambda takes a null identifier for a failure of the whole batch.
                let mut failure = DynamoDbBatchItemFailure::default();
                failure.item_identifier = Some(number.clone());
                response.batch_item_failures.push(failure);
            }
            None => return Err(InvocationError::Unidentified { reason: reason.clone() }),
        }
    }
    Ok(response)
}
