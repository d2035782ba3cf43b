//! The event source mapping of one shard: records in order, from the checkpoint on again, until it gives up.
//!
//! A batch never ends within a transaction: the records of one may come in any order, and an order that is cut in two
//! could not be put right by anybody.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use aws_lambda_events::event::streams::DynamoDbEventResponse;
use oncebox::relay::Relay;
use oncebox::store::Item;
use oncebox::testing::{Change, StreamEntry};
use serde_json::{Value, json};

use crate::scenario::Run;
use crate::world::World;

pub(crate) struct Shard<'w, 'a> {
    world: &'w World<'a>,
    number: usize,
    instance: Option<Relay>,
    /// Entries of the table's stream, of all shards, that were read.
    read: usize,
    /// Of this shard, from its beginning.
    records: Vec<Record>,
    /// Records before this one are done with.
    checkpoint: usize,
    /// Where the batch ends that is tried again.
    end: usize,
    tries: u32,
}

struct Record {
    sequence: String,
    aggregate: String,
    /// Of an insertion: its transaction, and whether its aggregate numbers all its events.
    inserted_by: Option<(usize, bool)>,
    json: String,
}

impl<'w, 'a> Shard<'w, 'a> {
    pub(crate) fn new(world: &'w World<'a>, number: usize) -> Self {
        Self { world, number, instance: None, read: 0, records: Vec::new(), checkpoint: 0, end: 0, tries: 0 }
    }

    /// Whether there was anything to do.
    pub(crate) async fn invoke(&mut self, run: Run) -> Result<bool, String> {
        tokio::time::sleep(Duration::from_millis(run.wait)).await;
        self.read();
        if self.end <= self.checkpoint {
            self.end = self.cut();
        }
        let batch = self.records.get(self.checkpoint..self.end).unwrap_or_default();
        if batch.is_empty() {
            return Ok(false);
        }
        let records: Vec<&str> = batch.iter().map(|record| &*record.json).collect();
        let event = format!(r#"{{"Records":[{}]}}"#, records.join(","));
        if run.cold {
            self.instance = None;
        }
        let relay = self.instance.get_or_insert_with(|| self.world.relay()).clone();
        let deadline = self.world.clock.deadline_in(run.deadline);
        let ends = Duration::from_millis(run.dies.unwrap_or(u64::MAX).min(run.deadline));
        let answer = tokio::time::timeout(ends, relay.handle(&event, deadline)).await;
        if answer.is_err() {
            self.instance = None;
        }
        let failed_at = match answer {
            Ok(Ok(answer)) => failed_at(batch, &answer)?,
            Ok(Err(error)) => return Err(format!("every record has a number: {error}")),
            Err(_) => Some(0),
        };
        match failed_at {
            None => (self.checkpoint, self.tries) = (self.end, 0),
            Some(at) if at > 0 => (self.checkpoint, self.tries) = (self.checkpoint + at, 0),
            Some(_) if self.tries < self.world.scenario.mapping.retries => self.tries += 1,
            Some(_) => self.give_up(),
        }
        Ok(true)
    }

    fn give_up(&mut self) {
        let batch = self.records.get(self.checkpoint..self.end).unwrap_or_default();
        let inserted = batch.iter().filter(|record| record.inserted_by.is_some());
        self.world.given_up.lock().unwrap().extend(inserted.map(|record| record.aggregate.clone()));
        (self.checkpoint, self.tries) = (self.end, 0);
    }

    /// Goes on where it stopped. Transactions come whole.
    fn read(&mut self) {
        let entries = self.world.memory.stream_after("outbox", self.read);
        self.read += entries.len();
        let spec = self.world.scenario.mapping;
        let mut records: Vec<Record> = Vec::new();
        for entry in entries {
            let aggregate = key(&entry.keys, "pk");
            let inserted = entry.change == Change::Insert;
            if self.is_ours(&aggregate) && (inserted || !spec.filter) {
                let inserted_by =
                    inserted.then(|| self.world.transaction_of(&key(&entry.keys, "sk"))).flatten();
                let json = json_of(&entry).to_string();
                records.push(Record { sequence: entry.sequence, aggregate, inserted_by, json });
            }
        }
        if spec.reverse {
            for group in records.chunk_by_mut(Record::is_with) {
                // Rows without a number have no other order than that of the stream.
                if group.iter().all(|record| record.inserted_by.is_some_and(|(_, numbered)| numbered)) {
                    group.reverse();
                }
            }
        }
        self.records.extend(records);
    }

    fn is_ours(&self, aggregate: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        aggregate.hash(&mut hasher);
        let shards = u64::try_from(self.world.scenario.invocations.len()).unwrap();
        usize::try_from(hasher.finish() % shards) == Ok(self.number)
    }

    fn cut(&self) -> usize {
        let mut end = self.records.len().min(self.checkpoint + self.world.scenario.mapping.batch);
        while let Some([last, next]) = end.checked_sub(1).and_then(|last| self.records.get(last..=end))
            && last.is_with(next)
        {
            end += 1;
        }
        end
    }
}

impl Record {
    /// Whether both were inserted by one transaction.
    fn is_with(&self, other: &Self) -> bool {
        let of = |record: &Self| record.inserted_by.map(|(transaction, _)| transaction);
        of(self).is_some() && of(self) == of(other)
    }
}

/// Where the checkpoint is then; `None` when all went well. Lambda takes an answer that it cannot place for the failure of
/// the whole batch; the relay must not give one.
fn failed_at(batch: &[Record], answer: &DynamoDbEventResponse) -> Result<Option<usize>, String> {
    let mut places = Vec::new();
    for failure in &answer.batch_item_failures {
        let number = failure.item_identifier.as_deref();
        let place = batch.iter().position(|record| Some(record.sequence.as_str()) == number);
        places.push(place.ok_or_else(|| format!("{number:?} is not in the batch"))?);
    }
    Ok(places.into_iter().min())
}

fn json_of(entry: &StreamEntry) -> Value {
    let mut change = json!({ "SequenceNumber": entry.sequence, "Keys": image(&entry.keys) });
    if let Some(new) = &entry.new_image {
        change["NewImage"] = image(new);
    }
    json!({ "eventName": entry.change.event_name(), "awsRegion": "r", "dynamodb": change })
}

fn image(item: &Item) -> Value {
    let value = |value: &aws_sdk_dynamodb::types::AttributeValue| match value.as_s() {
        Ok(text) => json!({ "S": text }),
        Err(_) => json!({ "N": value.as_n().unwrap() }),
    };
    item.iter().map(|(name, of)| (name.clone(), value(of))).collect::<serde_json::Map<_, _>>().into()
}

fn key(item: &Item, name: &str) -> String {
    item[name].as_s().unwrap().clone()
}
