//! When a record that has to come again comes again.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::types::ChangeMessageVisibilityBatchRequestEntry;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};

use super::settle::Settled;
use super::{Record, Verdict};
use crate::retry::Backoff;

/// Entries that `ChangeMessageVisibilityBatch` takes in one call.
const MAX_ENTRIES: usize = 10;
/// SQS bounds a message's invisibility to 12 h from its receive; a minute is left for clocks that differ.
const MAX_DELAY: Duration = Duration::from_secs(12 * 3600 - 60);

/// Sets how long messages stay invisible.
pub trait Visibility: Debug + Send + Sync + 'static {
    /// Sets the visibility of at most 10 messages, by receipt handle, in whole seconds from now.
    fn change<'a>(
        &'a self,
        queue_url: &'a str,
        entries: &'a [(String, u32)],
    ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>>;
}

/// [`Visibility`] over the AWS SDK.
#[derive(Debug, Clone)]
pub struct SqsVisibility(aws_sdk_sqs::Client);

impl SqsVisibility {
    /// Takes a configured client.
    #[must_use]
    pub fn new(client: aws_sdk_sqs::Client) -> Self {
        Self(client)
    }
}

impl Visibility for SqsVisibility {
    fn change<'a>(
        &'a self,
        queue_url: &'a str,
        entries: &'a [(String, u32)],
    ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>> {
        Box::pin(async move {
            let entries = entries.iter().enumerate().map(|(index, (receipt, seconds))| {
                ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(index.to_string())
                    .receipt_handle(receipt)
                    .visibility_timeout(i32::try_from(*seconds).unwrap_or(i32::MAX))
                    .build()
            });
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            let call =
                self.0.change_message_visibility_batch().queue_url(queue_url).set_entries(Some(entries));
            let answer = call.send().await?;
            match answer.failed().first() {
                None => Ok(()),
                Some(first) => Err(format!("{} of a batch: {}", answer.failed().len(), first.code()).into()),
            }
        })
    }
}

/// The delay before a record that has to come again does.
#[derive(Debug, Clone)]
pub(super) struct RetryDelay {
    pub(super) visibility: Arc<dyn Visibility>,
    pub(super) queue_url: String,
    pub(super) backoff: Backoff,
}

impl RetryDelay {
    /// Back-off by receive count between 2 s and 15 min.
    pub(super) fn new(visibility: Arc<dyn Visibility>, queue_url: String) -> Self {
        let backoff = Backoff { base: Duration::from_secs(2), cap: Duration::from_secs(900) };
        Self { visibility, queue_url, backoff }
    }

    /// Sets the visibility of every listed record. `left` is the time left in this invocation: SQS must not hand a
    /// message out again while its batch is still being answered. A failure is harmless: the record comes again when
    /// the queue's own timeout ends.
    pub(super) async fn apply(
        &self,
        consumer: &str,
        records: &[Record<'_>],
        settled: &[Settled],
        left: Duration,
    ) {
        let entries = self.plan(records, settled, left);
        let calls: Vec<Vec<(String, u32)>> = entries.chunks(MAX_ENTRIES).map(<[_]>::to_vec).collect();
        stream::iter(calls)
            .for_each_concurrent(4, |call| async move {
                if let Err(error) = self.visibility.change(&self.queue_url, &call).await {
                    let reason = crate::telemetry::chain(error.as_ref());
                    tracing::warn!(consumer, records = call.len(), reason, "visibility was not set");
                }
            })
            .await;
    }

    fn plan(&self, records: &[Record<'_>], settled: &[Settled], left: Duration) -> Vec<(String, u32)> {
        let mut entries = Vec::new();
        // The listed tail of a FIFO group waits as long as its head: no record may overtake it.
        let mut heads: HashMap<&str, Duration> = HashMap::new();
        for (record, settled) in records.iter().zip(settled) {
            if settled.is_done() {
                continue;
            }
            let own = || {
                let wait = match settled.verdict {
                    // It was not its own fault; it comes again as soon as it may.
                    Verdict::NotStarted | Verdict::HeldBack => Duration::ZERO,
                    _ => self.backoff.delay(record.receive_count.saturating_sub(1)),
                };
                wait.max(left).max(settled.wait).min(MAX_DELAY)
            };
            let delay = match record.fifo_group() {
                Some(group) => *heads.entry(group).or_insert_with(own),
                None => own(),
            };
            if let Some(receipt) = record.receipt_handle.as_deref() {
                let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
                entries.push((receipt.to_owned(), u32::try_from(seconds).unwrap_or(u32::MAX)));
            }
        }
        entries
    }
}
