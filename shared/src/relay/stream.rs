use serde_json::value::RawValue;

use super::record::{self, Batch, Change, Image, Outer, Straight, StraightRecord};
use crate::json::{self, Object};
use crate::outbox::Row;

/// One record of the outbox table's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRecord {
    /// The only identifier that may be answered as failed. `None` when absent, null or empty.
    pub sequence_number: Option<String>,
    /// What the record asks for.
    pub content: Result<Result<Row, Ignored>, Misconfigured>,
}

/// Why a record is nothing to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// A change or a removal of a row, TTL deletes among them.
    NotAnInsert,
    /// The row was written in another Region, whose own relay publishes it.
    OtherRegion,
}

/// A record that must not be passed over: something is set up wrongly, and its event would be lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misconfigured {
    /// A row was inserted, and the record does not show it.
    #[error("an INSERT came without NewImage: set the outbox table's StreamViewType to NEW_IMAGE")]
    NoImage,
    /// The image is no outbox row.
    #[error("an INSERT has no usable {0:?}: is this the stream of an outbox table?")]
    NotARow(&'static str),
}

/// Splits a Lambda event into stream records.
///
/// # Errors
/// When the event is no object with a list `Records`.
pub(super) fn split(event: &str) -> Result<Vec<StreamRecord>, serde_json::Error> {
    if let Ok(Straight { records }) = json::object(event) {
        return Ok(records.into_iter().map(|Object(record)| read_straight(record)).collect());
    }
    let batch: Batch<'_> = json::object(event)?;
    Ok(batch.records.into_iter().map(read).collect())
}

fn read_straight(record: StraightRecord<'_>) -> StreamRecord {
    let Object(change) = record.dynamodb;
    let Object(image) = change.new_image;
    let row = || {
        let row = Row {
            pk: image.pk.0.text.into_owned(),
            sk: image.sk.0.text.into_owned(),
            body: image.body.0.text.into_owned(),
            route: image.route.0.text.into_owned(),
            event_type: image.event_type.0.text.into_owned(),
            sequence: image.sequence.and_then(|Object(number)| number.parse()),
            region: image.region.map(|Object(region)| region.text.into_owned()),
            created_at: image.created_at.and_then(|Object(number)| number.parse()).unwrap_or_default(),
        };
        of_this_region(row, Some(&record.region))
    };
    StreamRecord {
        sequence_number: Some(change.sequence_number.into_owned()).filter(|number| !number.is_empty()),
        content: Ok(if record.name == "INSERT" { row() } else { Err(Ignored::NotAnInsert) }),
    }
}

/// Another Region's row is its own relay's to publish.
fn of_this_region(row: Row, here: Option<&str>) -> Result<Row, Ignored> {
    match (row.region.as_deref(), here) {
        (Some(written), Some(here)) if written != here => Err(Ignored::OtherRegion),
        _ => Ok(row),
    }
}

fn read(raw: &RawValue) -> StreamRecord {
    let outer: Outer<'_> = json::object(raw.get()).unwrap_or_default();
    let change: Change<'_> = outer.dynamodb.and_then(|raw| json::object(raw.get()).ok()).unwrap_or_default();
    StreamRecord {
        sequence_number: record::plain(change.sequence_number).filter(|number| !number.is_empty()),
        content: content(&outer, &change),
    }
}

fn content(outer: &Outer<'_>, change: &Change<'_>) -> Result<Result<Row, Ignored>, Misconfigured> {
    if record::plain(outer.name).as_deref() != Some("INSERT") {
        return Ok(Err(Ignored::NotAnInsert));
    }
    let image: Image<'_> = change
        .new_image
        .filter(|raw| raw.get() != "null")
        .map(|raw| json::object(raw.get()).unwrap_or_default())
        .ok_or(Misconfigured::NoImage)?;
    let row = Row {
        pk: record::text(image.pk).ok_or(Misconfigured::NotARow("pk"))?,
        sk: record::text(image.sk).ok_or(Misconfigured::NotARow("sk"))?,
        body: record::text(image.body).ok_or(Misconfigured::NotARow("body"))?,
        route: record::text(image.route).ok_or(Misconfigured::NotARow("route"))?,
        event_type: record::text(image.event_type).ok_or(Misconfigured::NotARow("event_type"))?,
        sequence: record::number(image.sequence),
        region: record::text(image.region),
        created_at: record::number(image.created_at).unwrap_or_default(),
    };
    Ok(of_this_region(row, record::plain(outer.region).as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../../events/samples/stream-insert.json");

    fn tolerant(event: &str) -> Vec<StreamRecord> {
        let batch: Batch<'_> = json::object(event).unwrap();
        batch.records.into_iter().map(read).collect()
    }

    #[test]
    fn what_is_read_straight_is_read_alike_with_tolerance() {
        let written = r#""region": {"S": "us-east-1"}, "sequence""#;
        let variants = [
            SAMPLE.to_owned(),
            SAMPLE.replace("\"INSERT\"", "\"MODIFY\""),
            SAMPLE.replace("\"sequence\"", written),
            SAMPLE.replace("\"sequence\"", &written.replace("us-", "eu-")),
            SAMPLE.replace("\"N\": \"1\"", "\"N\": \"1.5\""),
            SAMPLE.replace("\"sequence\"", "\"other\""),
            SAMPLE.replace("\"created_at\"", "\"other\""),
            SAMPLE.replace("1700000000012345678901", ""),
        ];
        for event in variants {
            assert!(json::object::<Straight<'_>>(&event).is_ok(), "{event}");
            assert_eq!(split(&event).unwrap(), tolerant(&event), "{event}");
        }
    }

    #[test]
    fn what_cannot_be_read_straight_is_left_to_tolerance() {
        for (usual, odd) in [
            ("\"eventName\"", "\"other\""),
            ("\"us-east-1\"", "null"),
            ("\"NewImage\"", "\"Keys\""),
            ("{\n            \"S\": \"Order\"", "{\n            \"B\": \"Order\""),
            ("\"1700000000012345678901\"", "17"),
        ] {
            let event = SAMPLE.replace(usual, odd);
            assert_ne!(event, SAMPLE, "{usual}");
            assert!(json::object::<Straight<'_>>(&event).is_err(), "{usual}");
            assert_eq!(split(&event).unwrap(), tolerant(&event), "{usual}");
        }
        let list = r#"{"Records": [["INSERT", "us-east-1", ["1", [{}, {}, {}, {}, {}]]]]}"#;
        assert!(json::object::<Straight<'_>>(list).is_err());
    }
}
