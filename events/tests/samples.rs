//! The payloads in `samples/` are what Lambda sends, and the functions can read what is in them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "all of it is test code")]

use std::collections::BTreeMap;
use std::path::Path;

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_http::http::Method;
use lambda_http::{RequestPayloadExt, request};
use oncebox::consumer::decode;
use oncebox::event::{Envelope, Event, Malformed};
use oncebox::outbox::{SCHEMA, names};
use order_events::{OrderPlaced, PaymentCaptured, StockRejected, StockReserved};
use serde_json::Value;

fn samples() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn sample(name: &str) -> String {
    samples().remove(name).unwrap_or_else(|| panic!("there is no sample {name}"))
}

/// What is in the bodies of an SQS sample, in order.
fn envelopes(name: &str) -> Vec<Result<Envelope, Malformed>> {
    let batch: SqsEvent = serde_json::from_str(&sample(name)).unwrap();
    let bodies = batch.records.iter().map(|record| {
        let arn = record.event_source_arn.as_deref().unwrap();
        assert!(arn.starts_with("arn:aws:sqs:"), "{name}: {arn}");
        assert!(record.message_id.as_deref().is_some_and(|id| !id.is_empty()), "{name}");
        assert!(record.receipt_handle.is_some() && record.md5_of_body.is_some(), "{name}");
        assert_eq!(record.attributes["ApproximateReceiveCount"], "1", "{name}");
        decode(record.body.as_deref().unwrap())
    });
    bodies.collect()
}

fn one<E: Event>(name: &str) -> (Envelope, E) {
    let [envelope] = <[_; 1]>::try_from(envelopes(name)).unwrap().map(Result::unwrap);
    assert_eq!(
        (envelope.event_type.as_str(), envelope.aggregate_type.as_str()),
        (E::TYPE, E::AGGREGATE_TYPE)
    );
    let event: E = serde_json::from_str(envelope.data.get()).unwrap();
    assert_eq!(event.aggregate_id(), envelope.aggregate_id);
    (envelope, event)
}

#[test]
fn every_sample_is_looked_at_here() {
    let expected = [
        "http-get-order",
        "http-post-order",
        "http-post-order-invalid",
        "sqs-malformed",
        "sqs-order-placed",
        "sqs-order-placed-sns",
        "sqs-payment-captured",
        "sqs-stock-rejected",
        "sqs-stock-reserved",
        "sqs-stock-reserved-sns",
        "stream-insert",
    ];
    assert!(samples().keys().eq(expected.iter()), "{:?}", samples().keys());
}

#[test]
fn the_same_event_raw_and_wrapped_by_sns_has_one_key() {
    let (raw, _) = one::<OrderPlaced>("sqs-order-placed");
    let (wrapped, _) = one::<OrderPlaced>("sqs-order-placed-sns");
    assert_eq!(raw.key(), wrapped.key());
    assert_eq!((raw.sequence, wrapped.body_hash()), (Some(1), raw.body_hash()));
}

#[test]
fn payment_and_the_projection_get_the_same_event() {
    let (raw, _) = one::<StockReserved>("sqs-stock-reserved");
    let (wrapped, _) = one::<StockReserved>("sqs-stock-reserved-sns");
    assert_eq!((raw.key(), raw.body_hash()), (wrapped.key(), wrapped.body_hash()));
}

#[test]
fn what_follows_an_order_has_the_next_sequence_and_names_its_cause() {
    let (placed, _) = one::<OrderPlaced>("sqs-order-placed");
    let (reserved, event) = one::<StockReserved>("sqs-stock-reserved-sns");
    assert_eq!((reserved.sequence, reserved.cause.causation_id), (Some(2), Some(placed.id)));
    assert_eq!(event.line.order_id, placed.aggregate_id);
    let (rejected, _) = one::<StockRejected>("sqs-stock-rejected");
    assert_eq!(rejected.sequence, Some(2));
    let (captured, event) = one::<PaymentCaptured>("sqs-payment-captured");
    assert_eq!((captured.sequence, captured.cause.causation_id), (Some(3), Some(reserved.id)));
    assert_eq!(event.line.order_id, placed.aggregate_id);
}

#[test]
fn what_the_projection_gets_is_in_the_group_of_its_order_under_its_event_id() {
    for name in ["sqs-order-placed-sns", "sqs-stock-reserved-sns"] {
        let batch: SqsEvent = serde_json::from_str(&sample(name)).unwrap();
        let record = &batch.records[0];
        assert!(record.event_source_arn.as_deref().unwrap().ends_with(".fifo"), "{name}");
        let envelope = decode(record.body.as_deref().unwrap()).unwrap();
        let aggregate = format!("{}#{}", envelope.aggregate_type, envelope.aggregate_id);
        let attribute = |attribute: &str| record.attributes.get(attribute).unwrap();
        assert_eq!(
            (attribute("MessageGroupId"), attribute("MessageDeduplicationId")),
            (&aggregate, &envelope.id)
        );
        assert!(attribute("SequenceNumber").parse::<u128>().is_ok(), "{name}");
    }
}

#[test]
fn one_good_message_and_two_that_are_none() {
    let bodies = envelopes("sqs-malformed");
    assert!(matches!(bodies.as_slice(), [Ok(_), Err(_), Err(Malformed::Missing("id"))]), "{bodies:?}");
}

/// A fixed time would some day be older than any inbox window, and consumers refuse such events. An id of UUID version
/// 7 is a time too.
#[test]
fn the_events_state_no_time() {
    let timeless = |envelope: &Envelope| envelope.time.is_empty() && envelope.id.get(14..15) == Some("4");
    for name in samples().keys().filter(|name| name.starts_with("sqs-")) {
        assert!(envelopes(name).iter().flatten().all(timeless), "{name}");
    }
    let row: Value = serde_json::from_str(&sample("stream-insert")).unwrap();
    let body = row["Records"][0]["dynamodb"]["NewImage"][names::BODY]["S"].as_str().unwrap();
    assert!(timeless(&Envelope::parse(body).unwrap()));
}

#[test]
fn the_stream_record_shows_an_outbox_row() {
    let batch: Value = serde_json::from_str(&sample("stream-insert")).unwrap();
    let record = &batch["Records"][0];
    assert_eq!((&record["eventName"], &record["eventSource"]), (&"INSERT".into(), &"aws:dynamodb".into()));
    let change = &record["dynamodb"];
    assert_eq!(change["StreamViewType"], "NEW_IMAGE");
    assert!(change["SequenceNumber"].as_str().is_some_and(|number| !number.is_empty()));
    let text = |name: &str| change["NewImage"][name]["S"].as_str().unwrap();
    let envelope = Envelope::parse(text(names::BODY)).unwrap();
    assert_eq!(text(names::SK), envelope.id);
    assert_eq!(text(names::PK), format!("{}#{}", envelope.aggregate_type, envelope.aggregate_id));
    assert_eq!(
        (text(names::EVENT_TYPE), text(names::ROUTE)),
        (OrderPlaced::TYPE, OrderPlaced::AGGREGATE_TYPE)
    );
    assert_eq!(change["NewImage"][names::SCHEMA]["N"], SCHEMA.to_string());
    assert_eq!(change["NewImage"][names::SEQUENCE]["N"], "1");
    assert!(change["NewImage"][names::CREATED_AT]["N"].as_str().unwrap().parse::<u64>().is_ok());
}

#[test]
fn the_http_requests_are_requests() {
    let read = |name: &str| request::from_str(&sample(name)).unwrap();
    let post = read("http-post-order");
    assert_eq!((post.method(), post.uri().path()), (&Method::POST, "/orders"));
    let order: Value = post.json().unwrap().unwrap();
    assert!(order["account_id"].is_string() && order["sku"].is_string());
    assert!(order["quantity"].is_u64() && order["amount_cents"].is_u64());
    let invalid: Value = read("http-post-order-invalid").json().unwrap().unwrap();
    assert!(invalid["amount_cents"].is_null());
    let get = read("http-get-order");
    assert_eq!(get.method(), Method::GET);
    let (placed, _) = one::<OrderPlaced>("sqs-order-placed");
    assert_eq!(get.uri().path(), format!("/orders/{}", placed.aggregate_id));
}
