use std::collections::HashSet;
use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::SqsBatchResponse;
use futures::FutureExt;
use futures::stream::{self, StreamExt};

use super::lanes::{Entry, Times, into_lanes};
use super::pace::Pace;
use super::record::{self, Record};
use super::settle::Settled;
use super::{Consumer, report};
use crate::telemetry::chain;
use crate::time::Deadline;

/// An invocation that fails as a whole, so that every record of the batch comes again. What had been committed stays
/// committed, and is a duplicate then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvocationError {
    /// The event is no SQS batch.
    #[error("the event is no SQS batch: it needs a list \"Records\"; {0}")]
    NotABatch(String),
    /// Records that cannot be listed one by one.
    #[error(
        "{records} of {of} records have no usable messageId, so they cannot be listed as failed; all other records were handled, and the whole batch is given back rather than losing them in silence. Look at what stands between the queue and this function"
    )]
    Unidentified {
        /// How many.
        records: usize,
        /// Of how many.
        of: usize,
    },
}

/// What Lambda is answered, and what became of each record.
pub(crate) struct Observed {
    #[cfg_attr(not(feature = "test-util"), allow(dead_code, reason = "Lambda is not told; tests ask"))]
    pub(crate) settled: Vec<Settled>,
    pub(crate) answer: Result<SqsBatchResponse, InvocationError>,
}

impl<S: Clone + Send + Sync + 'static> Consumer<S> {
    /// Handles one Lambda invocation: `event` is the payload as it came, `deadline` the invocation's.
    ///
    /// The answer lists the records that have to come again, and never an identifier that Lambda would take for a
    /// failure of the whole batch.
    ///
    /// # Errors
    /// [`InvocationError`] when the records cannot be told apart; every record that can be handled has been by then.
    pub async fn handle(&self, event: &str, deadline: Deadline) -> Result<SqsBatchResponse, InvocationError> {
        self.observe(event, deadline).await?.answer
    }

    /// The same, and what became of each record, by position.
    pub(crate) async fn observe(&self, event: &str, deadline: Deadline) -> Result<Observed, InvocationError> {
        let parts = &self.engine.parts;
        let records = record::split(event).map_err(|error| InvocationError::NotABatch(chain(&error)))?;
        report::received(&parts.name, records.len());
        let pace = Pace::default();
        let times = Times {
            now: parts.clock.now(),
            until: deadline.less(parts.margin),
            settle_until: deadline.less(parts.margin / 2),
            pace: &pace,
        };
        let lanes = into_lanes(records.iter().enumerate().map(|(index, record)| Entry::new(index, record)));
        let done = if parts.packing {
            self.engine.run_packed(&lanes, times).await
        } else {
            let lanes = stream::iter(lanes).map(|lane| self.engine.run_lane(lane, times));
            lanes.buffer_unordered(parts.concurrency).concat().await
        };
        let mut settled = vec![Settled::not_started(); records.len()];
        for (index, one) in done {
            if let Some(slot) = settled.get_mut(index) {
                *slot = one;
            }
        }
        report::done(&parts.name, &records, &settled, parts.clock.now());
        let answer = respond(&records, &settled);
        if let Some(retry_delay) = &parts.retry_delay {
            let left = deadline.left(parts.clock.now());
            let setting = retry_delay.apply(&parts.name, &records, &settled, left);
            // The answer matters more than the delay, whatever becomes of it.
            let _ = tokio::time::timeout(left / 2, AssertUnwindSafe(setting).catch_unwind()).await;
        }
        Ok(Observed { settled, answer })
    }
}

fn respond(records: &[Record<'_>], settled: &[Settled]) -> Result<SqsBatchResponse, InvocationError> {
    let unidentified = records.iter().filter(|record| record.message_id.is_none()).count();
    if unidentified > 0 {
        return Err(InvocationError::Unidentified { records: unidentified, of: records.len() });
    }
    let mut response = SqsBatchResponse::default();
    // A message that came twice in one batch is listed once.
    let mut listed = HashSet::new();
    for (record, settled) in records.iter().zip(settled) {
        if let Some(id) = record.message_id.as_deref()
            && !settled.is_done()
            && listed.insert(id)
        {
            response.add_failure(id);
        }
    }
    Ok(response)
}
