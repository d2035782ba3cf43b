use std::collections::VecDeque;

use jiff::Timestamp;
use oncebox::time::Clock;
use serde_json::{Value, json};

use super::answer::{Verdict, verdict};
use super::discard::{Condition, failure_record};
use super::mapping::{MAX_PAYLOAD, RETENTION};
use super::{Invocation, Mapping, StreamRecord};

/// Records that go to the function one batch after the other: a shard's, or with a `ParallelizationFactor` a part of them.
/// What holds up one lane does not hold up another (`with-ddb`).
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Not in a batch yet.
    pub(super) waiting: VecDeque<StreamRecord>,
    /// The batch in work is the last; before it stand what bisecting has put off.
    work: Vec<Batch>,
    pub(super) discarded: Vec<Value>,
    pub(super) trimmed: usize,
}

#[derive(Debug)]
struct Batch {
    records: Vec<StreamRecord>,
    invocations: u32,
    /// Retries that count against the quota.
    retries: u32,
    last: Option<Invocation>,
}

impl Lane {
    /// Until nothing is left. A record that fails for ever leaves after the stream's 24 hours at the latest.
    pub(super) async fn run(
        &mut self,
        mapping: &Mapping,
        function: &impl AsyncFn(Value) -> Invocation,
        clock: &dyn Clock,
    ) {
        let mut failures = 0_u32;
        while let Some(event) = self.next(mapping, clock.now()) {
            let invocation = function(event).await;
            failures =
                if self.settle(mapping, invocation, clock.now()) { 0 } else { failures.saturating_add(1) };
            if failures > 0 {
                tokio::time::sleep(mapping.pause_after(failures)).await;
            }
        }
    }

    /// The event of the next batch, which stays in work until it is settled.
    fn next(&mut self, mapping: &Mapping, now: Timestamp) -> Option<Value> {
        loop {
            if self.work.is_empty() {
                let batch = self.gather(mapping)?;
                self.work.push(batch);
            }
            self.leave_behind(mapping, now);
            match self.work.last() {
                Some(batch) if batch.records.is_empty() => drop(self.work.pop()),
                Some(batch) => {
                    let records: Vec<&Value> = batch.records.iter().map(|record| &record.json).collect();
                    return Some(json!({ "Records": records }));
                }
                None => {}
            }
        }
    }

    /// A batch is full by count or by payload (`with-ddb`). There is no batching window: whatever is there is sent.
    fn gather(&mut self, mapping: &Mapping) -> Option<Batch> {
        let mut records = vec![self.waiting.pop_front()?];
        let mut bytes = records.iter().map(|record| record.json.to_string().len()).sum::<usize>();
        while records.len() < mapping.batch_size
            && let Some(record) = self.waiting.front()
        {
            bytes = bytes.saturating_add(record.json.to_string().len());
            if bytes > MAX_PAYLOAD {
                break;
            }
            records.extend(self.waiting.pop_front());
        }
        Some(Batch { records, invocations: 0, retries: 0, last: None })
    }

    /// Records older than `MaximumRecordAgeInSeconds` are discarded and told of; those that the stream no longer keeps are
    /// just gone (`services-ddb-params`).
    fn leave_behind(&mut self, mapping: &Mapping, now: Timestamp) {
        let Some(batch) = self.work.last_mut() else { return };
        let older =
            |batch: &Batch, limit| batch.records.iter().take_while(|record| record.age(now) > limit).count();
        let gone = older(batch, RETENTION);
        self.trimmed += batch.records.drain(..gone).count();
        if let Some(limit) = mapping.max_age {
            let old: Vec<_> = batch.records.drain(..older(batch, limit)).collect();
            let (invocations, last) = (batch.invocations, batch.last.as_ref());
            let condition = Condition::RecordAgeExceeded;
            self.discarded.extend(failure_record(mapping, &old, condition, invocations, last, now));
        }
    }

    /// Answers whether the lane has moved, so that no pause is due.
    fn settle(&mut self, mapping: &Mapping, invocation: Invocation, now: Timestamp) -> bool {
        let Some(mut batch) = self.work.pop() else { return true };
        let verdict = verdict(&invocation, mapping, &batch.records);
        if verdict != Verdict::NotInvoked {
            batch.invocations += 1;
            batch.last = Some(invocation);
        }
        match verdict {
            Verdict::Done => return true,
            // Not invoked is not failed: it is tried until the records are too old (`services-dynamodb-errors`).
            Verdict::NotInvoked => self.work.push(batch),
            // Cut at the number that was answered, if both settings are on: only the rest is tried again
            // (`services-ddb-batchfailurereporting`), and splitting does not consume the quota (`services-dynamodb-errors`).
            Verdict::From(position) if mapping.bisect && position > 0 => {
                batch.records.drain(..position);
                self.work.push(batch);
            }
            // The checkpoint moves, and everything from it on is tried again. Whether the quota starts anew is not
            // documented; here it does not.
            Verdict::From(position) => {
                batch.records.drain(..position);
                self.retry(mapping, batch, now);
            }
            // An error of the function halves the batch whatever else is set (`services-ddb-batchfailurereporting`). That an
            // answer which fails the whole batch does so too is not documented.
            Verdict::Failed if mapping.bisect && batch.records.len() > 1 => self.halve(batch),
            Verdict::Failed => self.retry(mapping, batch, now),
        }
        false
    }

    /// Both halves keep the count of retries, since splitting does not consume the quota (`services-dynamodb-errors`).
    fn halve(&mut self, mut batch: Batch) {
        let second = batch.records.split_off(batch.records.len() / 2);
        let (invocations, retries, last) = (batch.invocations, batch.retries, batch.last.clone());
        self.work.push(Batch { records: second, invocations, retries, last });
        self.work.push(batch);
    }

    /// Again, or given up after `MaximumRetryAttempts`: the lane goes on behind it (`services-dynamodb-errors`).
    fn retry(&mut self, mapping: &Mapping, mut batch: Batch, now: Timestamp) {
        if mapping.max_retries.is_some_and(|most| batch.retries >= most) {
            let Batch { records, invocations, last, .. } = &batch;
            let condition = Condition::RetryAttemptsExhausted;
            let told = failure_record(mapping, records, condition, *invocations, last.as_ref(), now);
            self.discarded.extend(told);
        } else {
            batch.retries += 1;
            self.work.push(batch);
        }
    }
}
