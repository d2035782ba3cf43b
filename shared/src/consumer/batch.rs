use std::collections::HashMap;
use std::time::Duration;

use aws_lambda_events::event::sqs::SqsBatchResponse;
use futures::stream::{self, StreamExt};
use jiff::Timestamp;

use super::record::{self, Record};
use super::{Consumer, Counts, Verdict, decode, report};
use crate::event::{Envelope, Malformed};
use crate::time::Deadline;

/// An invocation that fails as a whole, so that every record of the batch comes again. What had been committed stays
/// committed, and is a duplicate then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvocationError {
    /// The event is no SQS batch.
    #[error("the event is no SQS batch: it needs a list \"Records\"")]
    NotABatch(#[source] serde_json::Error),
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

/// One record with its decoded body.
struct Entry<'a> {
    index: usize,
    record: &'a Record<'a>,
    body: Result<Envelope, Malformed>,
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
        let now = self.engine.settings.clock.now();
        let records = record::split(event).map_err(InvocationError::NotABatch)?;
        report::received(&self.engine.settings.name, records.len());
        let entries = records.iter().enumerate().map(|(index, record)| Entry {
            index,
            record,
            body: record.body.as_deref().ok_or(Malformed::NoBody).and_then(decode),
        });
        let work_until = deadline.less(self.engine.settings.margin);
        let lanes = into_lanes(entries);
        let mut verdicts = vec![Verdict::NotStarted; records.len()];
        let mut running = stream::iter(lanes)
            .map(|lane| self.run_lane(lane, now, work_until))
            .buffer_unordered(self.engine.settings.concurrency);
        while let Some(done) = running.next().await {
            for (index, verdict) in done {
                if let Some(slot) = verdicts.get_mut(index) {
                    *slot = verdict;
                }
            }
        }
        drop(running);
        report::done(&self.engine.settings.name, &Counts::of(&verdicts), records.len());
        respond(&records, &verdicts)
    }

    /// One lane in order. In a FIFO lane, nothing is started behind a record that has to come again.
    async fn run_lane(&self, lane: Vec<Entry<'_>>, now: Timestamp, until: Deadline) -> Vec<(usize, Verdict)> {
        let clock = &self.engine.settings.clock;
        let mut blocked = false;
        let mut longest = Duration::ZERO;
        let mut done = Vec::with_capacity(lane.len());
        for Entry { index, record, body } in lane {
            let started = clock.now();
            let left = until.left(started);
            let verdict = if blocked {
                Verdict::HeldBack
            } else if left.is_zero() || left < longest {
                Verdict::NotStarted
            } else {
                match body {
                    Ok(envelope) => {
                        let key = envelope.key();
                        let verdict = self.engine.handle(record, envelope, now, until).await;
                        report::record(&self.engine.settings.name, record, Some(&key), &verdict);
                        verdict
                    }
                    Err(malformed) => {
                        let verdict = Verdict::Malformed(malformed.to_string());
                        report::record(&self.engine.settings.name, record, None, &verdict);
                        verdict
                    }
                }
            };
            longest =
                longest.max(Duration::try_from(clock.now().duration_since(started)).unwrap_or_default());
            blocked |= record.is_fifo() && !verdict.is_done();
            done.push((index, verdict));
        }
        done
    }
}

/// Records that must not run side by side share a lane: one FIFO group, or copies of one event. Lanes keep the order
/// of the batch.
fn into_lanes<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Vec<Vec<Entry<'a>>> {
    let mut lanes: Vec<Vec<Entry<'a>>> = Vec::new();
    let mut by_key: HashMap<(bool, String), usize> = HashMap::new();
    for entry in entries {
        let key = if entry.record.is_fifo() {
            Some((true, entry.record.group.as_deref().unwrap_or_default().to_owned()))
        } else {
            entry.body.as_ref().ok().map(|envelope| (false, envelope.key().as_str().to_owned()))
        };
        let lane = key.and_then(|key| match by_key.get(&key) {
            Some(lane) => Some(*lane),
            None => {
                by_key.insert(key, lanes.len());
                None
            }
        });
        match lane.and_then(|lane| lanes.get_mut(lane)) {
            Some(lane) => lane.push(entry),
            None => lanes.push(vec![entry]),
        }
    }
    lanes
}

fn respond(records: &[Record<'_>], verdicts: &[Verdict]) -> Result<SqsBatchResponse, InvocationError> {
    let unidentified = records.iter().filter(|record| record.message_id.is_none()).count();
    if unidentified > 0 {
        return Err(InvocationError::Unidentified { records: unidentified, of: records.len() });
    }
    let mut response = SqsBatchResponse::default();
    for (record, verdict) in records.iter().zip(verdicts) {
        if let Some(id) = record.message_id.as_deref()
            && !verdict.is_done()
        {
            response.add_failure(id);
        }
    }
    Ok(response)
}
