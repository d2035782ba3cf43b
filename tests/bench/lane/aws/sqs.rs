//! SQS: what a consumer calls. It says yes; nothing here depends on it.

use serde::Deserialize;
use serde_json::json;

use super::Answer;

/// Entries that a batch call takes.
const MAX_ENTRIES: usize = 10;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Batch {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    id: String,
}

pub(super) fn answer(operation: &str, body: &[u8]) -> Result<Answer, String> {
    match operation {
        "ChangeMessageVisibility" | "DeleteMessage" => Ok(Answer::json(&json!({}))),
        "ChangeMessageVisibilityBatch" | "DeleteMessageBatch" => {
            let batch: Batch = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            if !(1..=MAX_ENTRIES).contains(&batch.entries.len()) {
                return Err(format!("{} entries, of 1 to {MAX_ENTRIES}", batch.entries.len()));
            }
            let successful: Vec<_> = batch.entries.iter().map(|entry| json!({ "Id": entry.id })).collect();
            Ok(Answer::json(&json!({ "Successful": successful, "Failed": [] })))
        }
        _ => Err("the operation is not known here".to_owned()),
    }
}
