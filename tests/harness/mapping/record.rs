use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use aws_sdk_dynamodb::types::AttributeValue;
use oncebox::store::Item;
use oncebox::testing::StreamEntry;
use serde_json::{Map, Value, json};

/// A record of a stream, in the form in which a function gets it (`with-ddb.html`, example event).
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its `SequenceNumber`.
    pub sequence: String,
    /// Epoch milliseconds when it was written; `ApproximateCreationDateTime` has seconds.
    pub(super) written_at: i64,
    /// The element of `Records`.
    pub(super) json: Value,
    partition: String,
    item: String,
}

/// A record that cannot be told to a function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// An attribute of a type that the harness does not write.
    #[error("attribute {0:?} is of a type that the harness does not write as JSON")]
    Type(String),
    /// A record without one of the fields that all have.
    #[error("a stream record has no {0}")]
    Missing(&'static str),
}

impl Record {
    /// A record of a `MemoryStore`'s stream, as with `NEW_AND_OLD_IMAGES`. `partition_key` is the table's.
    ///
    /// # Errors
    /// [`RecordError`] for binary attributes.
    pub fn of_memory(
        entry: &StreamEntry,
        partition_key: &str,
        stream_arn: &str,
    ) -> Result<Self, RecordError> {
        let mut change = json!({
            "ApproximateCreationDateTime": entry.at_ms.div_euclid(1000),
            "Keys": image(&entry.keys)?,
            "SequenceNumber": entry.sequence,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        });
        for (name, item) in [("NewImage", &entry.new_image), ("OldImage", &entry.old_image)] {
            if let (Some(item), Some(change)) = (item, change.as_object_mut()) {
                change.insert(name.to_owned(), image(item)?);
            }
        }
        let record = json!({
            "eventID": entry.sequence,
            "eventName": entry.change.event_name(),
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": stream_arn.split(':').nth(3).unwrap_or_default(),
            "dynamodb": change,
        });
        let mut record = Self::of_json(record, partition_key, stream_arn)?;
        record.written_at = entry.at_ms;
        Ok(record)
    }

    /// A record as `GetRecords` answers it in JSON.
    ///
    /// # Errors
    /// [`RecordError::Missing`].
    pub fn of_json(mut json: Value, partition_key: &str, stream_arn: &str) -> Result<Self, RecordError> {
        let change = json.get("dynamodb").ok_or(RecordError::Missing("dynamodb"))?;
        let text = change.get("SequenceNumber").and_then(Value::as_str);
        let sequence = text.ok_or(RecordError::Missing("SequenceNumber"))?.to_owned();
        let keys = change.get("Keys").ok_or(RecordError::Missing("Keys"))?;
        let partition = keys.get(partition_key).ok_or(RecordError::Missing("partition key"))?.to_string();
        // Objects of serde_json are sorted by name.
        let item = keys.to_string();
        let seconds = change.get("ApproximateCreationDateTime").and_then(Value::as_f64).unwrap_or_default();
        #[allow(
            clippy::cast_possible_truncation,
            reason = "seconds since 1970 have room in milliseconds of an i64"
        )]
        let written_at = (seconds * 1000.0) as i64;
        if let Some(fields) = json.as_object_mut() {
            fields.insert("eventSourceARN".to_owned(), stream_arn.into());
        }
        Ok(Self { sequence, written_at, json, partition, item })
    }

    /// Records of one partition key are in one shard.
    pub(super) fn shard(&self, shards: usize) -> usize {
        place(&self.partition, shards)
    }

    /// Batches of one shard that are processed at once have different items.
    pub(super) fn lane(&self, lanes: usize) -> usize {
        place(&self.item, lanes)
    }
}

fn place(key: &str, places: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let places = u64::try_from(places).unwrap_or(u64::MAX).max(1);
    usize::try_from(hasher.finish() % places).unwrap_or_default()
}

fn image(item: &Item) -> Result<Value, RecordError> {
    let fields = item.iter().map(|(name, value)| Ok((name.clone(), attribute(name, value)?)));
    Ok(Value::Object(fields.collect::<Result<Map<_, _>, RecordError>>()?))
}

fn attribute(name: &str, value: &AttributeValue) -> Result<Value, RecordError> {
    Ok(match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::Bool(truth) => json!({ "BOOL": truth }),
        AttributeValue::Null(_) => json!({ "NULL": true }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        AttributeValue::Ns(numbers) => json!({ "NS": numbers }),
        AttributeValue::M(fields) => json!({ "M": image(fields)? }),
        AttributeValue::L(values) => {
            let values: Result<Vec<Value>, _> = values.iter().map(|value| attribute(name, value)).collect();
            json!({ "L": values? })
        }
        _ => return Err(RecordError::Type(name.to_owned())),
    })
}
