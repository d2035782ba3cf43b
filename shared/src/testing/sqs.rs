use serde_json::{Value, json};

/// A Lambda event of SQS records, for tests.
///
/// ```
/// use oncebox::testing::SqsBatch;
///
/// let event = SqsBatch::standard("billing").record("m-1", "{}").received("m-2", "{}", 3).to_json();
/// assert!(event.contains("arn:aws:sqs:eu-central-1:000000000000:billing"));
/// ```
#[derive(Debug, Clone)]
pub struct SqsBatch {
    arn: String,
    records: Vec<Value>,
}

impl SqsBatch {
    /// Records of a standard queue.
    #[must_use]
    pub fn standard(queue: &str) -> Self {
        Self { arn: format!("arn:aws:sqs:eu-central-1:000000000000:{queue}"), records: Vec::new() }
    }

    /// Records of a FIFO queue; the suffix `.fifo` is added.
    #[must_use]
    pub fn fifo(queue: &str) -> Self {
        Self::standard(&format!("{queue}.fifo"))
    }

    /// Adds a record that is delivered for the first time.
    #[must_use]
    pub fn record(self, message_id: &str, body: &str) -> Self {
        self.received(message_id, body, 1)
    }

    /// Adds a record that is delivered for the `count`th time.
    #[must_use]
    pub fn received(self, message_id: &str, body: &str, count: u32) -> Self {
        let arn = self.arn.clone();
        self.raw(json!({
            "messageId": message_id,
            "receiptHandle": format!("receipt-of-{message_id}"),
            "body": body,
            "attributes": { "ApproximateReceiveCount": count.to_string() },
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": arn,
            "awsRegion": "eu-central-1",
        }))
    }

    /// Adds a record of a message group.
    #[must_use]
    pub fn grouped(self, message_id: &str, group: &str, body: &str) -> Self {
        self.record(message_id, body).in_group(group)
    }

    /// Puts the record that was added last into a message group.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        if let Some(attributes) = self.records.last_mut().and_then(|record| record.get_mut("attributes")) {
            attributes["MessageGroupId"] = json!(group);
        }
        self
    }

    /// Adds a record as it stands, however odd.
    #[must_use]
    pub fn raw(mut self, record: Value) -> Self {
        self.records.push(record);
        self
    }

    /// The event's JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        json!({ "Records": self.records }).to_string()
    }
}
