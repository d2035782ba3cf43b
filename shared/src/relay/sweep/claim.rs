//! The expiring claim: what `FOR UPDATE SKIP LOCKED` is elsewhere.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Update};

use super::Sweeper;
use crate::outbox::{Row, names, number};
use crate::store::{Item, WriteError};
use crate::telemetry::chain;

/// How often a stored row has been claimed.
pub(super) fn attempts(item: &Item) -> u32 {
    number(item, names::ATTEMPTS).unwrap_or_default()
}

impl Sweeper {
    /// Whether the row is ours until the lease ends. It is not when another sweeper holds it, when it is gone, or when
    /// DynamoDB does not confirm. `count` says whether it is an attempt.
    pub(super) async fn claim(&self, row: &Row, now: i64, count: bool) -> bool {
        let outcome = match self.claim_of(row, now, count) {
            Ok(update) => self.relay.keeper.store.update(update).await,
            Err(error) => {
                tracing::error!(event_id = row.sk, reason = chain(&error), "the claim cannot be built");
                return false;
            }
        };
        match outcome {
            Ok(()) => true,
            Err(WriteError::ConditionFailed(_)) => false,
            Err(error) => {
                tracing::warn!(event_id = row.sk, reason = chain(&error), "the claim was not confirmed");
                false
            }
        }
    }

    /// Only on a row that is there: an update of a row just deleted would create a ghost. And only on one that is still
    /// owed: an index shows rows a moment longer.
    fn claim_of(&self, row: &Row, now: i64, count: bool) -> Result<Update, BuildError> {
        let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        let number = |value: i64| AttributeValue::N(value.to_string());
        Update::builder()
            .table_name(&*self.relay.keeper.table)
            .set_key(Some(row.key()))
            .update_expression("SET #until = :until ADD #attempts :one")
            .condition_expression(
                "attribute_exists(pk) AND attribute_not_exists(#published) AND (attribute_not_exists(#until) OR #until <= :now)",
            )
            .expression_attribute_names("#published", names::PUBLISHED_AT)
            .expression_attribute_names("#until", names::CLAIMED_UNTIL)
            .expression_attribute_names("#attempts", names::ATTEMPTS)
            .expression_attribute_values(":until", number(now.saturating_add(lease)))
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":one", number(count.into()))
            .build()
    }
}
