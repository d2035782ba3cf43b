use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use jiff::Timestamp;

use super::{Destination, LimitError, Routes, Row, RowError, Transaction, deliverable, limits};
use crate::event::{Emit, EventId};
use crate::retry::{self, Backoff};
use crate::store::{CancelCode, CancelReason, Item, Store, TransactError};
use crate::telemetry::Hidden;
use crate::time::{Clock, Deadline, Ids, RandomIds, SystemClock};

/// Writes [`Transaction`]s: business actions and outbox rows in one `TransactWriteItems`.
///
/// # Examples
/// ```
/// # use std::{borrow::Cow, sync::Arc};
/// # use oncebox::event::{Emit, Event};
/// # use oncebox::outbox::{Outbox, Transaction};
/// # use oncebox::store::Store;
/// # use aws_sdk_dynamodb::types::{AttributeValue, Put};
/// # #[derive(serde::Serialize, serde::Deserialize)] struct OrderPlaced { order_id: String }
/// # impl Event for OrderPlaced {
/// #     const TYPE: &'static str = "OrderPlaced";
/// #     const AGGREGATE_TYPE: &'static str = "Order";
/// #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.order_id) }
/// # }
/// async fn place(store: Arc<dyn Store>) -> Result<(), Box<dyn std::error::Error>> {
///     let outbox = Outbox::new(store, "outbox", "/shop/order-api");
///     let order = Put::builder()
///         .table_name("orders")
///         .item("order_id", AttributeValue::S("o-1".into()))
///         .condition_expression("attribute_not_exists(order_id)")
///         .build()?;
///     let event = Emit::new(&OrderPlaced { order_id: "o-1".into() }).sequence(1);
///     outbox.commit(Transaction::new().put(order).emit(event)).await?;
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Outbox {
    store: Arc<dyn Store>,
    table: Arc<str>,
    source: Arc<str>,
    region: Option<Arc<str>>,
    routes: Option<Arc<Routes>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    backoff: Backoff,
    patience: Duration,
}

/// What a commit wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The ids of the emitted events, in the order of emission.
    pub event_ids: Vec<EventId>,
}

/// Why a commit is not known to have happened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// A business write's own condition was false. Nothing was written.
    #[error("nothing was written: the condition of business write {index} was false")]
    ConditionFailed {
        /// Position among the business writes, from 0.
        index: usize,
        /// The item in the way, if that write asked for `ALL_OLD`.
        item: Option<Item>,
    },
    /// An event id is already in the outbox. Nothing was written.
    #[error("nothing was written: the id of event {index} is already in the outbox")]
    EventIdReused {
        /// Position among the emitted events, from 0.
        index: usize,
    },
    /// The transaction is larger than DynamoDB takes. Nothing was written.
    #[error("nothing was written: {0}")]
    Limit(#[from] LimitError),
    /// An event cannot be written. Nothing was written.
    #[error("nothing was written: an event cannot become an outbox row")]
    Row(#[from] RowError),
    /// DynamoDB refused the transaction as invalid. Nothing was written, and the same one will not succeed.
    #[error("nothing was written: DynamoDB refuses the transaction")]
    Invalid(#[source] TransactError),
    /// Conflicts or throttling outlasted the retries. Nothing was written; the caller may try again.
    #[error("nothing was written within {waited:?}: DynamoDB was busy")]
    Busy {
        /// How long the commit kept trying.
        waited: Duration,
        /// The last answer.
        #[source]
        source: TransactError,
    },
    /// No definite answer: it may have been written. A rebuilt transaction would be another one, so do not
    /// build it again unless its business write has a condition that makes a repeat harmless.
    #[error("it is not known whether the transaction was written; events {event_ids:?} exist if it was")]
    OutcomeUnknown {
        /// The ids that were tried.
        event_ids: Vec<EventId>,
        /// The last answer.
        #[source]
        source: TransactError,
    },
}

impl Outbox {
    /// `source` is the CloudEvents `source` of every event, such as `/shop/order-api`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, table: impl Into<Arc<str>>, source: impl Into<Arc<str>>) -> Self {
        Self {
            store,
            table: table.into(),
            source: source.into(),
            region: None,
            routes: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            backoff: Backoff::default(),
            patience: Duration::from_secs(5),
        }
    }

    /// States the Region that writes; needed on global tables, where each Region has a stream of all rows.
    #[must_use]
    pub fn region(mut self, region: impl Into<Arc<str>>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// States the relay's routes, so that an event without one, or one that a destination would refuse, is refused when
    /// it is written. Without routes, every event is held to the 256 KiB of an SNS topic.
    #[must_use]
    pub fn routes(mut self, routes: Routes) -> Self {
        self.routes = Some(Arc::new(routes));
        self
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.clock = clock;
        self.ids = ids;
        self
    }

    /// How long a commit keeps trying. Default 5 s. Keep it under 10 minutes: DynamoDB forgets a token after
    /// that, and a retry could then apply the transaction a second time.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience.min(Duration::from_secs(9 * 60));
        self
    }

    /// Writes all of `transaction`, or nothing.
    ///
    /// Retries conflicts, throttling and lost answers with the same `ClientRequestToken` and the same bytes:
    /// an answer that is lost after DynamoDB has applied the transaction does not apply it twice.
    ///
    /// # Errors
    /// Every variant of [`CommitError`] but `OutcomeUnknown` says that nothing was written.
    pub async fn commit(&self, transaction: Transaction) -> Result<Committed, CommitError> {
        let now = self.clock.now();
        let Transaction { mut actions, emits } = transaction;
        let (business, events) = (actions.len(), emits.len());
        let mut event_ids = Vec::with_capacity(events);
        for emit in emits {
            let id = EventId::new(self.ids.fresh(now));
            if event_ids.contains(&id) {
                return Err(RowError::IdTwice(id.to_string()).into());
            }
            event_ids.push(id);
            actions.push(self.row_action(emit, id, now)?);
        }
        limits::check(&actions, events, false)?;
        let token = self.ids.fresh(now).to_string();
        let deadline = Deadline::after(now, self.patience);
        let sent = retry::transact(
            self.store.as_ref(),
            self.clock.as_ref(),
            self.backoff,
            deadline,
            &token,
            &actions,
            worth_a_retry,
        );
        match sent.await {
            Ok(()) => Ok(Committed { event_ids }),
            Err(error) => Err(self.explain(error, business, event_ids)),
        }
    }

    /// The transaction action that adds `emit` to the outbox.
    pub(crate) fn row_action(
        &self,
        emit: Emit,
        id: EventId,
        now: Timestamp,
    ) -> Result<TransactWriteItem, RowError> {
        let row = Row::freeze(emit, id, &self.source, self.region.as_deref(), now)?;
        match self.routes.as_deref().map(|routes| routes.of(&row.route, &row.event_type)) {
            Some(Some(destinations)) => deliverable::check(&row, destinations)?,
            Some(None) => return Err(RowError::NoRoute { event_type: row.event_type, route: row.route }),
            None => deliverable::check(&row, &[Destination::any_topic()])?,
        }
        Ok(TransactWriteItem::builder().put(row.put(&self.table)?).build())
    }

    fn explain(&self, error: TransactError, business: usize, event_ids: Vec<EventId>) -> CommitError {
        let reasons = match error {
            TransactError::Cancelled(reasons) => reasons,
            TransactError::Refused { .. } => return CommitError::Invalid(error),
            TransactError::Throttled { .. } => {
                return CommitError::Busy { waited: self.patience, source: error };
            }
            TransactError::Unknown { .. } => return CommitError::OutcomeUnknown { event_ids, source: error },
        };
        let first = |code: CancelCode| reasons.iter().position(|reason| reason.code == code);
        if worth_a_retry(&reasons) {
            return CommitError::Busy { waited: self.patience, source: TransactError::Cancelled(reasons) };
        }
        match first(CancelCode::ConditionalCheckFailed) {
            Some(index) if index < business => {
                let item = reasons.into_iter().nth(index).and_then(|reason| reason.item);
                CommitError::ConditionFailed { index, item }
            }
            Some(index) => CommitError::EventIdReused { index: index - business },
            None => CommitError::Invalid(TransactError::Cancelled(reasons)),
        }
    }
}

/// A conflict or a throttle anywhere hides what the conditions would have said; so does an answer without reasons.
fn worth_a_retry(reasons: &[CancelReason]) -> bool {
    reasons.is_empty()
        || reasons.iter().any(|reason| {
            matches!(
                reason.code,
                CancelCode::TransactionConflict
                    | CancelCode::ProvisionedThroughputExceeded
                    | CancelCode::ThrottlingError
                    | CancelCode::Other(_)
            )
        })
}

impl fmt::Debug for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConditionFailed { index, item } => f
                .debug_struct("ConditionFailed")
                .field("index", index)
                .field("item", &item.as_ref().map(Hidden::attributes))
                .finish(),
            Self::EventIdReused { index } => f.debug_struct("EventIdReused").field("index", index).finish(),
            Self::Limit(limit) => f.debug_tuple("Limit").field(limit).finish(),
            Self::Row(row) => f.debug_tuple("Row").field(row).finish(),
            Self::Invalid(source) => f.debug_tuple("Invalid").field(source).finish(),
            Self::Busy { waited, source } => {
                f.debug_struct("Busy").field("waited", waited).field("source", source).finish()
            }
            Self::OutcomeUnknown { event_ids, source } => f
                .debug_struct("OutcomeUnknown")
                .field("event_ids", event_ids)
                .field("source", source)
                .finish(),
        }
    }
}
