//! What happens to a row once its publishing is settled.

use std::sync::Arc;

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};
use futures::stream::{self, StreamExt};

use super::AfterPublish;
use super::progress::Progress;
use crate::event::{Envelope, EventKey};
use crate::outbox::{Row, names};
use crate::quarantine::{Case, Quarantine, Reason};
use crate::retry::{self, Backoff};
use crate::store::{CancelCode, CancelReason, Item, Store, TransactError};
use crate::telemetry::chain;
use crate::time::{Clock, Deadline, Ids, RandomIds};

/// Keys that `BatchWriteItem` takes in one call.
const MAX_DELETES: usize = 25;
/// Calls in flight at once.
const CONCURRENT_CALLS: usize = 8;

/// Lets go of published rows, and moves those that cannot be published to the quarantine.
#[derive(Debug, Clone)]
pub(super) struct Keeper {
    pub(super) store: Arc<dyn Store>,
    pub(super) table: Arc<str>,
    pub(super) after: AfterPublish,
    pub(super) quarantine: Option<Quarantine>,
    pub(super) owner: Arc<str>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) backoff: Backoff,
}

impl Keeper {
    /// One without a quarantine, which deletes what is published.
    pub(super) fn new(store: Arc<dyn Store>, table: Arc<str>, owner: &str, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            table,
            after: AfterPublish::default(),
            quarantine: None,
            owner: owner.into(),
            clock,
            ids: Arc::new(RandomIds),
            backoff: Backoff::default(),
        }
    }

    pub(super) async fn delete(&self, keys: Vec<Item>, deadline: Deadline) {
        let number = keys.len().div_ceil(MAX_DELETES);
        let mut keys = keys.into_iter();
        let calls: Vec<Vec<Item>> = (0..number).map(|_| keys.by_ref().take(MAX_DELETES).collect()).collect();
        stream::iter(calls)
            .for_each_concurrent(CONCURRENT_CALLS, |keys| self.delete_call(keys, deadline))
            .await;
    }

    async fn delete_call(&self, mut keys: Vec<Item>, deadline: Deadline) {
        let mut attempt = 0_u32;
        loop {
            let problem = match self.store.delete_batch(&self.table, keys.clone()).await {
                Ok(left) if left.is_empty() => return,
                Ok(left) => {
                    keys = left;
                    "DynamoDB left some unprocessed".to_owned()
                }
                Err(error) => chain(&error),
            };
            let wait = self.backoff.delay(attempt);
            if wait >= deadline.left(self.clock.now()) {
                tracing::warn!(rows = keys.len(), reason = problem, "published rows were not deleted");
                return;
            }
            attempt = attempt.saturating_add(1);
            tokio::time::sleep(wait).await;
        }
    }

    /// Moves a row to the quarantine that some destinations refuse, and all others have accepted. False when it is still
    /// in the outbox.
    pub(super) async fn quarantine_refused(&self, progress: &Progress<'_>, deadline: Deadline) -> bool {
        let owed = progress.refusals().iter().map(|(to, _)| to.to_string()).collect();
        let detail = format!("{} bytes; {}", progress.row.body.len(), progress.refused_because());
        self.quarantine(progress.row, Reason::Permanent, detail, owed, 1, deadline).await
    }

    /// `[Put quarantine, Delete outbox]` in one transaction: the event is always in exactly one of the two.
    pub(super) async fn quarantine(
        &self,
        row: &Row,
        reason: Reason,
        detail: String,
        destinations: Vec<String>,
        attempts: u32,
        deadline: Deadline,
    ) -> bool {
        let Some(quarantine) = &self.quarantine else {
            tracing::error!(
                event_id = row.sk,
                reason = detail,
                "refused for good, and there is no quarantine"
            );
            return false;
        };
        let case = self.case(row, reason, detail, destinations, attempts);
        let moved = self.move_row(quarantine, row, &case, deadline).await;
        match &moved {
            Ok(()) => tracing::error!(
                event_id = row.sk,
                aggregate = row.pk,
                reason = case.detail,
                "quarantined; the order of this aggregate is no longer promised"
            ),
            Err(problem) => {
                tracing::error!(event_id = row.sk, reason = problem, "not quarantined; the row stays")
            }
        }
        moved.is_ok()
    }

    async fn move_row(
        &self,
        quarantine: &Quarantine,
        row: &Row,
        case: &Case,
        deadline: Deadline,
    ) -> Result<(), String> {
        let now = self.clock.now();
        let mut actions = quarantine.actions(case, now).map_err(|error| error.to_string())?;
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(row.key()))
            .condition_expression("attribute_exists(pk) AND attribute_not_exists(#published)")
            .expression_attribute_names("#published", names::PUBLISHED_AT)
            .build()
            .map_err(|error| error.to_string())?;
        actions.push(TransactWriteItem::builder().delete(delete).build());
        let token = self.ids.fresh(now).to_string();
        let (store, clock) = (self.store.as_ref(), self.clock.as_ref());
        match retry::transact(store, clock, self.backoff, deadline, &token, &actions, still_there).await {
            Ok(()) => Ok(()),
            // Somebody else has published or quarantined it in the meantime.
            Err(TransactError::Cancelled(reasons)) if !still_there(&reasons) => Ok(()),
            Err(error) => Err(chain(&error)),
        }
    }

    fn case(
        &self,
        row: &Row,
        reason: Reason,
        detail: String,
        destinations: Vec<String>,
        attempts: u32,
    ) -> Case {
        let (_, aggregate_id) = row.pk.split_once('#').unwrap_or_default();
        let envelope = Envelope::parse(&row.body).ok();
        Case {
            owner: self.owner.to_string(),
            source: self.table.to_string(),
            event_key: Some(envelope.as_ref().map_or_else(|| EventKey::of("", &row.sk), Envelope::key)),
            message_id: row.sk.clone(),
            event_type: row.event_type.clone(),
            aggregate_id: aggregate_id.to_owned(),
            group: None,
            reason,
            detail,
            attempts,
            traceparent: envelope.and_then(|envelope| envelope.cause.traceparent),
            destinations,
            body: row.body.clone(),
        }
    }
}

/// Whether a cancelled move is worth another try: not when the outbox row, the last position, is gone or published.
fn still_there(reasons: &[CancelReason]) -> bool {
    reasons.last().is_none_or(|last| last.code != CancelCode::ConditionalCheckFailed)
}
