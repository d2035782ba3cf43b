use aws_sdk_dynamodb::Client as Dynamo;
use serde_json::{Map, Value, json};

use super::StreamRecord;

/// The most records that one `GetRecords` answers.
const PAGE: usize = 1000;

/// A table's stream on an emulator, read from its oldest record on (`TRIM_HORIZON`) through the API of DynamoDB Streams.
#[derive(Debug)]
pub struct TableStream {
    http: reqwest::Client,
    endpoint: String,
    account: String,
    region: String,
    arn: String,
    /// Shards with where to read on; a closed shard has nowhere.
    shards: Vec<(String, Option<String>)>,
}

/// Why a stream could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The table is not there, or has no stream.
    #[error("the table {0:?} has no stream")]
    NoStream(String),
    /// The emulator cannot be reached, or answers no JSON.
    #[error("the stream could not be read")]
    Http(#[from] reqwest::Error),
    /// It was refused.
    #[error("{action}: {answer}")]
    Refused {
        /// What was asked for.
        action: &'static str,
        /// What the emulator said.
        answer: Value,
    },
    /// An answer lacks what every answer has.
    #[error("{action} answered no {field}")]
    Lacks {
        /// What was asked for.
        action: &'static str,
        /// What is missing.
        field: &'static str,
    },
}

impl TableStream {
    /// Opens the stream of `table` on the emulator at `endpoint`, in the account and Region of `dynamo`.
    ///
    /// # Errors
    /// [`StreamError`] says what is missing.
    pub async fn open(
        dynamo: &Dynamo,
        endpoint: &str,
        account: &str,
        table: &str,
    ) -> Result<Self, StreamError> {
        let description = dynamo.describe_table().table_name(table).send().await.ok();
        let arn = description.and_then(|answer| answer.table?.latest_stream_arn);
        let arn = arn.ok_or_else(|| StreamError::NoStream(table.to_owned()))?;
        let region = dynamo.config().region().map(ToString::to_string).unwrap_or_default();
        let (endpoint, account) = (endpoint.to_owned(), account.to_owned());
        let http = reqwest::Client::new();
        Ok(Self { http, endpoint, account, region, arn, shards: Vec::new() })
    }

    /// Its ARN.
    #[must_use]
    pub fn arn(&self) -> &str {
        &self.arn
    }

    /// All records that are new since the last call, each as a function sees it.
    ///
    /// # Errors
    /// [`StreamError`]; what was read before it is lost to this reader.
    pub async fn read(&mut self) -> Result<Vec<StreamRecord>, StreamError> {
        self.find_shards().await?;
        let mut records = Vec::new();
        for position in 0..self.shards.len() {
            while let Some((shard, iterator)) =
                self.shards.get(position).and_then(|(shard, next)| Some((shard.clone(), next.clone()?)))
            {
                let answer =
                    self.call("GetRecords", &json!({ "ShardIterator": iterator, "Limit": PAGE })).await?;
                let page = answer.get("Records").and_then(Value::as_array);
                let page = page.ok_or(StreamError::Lacks { action: "GetRecords", field: "Records" })?;
                for record in page {
                    let read = StreamRecord::read(&shard, self.as_delivered(record));
                    records.push(read.ok_or(StreamError::Lacks {
                        action: "GetRecords",
                        field: "SequenceNumber or ApproximateCreationDateTime",
                    })?);
                }
                let next = answer.get("NextShardIterator").and_then(Value::as_str).map(str::to_owned);
                if let Some((_, iterator)) = self.shards.get_mut(position) {
                    *iterator = next;
                }
                if page.is_empty() {
                    break;
                }
            }
        }
        Ok(records)
    }

    async fn find_shards(&mut self) -> Result<(), StreamError> {
        let answer = self.call("DescribeStream", &json!({ "StreamArn": self.arn })).await?;
        let shards = answer.pointer("/StreamDescription/Shards").and_then(Value::as_array);
        let shards = shards.ok_or(StreamError::Lacks { action: "DescribeStream", field: "Shards" })?;
        for shard in shards.iter().filter_map(|shard| shard.get("ShardId")?.as_str()) {
            if self.shards.iter().any(|(known, _)| known == shard) {
                continue;
            }
            let wanted =
                json!({ "StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
            let answer = self.call("GetShardIterator", &wanted).await?;
            let iterator = answer.get("ShardIterator").and_then(Value::as_str).map(str::to_owned);
            let lacks = StreamError::Lacks { action: "GetShardIterator", field: "ShardIterator" };
            self.shards.push((shard.to_owned(), Some(iterator.ok_or(lacks)?)));
        }
        Ok(())
    }

    /// A record of the API, as the function sees it: it gains the stream's ARN.
    fn as_delivered(&self, record: &Value) -> Value {
        let mut fields: Map<String, Value> = record.as_object().cloned().unwrap_or_default();
        fields.insert("eventSourceARN".to_owned(), json!(self.arn));
        Value::Object(fields)
    }

    async fn call(&self, action: &'static str, body: &Value) -> Result<Value, StreamError> {
        // An emulator reads the account and the Region out of the signature, and does not check it.
        let scope = format!("{}/20260101/{}/dynamodb/aws4_request", self.account, self.region);
        let signature =
            format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature=0");
        let answer = self
            .http
            .post(&self.endpoint)
            .header("X-Amz-Target", format!("DynamoDBStreams_20120810.{action}"))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Date", "20260101T000000Z")
            .header("Authorization", signature)
            .body(body.to_string())
            .timeout(std::time::Duration::from_secs(30))
            .send()
            .await?;
        let refused = !answer.status().is_success();
        let answer: Value = answer.json().await?;
        if refused { Err(StreamError::Refused { action, answer }) } else { Ok(answer) }
    }
}
