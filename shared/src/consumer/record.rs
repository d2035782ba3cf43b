use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{self, Object};

/// One SQS record, read field by field: an odd type, a null or an absence in one field costs that field only, and
/// never a neighbouring record. (The stock event types reject the whole batch for a null list in one record.)
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// The only identifier that may be listed as failed. `None` when absent, null, empty or no string.
    pub(super) message_id: Option<Cow<'a, str>>,
    /// Needed to delete the message or to change its visibility.
    pub(super) receipt_handle: Option<Cow<'a, str>>,
    /// The body. `None` when absent, null or no string.
    pub(super) body: Option<Cow<'a, str>>,
    /// `ApproximateReceiveCount`, from 1; 1 when absent or no number.
    pub(super) receive_count: u32,
    /// `MessageGroupId`, on standard queues too.
    pub(super) group: Option<Cow<'a, str>>,
    /// The queue's ARN; its neighbours' where it names none.
    pub(super) queue_arn: Option<Cow<'a, str>>,
    /// The record's own JSON, where it has no body.
    pub(super) raw: Option<&'a str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow, rename = "messageId")]
    message_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "receiptHandle")]
    receipt_handle: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    #[serde(borrow)]
    attributes: Option<&'a RawValue>,
    #[serde(borrow, rename = "eventSourceARN")]
    event_source_arn: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attributes<'a> {
    #[serde(borrow, rename = "ApproximateReceiveCount")]
    receive_count: Option<&'a RawValue>,
    #[serde(borrow, rename = "MessageGroupId")]
    group: Option<&'a RawValue>,
}

/// A batch as the service sends it, read in one pass. Whatever is odd in any field makes it unreadable in this way, and
/// then each record is read with tolerance.
#[derive(Deserialize)]
struct Straight<'a> {
    #[serde(borrow, rename = "Records")]
    records: Vec<Object<StraightRecord<'a>>>,
}

#[derive(Deserialize)]
struct StraightRecord<'a> {
    #[serde(borrow, rename = "messageId")]
    message_id: Cow<'a, str>,
    #[serde(borrow, rename = "receiptHandle")]
    receipt_handle: Cow<'a, str>,
    #[serde(borrow)]
    body: Cow<'a, str>,
    #[serde(borrow)]
    attributes: Object<StraightAttributes<'a>>,
    #[serde(borrow, rename = "eventSourceARN")]
    event_source_arn: Cow<'a, str>,
}

#[derive(Deserialize)]
struct StraightAttributes<'a> {
    #[serde(borrow, rename = "ApproximateReceiveCount")]
    receive_count: Cow<'a, str>,
    #[serde(borrow, rename = "MessageGroupId")]
    group: Option<Text<'a>>,
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Deserialize)]
struct Batch<'a> {
    #[serde(borrow, rename = "Records")]
    records: Vec<&'a RawValue>,
}

impl<'a> Record<'a> {
    /// Reads one record. A record that is no object is one without any field.
    #[must_use]
    pub(super) fn read(raw: &'a RawValue) -> Self {
        let fields: Fields<'a> = json::object(raw.get()).unwrap_or_default();
        let attributes: Attributes<'a> =
            fields.attributes.and_then(|raw| json::object(raw.get()).ok()).unwrap_or_default();
        let body = text(fields.body);
        Self {
            message_id: text(fields.message_id).filter(|id| !id.is_empty()),
            receipt_handle: text(fields.receipt_handle).filter(|handle| !handle.is_empty()),
            receive_count: attributes
                .receive_count
                .map_or(1, |raw| count(&text(Some(raw)).unwrap_or(Cow::Borrowed(raw.get())))),
            group: text(attributes.group).filter(|group| !group.is_empty()),
            queue_arn: text(fields.event_source_arn).filter(|arn| !arn.is_empty()),
            raw: body.is_none().then(|| raw.get()),
            body,
        }
    }

    fn straight(record: StraightRecord<'a>) -> Self {
        let Object(attributes) = record.attributes;
        let some = |text: Cow<'a, str>| Some(text).filter(|text| !text.is_empty());
        Self {
            message_id: some(record.message_id),
            receipt_handle: some(record.receipt_handle),
            body: Some(record.body),
            receive_count: count(&attributes.receive_count),
            group: attributes.group.and_then(|Text(group)| some(group)),
            queue_arn: some(record.event_source_arn),
            raw: None,
        }
    }

    /// The group whose order is to be kept; on a standard queue none, whatever the record says. The ARN decides:
    /// standard queues may carry group ids too (fair queues), and keep no order. Records of a FIFO queue that state no
    /// group are one group.
    #[must_use]
    pub(super) fn fifo_group(&self) -> Option<&str> {
        let is_fifo = self.queue_arn.as_ref().is_some_and(|arn| arn.ends_with(".fifo"));
        is_fifo.then(|| self.group.as_deref().unwrap_or_default())
    }
}

/// Splits a Lambda event into its records.
///
/// # Errors
/// When the event is no object with a list `Records`: then it is no SQS batch, and nothing can be said about records.
pub(super) fn split(event: &str) -> Result<Vec<Record<'_>>, serde_json::Error> {
    let mut records: Vec<Record<'_>> = match json::object(event) {
        Ok(Straight { records }) => {
            records.into_iter().map(|Object(record)| Record::straight(record)).collect()
        }
        Err(_) => {
            let batch: Batch<'_> = json::object(event)?;
            batch.records.into_iter().map(Record::read).collect()
        }
    };
    // A batch comes from one queue. A record that does not name it must not lose its place in a FIFO group.
    if let Some(queue) = records.iter().find_map(|record| record.queue_arn.clone()) {
        for record in &mut records {
            record.queue_arn.get_or_insert_with(|| queue.clone());
        }
    }
    Ok(records)
}

/// Read in one go: asking for a borrowed string first would cost an error that quotes the whole body, since a body has
/// escapes.
fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw?.get()).ok().map(|Text(text)| text)
}

/// A count that is too large for its type is still a large one.
fn count(text: &str) -> u32 {
    let too_large = || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(count) => count.max(1),
        Err(_) if too_large() => u32::MAX,
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../../events/samples/sqs-order-placed.json");

    fn tolerant(event: &str) -> Vec<Record<'_>> {
        let batch: Batch<'_> = json::object(event).unwrap();
        batch.records.into_iter().map(Record::read).collect()
    }

    #[test]
    fn what_is_read_straight_is_read_alike_with_tolerance() {
        let group = r#""MessageGroupId": "a \"group\"", "ApproximateReceiveCount""#;
        let count = |count: &str| SAMPLE.replace("\"1\"", count);
        let variants = [
            SAMPLE.to_owned(),
            SAMPLE.replace("\"ApproximateReceiveCount\"", group),
            SAMPLE.replace("19d3a7f1-5b6e-4c21-9e0f-2a4d6c8e0001", ""),
            SAMPLE.replace("AQEBsample01receipthandle==", ""),
            SAMPLE.replace(":billing\"", ":billing.fifo\""),
            count("\"0\""),
            count("\"99999999999\""),
            count("\"x\""),
            count("\"\""),
            count("\"\\u0032\""),
        ];
        for event in variants {
            assert!(json::object::<Straight<'_>>(&event).is_ok(), "{event}");
            assert_eq!(split(&event).unwrap(), tolerant(&event), "{event}");
        }
    }

    #[test]
    fn what_cannot_be_read_straight_is_left_to_tolerance() {
        for (usual, odd) in [
            ("\"messageId\"", "\"other\""),
            ("\"body\"", "\"other\""),
            ("\"1\"", "1"),
            ("\"AQEBsample01receipthandle==\"", "null"),
            ("\"attributes\"", "\"other\""),
        ] {
            let event = SAMPLE.replace(usual, odd);
            assert_ne!(event, SAMPLE, "{usual}");
            assert!(json::object::<Straight<'_>>(&event).is_err(), "{usual}");
            assert_eq!(split(&event).unwrap(), tolerant(&event), "{usual}");
        }
    }
}
