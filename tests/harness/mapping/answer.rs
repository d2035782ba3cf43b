//! What a function's answer means. All of it: `services-ddb-batchfailurereporting.html`, "Success and failure conditions".

use serde_json::Value;

use super::Record;

/// What becomes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// An empty or null answer, an empty or null `batchItemFailures`.
    Success,
    /// The records before this place are done. Of several failures the one "with the lowest sequence number" is the
    /// checkpoint, and "all records starting from that checkpoint" come again.
    From(usize),
    /// An `itemIdentifier` that is empty, null, or has a bad key name: "a complete failure" of the batch.
    ///
    /// The guide does not list an identifier that is not in the batch, nor an answer that is no such object; both are taken
    /// for complete failures.
    Failure,
}

pub(super) fn judge(batch: &[Record], answer: &str) -> Judged {
    if answer.trim().is_empty() {
        return Judged::Success;
    }
    let answer: Value = match serde_json::from_str(answer) {
        Ok(answer) => answer,
        Err(_) => return Judged::Failure,
    };
    let failures = match (&answer, answer.get("batchItemFailures")) {
        (Value::Null, _) | (Value::Object(_), Some(Value::Null)) => return Judged::Success,
        (Value::Object(fields), None) if fields.is_empty() => return Judged::Success,
        (Value::Object(_), Some(Value::Array(failures))) => failures,
        _ => return Judged::Failure,
    };
    let mut lowest: Option<usize> = None;
    for failure in failures {
        let identifier = failure.get("itemIdentifier").and_then(Value::as_str).unwrap_or_default();
        let Some(place) = batch.iter().position(|record| record.sequence == identifier) else {
            return Judged::Failure;
        };
        lowest = Some(lowest.map_or(place, |lowest| lowest.min(place)));
    }
    lowest.map_or(Judged::Success, Judged::From)
}
