use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// One record of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamRecord {
    /// The shard that it was read from, or that [`simulate_shards`] gave it.
    pub shard: String,
    /// Its place in that shard.
    pub sequence_number: String,
    /// When the item was written, to the second.
    pub created: Timestamp,
    /// The record as the function sees it.
    pub json: Value,
}

impl StreamRecord {
    /// Reads a record; `None` if it has no sequence number or no time of creation, which every stream's records have.
    #[must_use]
    pub fn read(shard: &str, json: Value) -> Option<Self> {
        let change = json.get("dynamodb")?;
        let sequence_number = change.get("SequenceNumber")?.as_str()?.to_owned();
        let seconds = change.get("ApproximateCreationDateTime")?.as_f64()?;
        let created = Timestamp::UNIX_EPOCH + Duration::try_from_secs_f64(seconds).ok()?;
        Some(Self { shard: shard.to_owned(), sequence_number, created, json })
    }

    /// Which of a shard's concurrent batches it belongs to.
    ///
    /// Lambda keeps the order of one *item*, that is of partition and sort key together (`with-ddb`, polling and batching
    /// streams). Items with one partition key may be in several batches at once.
    pub(super) fn lane(&self, parallelization_factor: usize) -> usize {
        let keys = self.json.pointer("/dynamodb/Keys").map(Value::to_string).unwrap_or_default();
        place_of(&keys, parallelization_factor)
    }

    pub(super) fn age(&self, now: Timestamp) -> Duration {
        now.duration_since(self.created).try_into().unwrap_or_default()
    }
}

/// Spreads a stream's records over so many shards by partition key, as DynamoDB's partitions do; an emulator has but one
/// shard. Records of one partition key stay in one shard, in order.
#[must_use]
pub fn simulate_shards(
    mut records: Vec<StreamRecord>,
    partition_key: &str,
    shards: usize,
) -> Vec<StreamRecord> {
    for record in &mut records {
        let keys = record.json.pointer("/dynamodb/Keys");
        let key = keys.and_then(|keys| keys.get(partition_key)).map(Value::to_string).unwrap_or_default();
        record.shard = format!("{}-{}", record.shard, place_of(&key, shards));
    }
    records
}

/// The same in every run.
fn place_of(key: &str, places: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let places = u64::try_from(places.max(1)).unwrap_or(1);
    usize::try_from(hasher.finish() % places).unwrap_or_default()
}
