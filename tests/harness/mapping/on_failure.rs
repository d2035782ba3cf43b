use serde_json::{Value, json};

use super::Record;

/// What goes to the on-failure destination when records are discarded: where they are in the stream, and not what is in
/// them (`services-dynamodb-errors.html`, example invocation record).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnFailure {
    /// Why they were discarded.
    pub condition: Condition,
    /// How often the batch was sent.
    pub invocations: u32,
    /// The shard.
    pub shard: String,
    /// Sequence number of the first record.
    pub start: String,
    /// Sequence number of the last record.
    pub end: String,
    /// Number of records.
    pub batch_size: usize,
}

/// Why records were discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// `MaximumRetryAttempts` was reached.
    RetryAttemptsExhausted,
    /// `MaximumRecordAgeInSeconds` was passed. The guide has no example of this one.
    RecordAgeExceeded,
}

impl OnFailure {
    /// `None` for no records.
    pub(super) fn of(
        records: &[Record],
        shard: usize,
        condition: Condition,
        invocations: u32,
    ) -> Option<Self> {
        let (first, last) = (records.first()?, records.last()?);
        Some(Self {
            condition,
            invocations,
            shard: shard_name(shard),
            start: first.sequence.clone(),
            end: last.sequence.clone(),
            batch_size: records.len(),
        })
    }

    /// The message to the destination.
    #[must_use]
    pub fn json(&self) -> Value {
        let condition = match self.condition {
            Condition::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Condition::RecordAgeExceeded => "RecordAgeExceeded",
        };
        json!({
            "version": "1.0",
            "requestContext": { "condition": condition, "approximateInvokeCount": self.invocations },
            "DDBStreamBatchInfo": {
                "shardId": self.shard,
                "startSequenceNumber": self.start,
                "endSequenceNumber": self.end,
                "batchSize": self.batch_size,
            },
        })
    }
}

fn shard_name(shard: usize) -> String {
    format!("shardId-{shard:020}")
}
