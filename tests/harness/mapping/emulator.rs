use std::collections::HashMap;
use std::error::Error;

use serde_json::{Value, json};

use super::Record;

/// The stream of a table on an emulator, read over DynamoDB Streams from its beginning. Emulators do not look at
/// signatures, so that no other SDK is needed.
#[derive(Debug)]
pub struct EmulatorStream {
    http: reqwest::Client,
    endpoint: String,
    account: String,
    arn: String,
    partition_key: String,
    /// Where to go on, by shard.
    iterators: HashMap<String, String>,
}

/// `GetRecords` calls for one shard in one reading.
const MOST_PAGES: usize = 100;

impl EmulatorStream {
    /// The stream `arn` of a table with that partition key. `account` is the access key, as for
    /// [`dynamo_client`](crate::dynamo_client).
    #[must_use]
    pub fn new(endpoint: &str, account: &str, arn: &str, partition_key: &str) -> Self {
        Self {
            http: reqwest::Client::new(),
            endpoint: endpoint.to_owned(),
            account: account.to_owned(),
            arn: arn.to_owned(),
            partition_key: partition_key.to_owned(),
            iterators: HashMap::new(),
        }
    }

    /// The records since the last reading, in the order of each shard.
    ///
    /// # Errors
    /// What the emulator said.
    pub async fn read(&mut self) -> Result<Vec<Record>, Box<dyn Error + Send + Sync>> {
        let described = self.call("DescribeStream", json!({ "StreamArn": self.arn })).await?;
        let shards = described.pointer("/StreamDescription/Shards").and_then(Value::as_array).cloned();
        let mut records = Vec::new();
        for shard in shards.unwrap_or_default() {
            let id = shard.get("ShardId").and_then(Value::as_str).ok_or("a shard has no ShardId")?.to_owned();
            let mut iterator = match self.iterators.remove(&id) {
                Some(iterator) => iterator,
                None => self.first_iterator(&id).await?,
            };
            for _ in 0..MOST_PAGES {
                let page = self.call("GetRecords", json!({ "ShardIterator": iterator })).await?;
                let found = page.get("Records").and_then(Value::as_array).cloned().unwrap_or_default();
                if let Some(next) = page.get("NextShardIterator").and_then(Value::as_str) {
                    next.clone_into(&mut iterator);
                }
                if found.is_empty() {
                    break;
                }
                for record in found {
                    records.push(Record::of_json(record, &self.partition_key, &self.arn)?);
                }
            }
            self.iterators.insert(id, iterator);
        }
        Ok(records)
    }

    async fn first_iterator(&self, shard: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let of = json!({ "StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
        let answer = self.call("GetShardIterator", of).await?;
        let iterator = answer.get("ShardIterator").and_then(Value::as_str);
        Ok(iterator.ok_or("GetShardIterator gave none")?.to_owned())
    }

    async fn call(&self, operation: &str, body: Value) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let scope = format!("Credential={}/20270101/eu-central-1/dynamodb/aws4_request", self.account);
        let request = self
            .http
            .post(&self.endpoint)
            .header("X-Amz-Target", format!("DynamoDBStreams_20120810.{operation}"))
            .header("X-Amz-Date", "20270101T000000Z")
            .header("Authorization", format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0"))
            .header("Content-Type", "application/x-amz-json-1.0")
            .body(body.to_string());
        let answer = request.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if status.is_success() {
            Ok(serde_json::from_str(&text)?)
        } else {
            Err(format!("{operation}: {status} {text}").into())
        }
    }
}
