use std::collections::HashMap;
use std::sync::Arc;

use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use futures::stream::{self, StreamExt};

use super::publish::{Outgoing, into_calls};
use super::stream::{self as stream_records, StreamRecord};
use super::{Destination, Publisher, Routes};
use crate::outbox::Row;
use crate::retry::Backoff;
use crate::store::{Item, Store};
use crate::telemetry::chain;
use crate::time::{Clock, Deadline, SystemClock};

/// Calls to destinations in flight at once.
const CONCURRENT_CALLS: usize = 8;
/// Keys that `BatchWriteItem` takes in one call.
const MAX_DELETES: usize = 25;

/// Publishes what an outbox table's stream brings, then deletes the rows.
///
/// A row is published before it is deleted: dying in between costs a second publish with the same event id, never a
/// loss.
#[derive(Debug, Clone)]
pub struct Relay {
    store: Arc<dyn Store>,
    publisher: Arc<dyn Publisher>,
    table: String,
    routes: Routes,
    pub(super) clock: Arc<dyn Clock>,
    backoff: Backoff,
}

/// An invocation that fails as a whole, so that the batch comes again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvocationError {
    /// The event is no stream batch.
    #[error("the event is no DynamoDB stream batch: it needs a list \"Records\"")]
    NotABatch(#[source] serde_json::Error),
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
        table: impl Into<String>,
        routes: Routes,
    ) -> Self {
        Self {
            store,
            publisher,
            table: table.into(),
            routes,
            clock: Arc::new(SystemClock),
            backoff: Backoff::default(),
        }
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
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
        let records = stream_records::split(event).map_err(InvocationError::NotABatch)?;
        let mut settled: Vec<Settled> = Vec::with_capacity(records.len());
        let mut rows: Vec<(usize, &Row, &[Destination])> = Vec::new();
        let mut ignored = 0_usize;
        for (index, record) in records.iter().enumerate() {
            settled.push(match &record.content {
                Ok(Ok(row)) => match self.routes.of(&row.route) {
                    Some(destinations) => {
                        rows.push((index, row, destinations));
                        Ok(())
                    }
                    None => Err(format!("route {:?} of event {} has no destination", row.route, row.sk)),
                },
                Ok(Err(_ignored)) => {
                    ignored += 1;
                    Ok(())
                }
                Err(misconfigured) => Err(misconfigured.to_string()),
            });
        }
        let mut published = 0_usize;
        let mut done = Vec::with_capacity(rows.len());
        for (index, outcome) in self.publish(&rows).await {
            if let (Ok(()), Some(Ok(Ok(row)))) = (&outcome, records.get(index).map(|record| &record.content))
            {
                published += 1;
                done.push(row.key());
            }
            if let Some(slot) = settled.get_mut(index) {
                *slot = outcome;
            }
        }
        crate::fault::point("relay-after-publish");
        self.delete(done, deadline).await;
        let failed = settled.iter().filter(|settled| settled.is_err()).count();
        tracing::info!(records = records.len(), published, ignored, failed, "relay done");
        respond(&records, &settled)
    }

    /// Sends every row to each of its destinations. A row counts when all have accepted it.
    async fn publish(&self, rows: &[(usize, &Row, &[Destination])]) -> Vec<(usize, Settled)> {
        let mut by_destination: HashMap<&Destination, Vec<(usize, &Row)>> = HashMap::new();
        for (position, (_, row, destinations)) in rows.iter().enumerate() {
            for destination in *destinations {
                by_destination.entry(destination).or_default().push((position, row));
            }
        }
        let mut calls = Vec::new();
        for (destination, rows) in by_destination {
            let entries: Vec<Outgoing> = rows.iter().map(|(_, row)| Outgoing::of(row)).collect();
            let sizes: Vec<usize> = entries.iter().map(Outgoing::bytes).collect();
            let mut entries = rows.into_iter().map(|(position, _)| position).zip(entries);
            for range in into_calls(destination, &sizes) {
                let (positions, entries): (Vec<_>, Vec<_>) = entries.by_ref().take(range.len()).unzip();
                calls.push((destination, positions, entries));
            }
        }
        let mut outcomes: Vec<(usize, Settled)> = rows.iter().map(|(index, ..)| (*index, Ok(()))).collect();
        let mut running = stream::iter(calls)
            .map(|(destination, positions, entries)| async move {
                let results = self.publisher.publish(destination, &entries).await;
                (destination, positions, results)
            })
            .buffer_unordered(CONCURRENT_CALLS);
        while let Some((destination, positions, results)) = running.next().await {
            for (at, position) in positions.into_iter().enumerate() {
                let problem = match results.get(at) {
                    Some(Ok(())) => continue,
                    Some(Err(error)) => error.to_string(),
                    None => "no result".to_owned(),
                };
                if let Some((_, outcome)) = outcomes.get_mut(position) {
                    *outcome = Err(format!("{destination}: {problem}"));
                }
            }
        }
        outcomes
    }

    /// Deletes published rows. A row that stays costs a second publish, so a failure here is logged, not answered:
    /// answering it would publish again for certain.
    async fn delete(&self, keys: Vec<Item>, deadline: Deadline) {
        let calls: Vec<Vec<Item>> = keys.chunks(MAX_DELETES).map(<[Item]>::to_vec).collect();
        stream::iter(calls)
            .for_each_concurrent(CONCURRENT_CALLS, |keys| self.delete_call(keys, deadline))
            .await;
    }

    async fn delete_call(&self, mut keys: Vec<Item>, deadline: Deadline) {
        for attempt in 0.. {
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
            tokio::time::sleep(wait).await;
        }
    }
}

fn respond(records: &[StreamRecord], settled: &[Settled]) -> Result<DynamoDbEventResponse, InvocationError> {
    let mut response = DynamoDbEventResponse::default();
    let first =
        records.iter().zip(settled).find_map(|(record, settled)| Some((record, settled.as_ref().err()?)));
    if let Some((record, reason)) = first {
        tracing::error!(
            sequence_number = record.sequence_number.as_deref().unwrap_or(""),
            reason,
            "a stream record has to come again"
        );
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
