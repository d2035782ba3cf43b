use serde_json::Value;

use super::{Mapping, StreamRecord};

/// How one invocation went.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    /// The function answered this. An empty payload is [`Value::Null`].
    Answered(Value),
    /// The function failed, timed out or died: `X-Amz-Function-Error`.
    FunctionError,
    /// Lambda could not invoke it, as when it is throttled.
    NotInvoked,
}

/// What an invocation means for its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Done,
    /// Everything before this position is done; it and all after it come again.
    From(usize),
    /// All of it comes again.
    Failed,
    NotInvoked,
}

/// Reads an answer as `services-ddb-batchfailurereporting` does.
///
/// * Without `ReportBatchItemFailures` an answer is not looked at.
/// * Complete success: a null or empty answer, a null or empty list.
/// * Complete failure: an `itemIdentifier` that is empty, null, or under another name.
/// * Otherwise the lowest sequence number is the checkpoint.
///
/// A number that the batch does not have, and an answer that is neither null nor an object, are not on that page; taken for
/// failures, since a success would lose records.
pub(super) fn verdict(invocation: &Invocation, mapping: &Mapping, batch: &[StreamRecord]) -> Verdict {
    let answer = match invocation {
        Invocation::NotInvoked => return Verdict::NotInvoked,
        Invocation::FunctionError => return Verdict::Failed,
        Invocation::Answered(_) if !mapping.report_failures => return Verdict::Done,
        Invocation::Answered(answer) => answer,
    };
    let failures = match answer {
        Value::Null => return Verdict::Done,
        Value::Object(fields) => match fields.get("batchItemFailures") {
            None | Some(Value::Null) => return Verdict::Done,
            Some(Value::Array(failures)) => failures,
            Some(_) => return Verdict::Failed,
        },
        _ => return Verdict::Failed,
    };
    let mut lowest = None;
    for failure in failures {
        let named = failure.get("itemIdentifier").and_then(Value::as_str);
        let position = named.and_then(|name| batch.iter().position(|record| record.sequence_number == name));
        match position {
            // A batch is in the order of its sequence numbers.
            Some(position) => lowest = Some(lowest.map_or(position, |lowest: usize| lowest.min(position))),
            None => return Verdict::Failed,
        }
    }
    lowest.map_or(Verdict::Done, Verdict::From)
}
