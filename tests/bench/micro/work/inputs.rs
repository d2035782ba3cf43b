//! Lambda's events, as large as in the field: bodies of about 500 bytes, ids that differ.

use std::borrow::Cow;

use oncebox::event::Event;
use oncebox::testing::SqsBatch;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OrderPlaced {
    pub(crate) order_id: String,
    pub(crate) account_id: String,
    pub(crate) sku: String,
    pub(crate) quantity: u32,
    pub(crate) amount_cents: u64,
}

impl Event for OrderPlaced {
    const TYPE: &'static str = "OrderPlaced";
    const AGGREGATE_TYPE: &'static str = "Order";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.order_id)
    }
}

impl OrderPlaced {
    pub(crate) fn of(number: usize) -> Self {
        Self {
            order_id: order(number),
            account_id: format!("account-{number:06}"),
            sku: format!("sku-{:02}", number % 50),
            quantity: 2,
            amount_cents: 450,
        }
    }
}

fn order(number: usize) -> String {
    format!("01a22c53-8200-71a2-80b3-{number:012x}")
}

pub(crate) fn event_id(number: usize) -> String {
    format!("01a3188c-5000-7d57-9a0e-{number:012x}")
}

/// The envelope of an order of this number, a second before the clock's time.
pub(crate) fn body(number: usize) -> String {
    json!({
        "specversion": "1.0",
        "id": event_id(number),
        "source": "order-api",
        "type": "OrderPlaced",
        "subject": order(number),
        "time": "2027-01-15T07:59:59.123456Z",
        "datacontenttype": "application/json",
        "aggregatetype": "Order",
        "sequence": "1",
        "schemaversion": "1",
        "traceparent": format!("00-4bf92f3577b34da6a3ce{number:012x}-00f067aa0ba902b7-01"),
        "correlationid": format!("request-{number:012x}"),
        "data": OrderPlaced::of(number),
    })
    .to_string()
}

/// Orders of these numbers from a standard queue.
pub(crate) fn sqs(numbers: std::ops::Range<usize>) -> String {
    let batch = SqsBatch::standard("billing");
    numbers.fold(batch, |batch, number| batch.raw(record(number, "billing", None))).to_json()
}

/// Orders from a FIFO queue, in groups of ten, whose last one is a copy of the one before.
pub(crate) fn sqs_fifo(records: usize) -> String {
    let numbers = (0..records).map(|at| if at % 10 == 9 { at - 1 } else { at });
    let batch = SqsBatch::fifo("projection");
    numbers
        .fold(batch, |batch, number| batch.raw(record(number, "projection.fifo", Some(number / 10))))
        .to_json()
}

fn record(number: usize, queue: &str, group: Option<usize>) -> Value {
    let mut record = json!({
        "messageId": format!("19d3a7f1-5b6e-4c21-9e0f-{number:012x}"),
        "receiptHandle": format!("AQEB{number:0180}=="),
        "body": body(number),
        "attributes": {
            "ApproximateReceiveCount": "1",
            "AWSTraceHeader": "Root=1-6b0d6540-4bf92f3577b34da6a3ce929d;Parent=00f067aa0ba902b7;Sampled=1",
            "SentTimestamp": "1799999999500",
            "SenderId": "AIDAIT2UOQQY3AUEKVGXU",
            "ApproximateFirstReceiveTimestamp": "1799999999510",
        },
        "messageAttributes": {
            "event_type": { "stringValue": "OrderPlaced", "stringListValues": [], "binaryListValues": [], "dataType": "String" },
            "aggregate_type": { "stringValue": "Order", "stringListValues": [], "binaryListValues": [], "dataType": "String" },
        },
        "md5OfBody": "b64f8b827c08544389ad7cac441b571f",
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:us-east-1:123456789012:{queue}"),
        "awsRegion": "us-east-1",
    });
    if let Some(group) = group {
        record["attributes"]["MessageGroupId"] = json!(format!("Order#{group}"));
    }
    record
}

/// Inserted outbox rows of these numbers, of so many aggregates, whose routes alternate.
pub(crate) fn stream(numbers: std::ops::Range<usize>, aggregates: usize, routes: &[&str]) -> String {
    let records: Vec<Value> = numbers
        .map(|number| {
            let key = format!("Order#{}", order(number % aggregates));
            let keys = json!({ "pk": { "S": key }, "sk": { "S": event_id(number) } });
            let mut image = json!({
                "pending": { "S": key },
                "body": { "S": body(number) },
                "route": { "S": routes.get(number % routes.len()) },
                "event_type": { "S": "OrderPlaced" },
                "sequence": { "N": number.to_string() },
                "region": { "S": "us-east-1" },
                "created_at": { "N": "1799999999000" },
                "schema": { "N": "1" },
            });
            for name in ["pk", "sk"] {
                image[name] = keys[name].clone();
            }
            json!({
                "eventID": format!("{number:032x}"),
                "eventName": "INSERT",
                "eventVersion": "1.1",
                "eventSource": "aws:dynamodb",
                "awsRegion": "us-east-1",
                "dynamodb": {
                    "ApproximateCreationDateTime": 1_799_999_999,
                    "Keys": keys,
                    "NewImage": image,
                    "SequenceNumber": format!("17000000000{number:011}"),
                    "SizeBytes": 1137,
                    "StreamViewType": "NEW_IMAGE",
                },
                "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/outbox/stream/2026-11-30T11:59:00.000",
            })
        })
        .collect();
    json!({ "Records": records }).to_string()
}
