use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Invocation, Mapping, StreamRecord};

/// Why records are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    RetryAttemptsExhausted,
    RecordAgeExceeded,
}

/// What Lambda sends to an SQS or SNS on-failure destination: the position on the stream, not the records
/// (`services-dynamodb-errors`, which has an example of the first condition; the second is known from other sources).
pub(super) fn failure_record(
    mapping: &Mapping,
    records: &[StreamRecord],
    condition: Condition,
    invocations: u32,
    last: Option<&Invocation>,
    now: Timestamp,
) -> Option<Value> {
    let (first, end) = (records.first()?, records.last()?);
    let mut record = json!({
        "requestContext": {
            "requestId": format!("{}-{}", first.shard, first.sequence_number),
            "functionArn": mapping.function_arn,
            "condition": format!("{condition:?}"),
            "approximateInvokeCount": invocations,
        },
        "version": "1.0",
        "timestamp": format!("{now:.3}"),
        "DDBStreamBatchInfo": {
            "shardId": first.shard,
            "startSequenceNumber": first.sequence_number,
            "endSequenceNumber": end.sequence_number,
            "approximateArrivalOfFirstRecord": format!("{:.0}", first.created),
            "approximateArrivalOfLastRecord": format!("{:.0}", end.created),
            "batchSize": records.len(),
            "streamArn": mapping.stream_arn,
        },
    });
    if let (Some(last), Some(fields)) = (last, record.as_object_mut()) {
        let mut response = json!({ "statusCode": 200, "executedVersion": "$LATEST" });
        if let (Invocation::FunctionError, Some(response)) = (last, response.as_object_mut()) {
            response.insert("functionError".to_owned(), json!("Unhandled"));
        }
        fields.insert("responseContext".to_owned(), response);
    }
    Some(record)
}
