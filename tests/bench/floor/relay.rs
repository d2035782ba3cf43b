//! The floor of a relay: stream records out in batches of ten to one standard topic, then deleted 25 at a time. Nothing
//! else: no order, no retry, no quarantine, no routes, no deadline. `DELETE=off` leaves the deletes out too.

use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, WriteRequest};
use aws_sdk_sns::types::{MessageAttributeValue, PublishBatchRequestEntry};
use futures::stream::{self, StreamExt};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

/// As many calls as oncebox has in flight.
const CONCURRENCY: usize = 8;

#[derive(Deserialize)]
struct Batch {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    dynamodb: Change,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change {
    sequence_number: String,
    new_image: Row,
}

#[derive(Deserialize)]
struct Row {
    pk: Text,
    sk: Text,
    body: Text,
    event_type: Text,
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    batch_item_failures: Vec<Failure>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    item_identifier: String,
}

struct App {
    sns: aws_sdk_sns::Client,
    dynamo: aws_sdk_dynamodb::Client,
    topic: String,
    outbox: String,
    delete: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let app = App {
        sns: aws_sdk_sns::Client::new(&config),
        dynamo: aws_sdk_dynamodb::Client::new(&config),
        topic: std::env::var("TOPIC_ARN")?,
        outbox: std::env::var("OUTBOX_TABLE")?,
        delete: std::env::var("DELETE").map_or(true, |delete| delete != "off"),
    };
    let app = &app;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Batch>| app.handle(event.payload))).await
}

impl App {
    async fn handle(&self, batch: Batch) -> Result<Answer, Error> {
        let (mut numbers, mut rows) = (Vec::new(), Vec::new());
        for Record { dynamodb } in batch.records {
            numbers.push(dynamodb.sequence_number);
            rows.push(dynamodb.new_image);
        }
        let (mut published, mut keys) = (HashSet::new(), Vec::with_capacity(rows.len()));
        let mut tens = Vec::new();
        let mut rows = rows.into_iter();
        loop {
            let ten: Vec<Row> = rows.by_ref().take(10).collect();
            if ten.is_empty() {
                break;
            }
            tens.push((tens.len() * 10, ten));
        }
        let mut calls =
            stream::iter(tens).map(|(first, ten)| self.publish(first, ten)).buffer_unordered(CONCURRENCY);
        while let Some((first, accepted, ten)) = calls.next().await {
            for (place, row) in ten.into_iter().enumerate() {
                if accepted.contains(&place.to_string()) {
                    published.insert(first + place);
                    keys.push(row);
                }
            }
        }
        drop(calls);
        if self.delete {
            self.delete(keys).await?;
        }
        let first_failed = numbers
            .into_iter()
            .enumerate()
            .find_map(|(place, number)| (!published.contains(&place)).then_some(number));
        let batch_item_failures =
            first_failed.map(|item_identifier| Failure { item_identifier }).into_iter().collect();
        Ok(Answer { batch_item_failures })
    }

    async fn publish(&self, first: usize, mut rows: Vec<Row>) -> (usize, HashSet<String>, Vec<Row>) {
        let mut call = self.sns.publish_batch().topic_arn(&self.topic);
        for (place, row) in rows.iter_mut().enumerate() {
            let attribute = MessageAttributeValue::builder()
                .data_type("String")
                .string_value(std::mem::take(&mut row.event_type.text))
                .build();
            let entry = PublishBatchRequestEntry::builder()
                .id(place.to_string())
                .message(std::mem::take(&mut row.body.text))
                .set_message_attributes(
                    attribute.ok().map(|attribute| HashMap::from([("event_type".to_owned(), attribute)])),
                )
                .build();
            let Ok(entry) = entry else { continue };
            call = call.publish_batch_request_entries(entry);
        }
        let accepted = match call.send().await {
            Ok(answer) => {
                answer.successful.unwrap_or_default().into_iter().filter_map(|entry| entry.id).collect()
            }
            Err(_) => HashSet::new(),
        };
        (first, accepted, rows)
    }

    async fn delete(&self, rows: Vec<Row>) -> Result<(), Error> {
        let mut requests = Vec::with_capacity(rows.len());
        for row in rows {
            let delete = DeleteRequest::builder()
                .key("pk", AttributeValue::S(row.pk.text))
                .key("sk", AttributeValue::S(row.sk.text))
                .build()?;
            requests.push(WriteRequest::builder().delete_request(delete).build());
        }
        let calls = requests
            .chunks(25)
            .map(|chunk| self.dynamo.batch_write_item().request_items(&self.outbox, chunk.to_vec()).send());
        let mut calls = stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(CONCURRENCY);
        while let Some(done) = calls.next().await {
            done?;
        }
        Ok(())
    }
}
