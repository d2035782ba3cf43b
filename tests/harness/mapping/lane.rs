//! One sequence of records that is processed batch after batch: a shard, or a part of one.

use std::collections::VecDeque;

use oncebox::time::Clock;

use super::answer::{Judged, judge};
use super::on_failure::{Condition, OnFailure};
use super::{Mapping, Record};

#[derive(Debug)]
pub(super) struct Lane {
    shard: usize,
    /// From the checkpoint on.
    records: VecDeque<Record>,
    /// What is tried again, in order; together the first records. Empty when the next batch is a new one.
    batches: VecDeque<Batch>,
}

/// A number of records and how often they were sent.
#[derive(Debug, Clone, Copy)]
struct Batch {
    size: usize,
    retries: u32,
    invocations: u32,
}

impl Lane {
    pub(super) fn new(shard: usize) -> Self {
        Self { shard, records: VecDeque::new(), batches: VecDeque::new() }
    }

    pub(super) fn push(&mut self, record: Record) {
        self.records.push_back(record);
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The records to send next, without those that are too old to be sent.
    pub(super) fn batch(
        &mut self,
        mapping: &Mapping,
        clock: &dyn Clock,
        lost: &mut Vec<OnFailure>,
    ) -> Vec<Record> {
        if let Some(max_age) = mapping.max_age {
            let max_age = i64::try_from(max_age.as_millis()).unwrap_or(i64::MAX);
            let now = clock.now().as_millisecond();
            let old =
                self.records.iter().take_while(|record| now.saturating_sub(record.written_at) > max_age);
            let old = old.count();
            self.discard_old(old, lost);
        }
        if self.batches.is_empty() && !self.records.is_empty() {
            let size = self.records.len().min(mapping.batch_size);
            self.batches.push_back(Batch { size, retries: 0, invocations: 0 });
        }
        let size = self.batches.front().map_or(0, |batch| batch.size);
        self.records.iter().take(size).cloned().collect()
    }

    fn discard_old(&mut self, mut old: usize, lost: &mut Vec<OnFailure>) {
        while old > 0 {
            // Those of a batch that was sent before are one message, the others another.
            let sent = self.batches.front().copied();
            let size = sent.map_or(old, |batch| batch.size.min(old));
            let records: Vec<Record> = self.records.drain(..size.min(self.records.len())).collect();
            let invocations = sent.map_or(0, |batch| batch.invocations);
            lost.extend(OnFailure::of(&records, self.shard, Condition::RecordAgeExceeded, invocations));
            self.shrink(size);
            old -= size;
        }
    }

    /// The first `size` records of the first batch are done with.
    fn shrink(&mut self, size: usize) {
        if let Some(batch) = self.batches.front_mut() {
            batch.size = batch.size.saturating_sub(size);
            if batch.size == 0 {
                self.batches.pop_front();
            }
        }
    }

    /// Goes on after an invocation; `Err` is a function error, a time-out among them. Whether all went well.
    pub(super) fn answered(
        &mut self,
        sent: &[Record],
        answer: &Result<String, String>,
        mapping: &Mapping,
        lost: &mut Vec<OnFailure>,
    ) -> bool {
        let Some(batch) = self.batches.front_mut() else { return true };
        batch.invocations += 1;
        let judged = match answer {
            Ok(answer) if mapping.report_failures => judge(sent, answer),
            Ok(_) => Judged::Success,
            Err(_) if mapping.bisect && batch.size > 1 => {
                self.halve();
                return false;
            }
            Err(_) => Judged::Failure,
        };
        match judged {
            Judged::Success => {
                self.records.drain(..sent.len());
                self.shrink(sent.len());
                true
            }
            Judged::From(place) => {
                self.records.drain(..place);
                self.shrink(place);
                self.failed(mapping, lost);
                false
            }
            Judged::Failure => {
                self.failed(mapping, lost);
                false
            }
        }
    }

    fn halve(&mut self) {
        if let Some(mut batch) = self.batches.pop_front() {
            let second = Batch { size: batch.size / 2, ..batch };
            batch.size -= second.size;
            self.batches.push_front(second);
            self.batches.push_front(batch);
        }
    }

    /// What is left of the first batch comes again, or is discarded.
    fn failed(&mut self, mapping: &Mapping, lost: &mut Vec<OnFailure>) {
        let Some(batch) = self.batches.front_mut() else { return };
        if mapping.retries.is_none_or(|retries| batch.retries < retries) {
            batch.retries += 1;
            return;
        }
        let Batch { size, invocations, .. } = *batch;
        let records: Vec<Record> = self.records.drain(..size.min(self.records.len())).collect();
        lost.extend(OnFailure::of(&records, self.shard, Condition::RetryAttemptsExhausted, invocations));
        self.shrink(size);
    }
}
