//! What a person does about a call of which nobody knows whether it was done.

use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{Delete, TransactWriteItem, Update};

use super::started::{self, Started, names, number, reply_attributes, text};
use super::{Reply, Request};
use crate::consumer::decode;
use crate::event::EventKey;
use crate::quarantine::Case;
use crate::retry::{self, Backoff};
use crate::store::{CancelCode, CancelReason, Store, StoreError, TransactError};
use crate::time::{Clock, Deadline, Ids};

/// The calls of a consumer that were begun and are not committed, for a person who settles an unknown one.
///
/// The way from the quarantine: a case with reason `unknown` says whose it is and which event. Ask the provider about that
/// event, [`resolve`](Self::resolve) the call as done or not done, and redrive the case: the next delivery goes on from
/// there. A case that is redriven without it is quarantined again, and nothing is called.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use oncebox::effect::remote::{Reply, Resolution, ResolveError, StartedCalls};
/// use oncebox::quarantine::Case;
/// # use oncebox::store::Store;
/// # use oncebox::time::{Clock, Deadline, Ids};
///
/// # async fn settle(store: Arc<dyn Store>, case: &Case, ids: &dyn Ids, clock: &dyn Clock, deadline: Deadline)
/// #     -> Result<(), ResolveError> {
/// let calls = StartedCalls::new(store, "remote");
/// // The provider's records show the mail as sent: the consumer goes on as if it had been answered that.
/// calls.resolve_case(case, Resolution::Done(Reply::new(202, "")), ids, clock, deadline).await
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StartedCalls {
    store: Arc<dyn Store>,
    table: Arc<str>,
}

/// What a person has found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It was done. The consumer's next delivery takes this for the provider's answer, and does not call. Its status should
    /// be one that the handler's `then` is about: 2xx, or one of [`Remote::results`](super::Remote::results); any other
    /// makes the event permanent.
    Done(Reply),
    /// It was not done, and will not be: the next delivery calls as if for the first time.
    NotDone,
}

/// A call that was begun and whose effect is not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartedCall {
    /// The request that was, or may have been, sent; without credentials.
    pub request: Request,
    /// What the last attempt came to that brought no answer, such as a status; `None` after a crash.
    pub heard: Option<String>,
    /// The answer, where one is known.
    pub reply: Option<Reply>,
    /// Epoch milliseconds of the first attempt.
    pub started_at: i64,
    /// Epoch milliseconds until which a delivery may still be at it.
    pub lease_until: i64,
}

/// A call that was not resolved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// No call is under way or unknown: its effect is committed, or it was never begun, or it was definitely not done.
    #[error("the event has no call that was begun and is not committed; there is nothing to resolve")]
    NoCall,
    /// The case is about a message without an event key, so there was no call.
    #[error("the case has no event key, so it cannot be about a call")]
    NoEvent,
    /// The case is about another event, whose id is that of the event which was called for.
    #[error("the call was begun for another event with this id, but other content; the case is not about it")]
    OtherEvent,
    /// A delivery may still be calling.
    #[error(
        "a delivery may still be at the call, until {lease_until} (epoch milliseconds); try again after that"
    )]
    UnderWay {
        /// Epoch milliseconds.
        lease_until: i64,
    },
    /// A delivery has taken the call up in the meantime.
    #[error("a delivery has taken the call up in the meantime; look again")]
    Changed,
    /// The row cannot be read.
    #[error("the event's \"started\" row cannot be read")]
    Unreadable,
    /// The read failed.
    #[error("the table of started calls cannot be read")]
    Store(#[from] StoreError),
    /// The write was not confirmed.
    #[error("the table of started calls did not confirm the resolution; look again")]
    Transact(#[source] TransactError),
    /// The SDK refused to build the write, which it does not.
    #[error("the resolution cannot be built")]
    Action(#[from] BuildError),
}

impl StartedCalls {
    /// The "started" rows of `table`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, table: impl Into<Arc<str>>) -> Self {
        Self { store, table: table.into() }
    }

    /// The call of `consumer` for an event, if it was begun and is not committed.
    ///
    /// # Errors
    /// [`ResolveError::Store`] or [`ResolveError::Unreadable`].
    pub async fn load(&self, event: &EventKey, consumer: &str) -> Result<Option<StartedCall>, ResolveError> {
        Ok(self.row(event, consumer).await?.map(|row| StartedCall {
            request: row.request,
            heard: row.heard,
            reply: row.reply,
            started_at: row.started_at,
            lease_until: row.lease_until,
        }))
    }

    /// [`resolve`](Self::resolve) for a case from the quarantine.
    ///
    /// # Errors
    /// [`ResolveError`].
    pub async fn resolve_case(
        &self,
        case: &Case,
        resolution: Resolution,
        ids: &dyn Ids,
        clock: &dyn Clock,
        deadline: Deadline,
    ) -> Result<(), ResolveError> {
        let event = case.event_key.as_ref().ok_or(ResolveError::NoEvent)?;
        let row = self.row(event, &case.owner).await?.ok_or(ResolveError::NoCall)?;
        let hash = decode(&case.body).map_err(|_malformed| ResolveError::NoEvent)?.body_hash();
        if hash.as_str() != row.body_hash {
            return Err(ResolveError::OtherEvent);
        }
        self.settle(row, resolution, ids, clock, deadline).await
    }

    /// Settles the call of `consumer` for an event. Refused while a delivery may still be at it.
    ///
    /// # Errors
    /// [`ResolveError`].
    pub async fn resolve(
        &self,
        event: &EventKey,
        consumer: &str,
        resolution: Resolution,
        ids: &dyn Ids,
        clock: &dyn Clock,
        deadline: Deadline,
    ) -> Result<(), ResolveError> {
        let row = self.row(event, consumer).await?.ok_or(ResolveError::NoCall)?;
        self.settle(row, resolution, ids, clock, deadline).await
    }

    async fn settle(
        &self,
        row: Started,
        resolution: Resolution,
        ids: &dyn Ids,
        clock: &dyn Clock,
        deadline: Deadline,
    ) -> Result<(), ResolveError> {
        let now = clock.now();
        if row.lease_until > now.as_millisecond() {
            return Err(ResolveError::UnderWay { lease_until: row.lease_until });
        }
        // A lease of its own: a delivery that took the row up in between, or that wakes up late, finds another's.
        let lease = ids.fresh(now).to_string();
        let action = match resolution {
            Resolution::NotDone => self.not_done(&row)?,
            Resolution::Done(reply) => self.done(&row, &reply, &lease)?,
        };
        let token = ids.fresh(now).to_string();
        let unchanged = |reasons: &[CancelReason]| {
            reasons.iter().all(|reason| reason.code != CancelCode::ConditionalCheckFailed)
        };
        let (store, backoff) = (self.store.as_ref(), Backoff::default());
        match retry::transact(store, clock, backoff, deadline, &token, &[action], unchanged).await {
            Ok(()) => Ok(()),
            Err(TransactError::Cancelled(reasons)) if !unchanged(&reasons) => Err(ResolveError::Changed),
            Err(error) => Err(ResolveError::Transact(error)),
        }
    }

    async fn row(&self, event: &EventKey, consumer: &str) -> Result<Option<Started>, ResolveError> {
        let found = self.store.get(&self.table, started::key(event.as_str(), consumer)).await?;
        found.map(|item| Started::read(&item).ok_or(ResolveError::Unreadable)).transpose()
    }

    fn not_done(&self, row: &Started) -> Result<TransactWriteItem, BuildError> {
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(row.key()))
            .condition_expression("#lease = :lease")
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_values(":lease", text(&row.lease))
            .build()?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    fn done(&self, row: &Started, reply: &Reply, lease: &str) -> Result<TransactWriteItem, BuildError> {
        let mut update = Update::builder()
            .table_name(&*self.table)
            .set_key(Some(row.key()))
            .condition_expression("#lease = :old AND #until = :until")
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_names("#until", names::LEASE_UNTIL)
            .expression_attribute_values(":old", text(&row.lease))
            .expression_attribute_values(":until", number(row.lease_until))
            .expression_attribute_values(":lease", text(lease));
        let mut set = vec!["#lease = :lease".to_owned()];
        for (at, (name, value)) in reply_attributes(reply).into_iter().enumerate() {
            update = update
                .expression_attribute_names(format!("#n{at}"), name)
                .expression_attribute_values(format!(":v{at}"), value);
            set.push(format!("#n{at} = :v{at}"));
        }
        let update = update.update_expression(format!("SET {}", set.join(", "))).build()?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}
