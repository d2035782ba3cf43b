//! What becomes of a published row.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Update};
use futures::stream::{self, StreamExt};

use super::keeper::Keeper;
use crate::inbox::Days;
use crate::outbox::names;
use crate::retry;
use crate::store::{Item, WriteError};
use crate::telemetry::chain;
use crate::time::Deadline;

/// Marks in flight at once: DynamoDB has no batch of updates.
const CONCURRENT_MARKS: usize = 32;

/// What becomes of a row that all its destinations have accepted. Relay and sweeper of one table are told the same; the
/// rows are written alike.
///
/// # Examples
/// ```
/// use oncebox::inbox::Days;
/// use oncebox::relay::AfterPublish;
///
/// assert_eq!(AfterPublish::default(), AfterPublish::Delete);
/// assert_eq!(AfterPublish::keep_for(Days::new(7)), AfterPublish::Keep { window: Days::new(7) });
/// assert_eq!(AfterPublish::keep_for(Days::new(0)), AfterPublish::Delete);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterPublish {
    /// It is deleted: the table is the backlog. One write unit per KB of the row, 25 rows a call.
    #[default]
    Delete,
    /// It is marked, kept for audit and replay, and deleted by DynamoDB's TTL once `window` is over. One write unit per KB
    /// of the row and one call each, and as much again for the index `pending` on `pending` and `sk`, which the table
    /// needs (all attributes projected), once when the row is written and once when it is marked.
    ///
    /// Consumers whose events may be replayed from here declare a
    /// [replay window](crate::inbox::Retention::replay) of at least `window`.
    Keep {
        /// For how long after its publication.
        window: Days,
    },
}

impl AfterPublish {
    /// [`Keep`](Self::Keep) for `window`; [`Delete`](Self::Delete) for no days, as settings have it.
    #[must_use]
    pub fn keep_for(window: Days) -> Self {
        if window == Days::new(0) { Self::Delete } else { Self::Keep { window } }
    }

    pub(super) fn keeps(self) -> bool {
        matches!(self, Self::Keep { .. })
    }
}

impl Keeper {
    /// Lets go of published rows. One that stays as it was costs a second publish, so a failure here is logged, not
    /// answered: answering it would publish again for certain.
    pub(super) async fn settle(&self, keys: Vec<Item>, deadline: Deadline) {
        match self.after {
            AfterPublish::Delete => self.delete(keys, deadline).await,
            AfterPublish::Keep { window } => {
                stream::iter(keys)
                    .for_each_concurrent(CONCURRENT_MARKS, |key| self.mark(key, window, deadline))
                    .await;
            }
        }
    }

    async fn mark(&self, key: Item, window: Days, deadline: Deadline) {
        let update = match self.mark_of(key, window) {
            Ok(update) => update,
            Err(error) => {
                tracing::error!(reason = chain(&error), "the mark of a published row cannot be built");
                return;
            }
        };
        let (store, clock) = (self.store.as_ref(), self.clock.as_ref());
        match retry::update(store, clock, self.backoff, deadline, &update).await {
            // Quarantined, marked and expired, or deleted by hand: it is not owed any more.
            Ok(()) | Err(WriteError::ConditionFailed(_)) => {}
            Err(error) => tracing::warn!(reason = chain(&error), "a published row was not marked"),
        }
    }

    /// Only on a row that is there: an update of a row just deleted would create a ghost.
    fn mark_of(&self, key: Item, window: Days) -> Result<Update, BuildError> {
        let now = self.clock.now();
        let expires = now.as_second().saturating_add(i64::from(window.get()) * 86_400);
        Update::builder()
            .table_name(&*self.table)
            .set_key(Some(key))
            .update_expression("SET #published = :now, #expires = :expires REMOVE #pending, #until")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#published", names::PUBLISHED_AT)
            .expression_attribute_names("#expires", names::EXPIRES_AT)
            .expression_attribute_names("#pending", names::PENDING)
            .expression_attribute_names("#until", names::CLAIMED_UNTIL)
            .expression_attribute_values(":now", AttributeValue::N(now.as_millisecond().to_string()))
            .expression_attribute_values(":expires", AttributeValue::N(expires.to_string()))
            .build()
    }
}
