//! `{:?}` of whatever holds a body or an item shows its size and not its content: it can be logged.

use std::fmt::Debug;
use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use oncebox::effect::{Effects, Insert, Upsert};
use oncebox::event::{Emit, Envelope, Message};
use oncebox::inbox::{Repeat, RequestKey};
use oncebox::outbox::{CommitError, Row, Transaction};
use oncebox::quarantine::{Case, CaseKey, Cases, Reason, StoredCase};
use oncebox::relay::{Outgoing, StreamRecord};
use oncebox::store::{CancelCode, CancelReason, Item, Page, TransactError, WriteError};
use oncebox::testing::{item, text};

use crate::bench::{Paid, envelope};

const SECRET: &str = "DE89-3704-0044";

/// `shown` is what is to be seen in its place.
fn hides(what: &impl Debug, shown: &str) {
    for said in [format!("{what:?}"), format!("{what:#?}")] {
        assert!(!said.contains(SECRET), "{said}");
        assert!(said.contains(shown), "{shown} is not in {said}");
    }
}

fn paid() -> Paid {
    Paid { account: "a".into(), mode: SECRET.into() }
}

fn secret_item() -> Item {
    item([("id", text("a")), ("iban", text(SECRET))])
}

#[test]
fn an_event_and_its_message() {
    let data = serde_json::to_string(&paid()).unwrap();
    let bytes = format!("<{} bytes>", data.len());
    let event = Envelope::parse(&envelope("e-1", "Paid", &data)).unwrap();
    hides(&event, &bytes);
    let message = Message::new(paid(), event, "2026-12-01T00:00:00Z".parse().unwrap(), 2);
    hides(&message, &bytes);
    assert!(format!("{message:?}").contains("e-1") && message.mode == SECRET);
    hides(&Emit::new(&paid()), &bytes);
    hides(&Effects::new().emit(paid()), &bytes);
    hides(&Transaction::new().emit(paid()), &bytes);
}

#[test]
fn what_is_stored_and_published() {
    let row = Row {
        pk: "Account#a".into(),
        sk: "e-1".into(),
        body: SECRET.into(),
        route: "Account".into(),
        event_type: "Paid".into(),
        sequence: None,
        region: None,
        created_at: 0,
    };
    hides(&row, "<14 bytes>");
    hides(&StreamRecord { sequence_number: None, content: Ok(Ok(row)) }, "<14 bytes>");
    let outgoing = Outgoing {
        body: SECRET.into(),
        event_type: "Paid".into(),
        aggregate_type: "Account".into(),
        group: "Account#a".into(),
        event_id: "e-1".into(),
        dedup_id: "e-1".into(),
    };
    hides(&outgoing, "<14 bytes>");
    let case = Case {
        owner: "billing".into(),
        source: "q".into(),
        event_key: None,
        message_id: "m-1".into(),
        event_type: "Paid".into(),
        aggregate_id: "a".into(),
        group: None,
        reason: Reason::Permanent,
        detail: "no such account".into(),
        attempts: 1,
        traceparent: None,
        destinations: Vec::new(),
        body: SECRET.into(),
    };
    hides(&case, "<14 bytes>");
    let key = CaseKey { pk: "billing#m-1".into(), sk: "1".into() };
    let stored = StoredCase { key, case, first_failed_at: 0, last_failed_at: 0 };
    hides(&stored, "no such account");
    hides(&Cases { cases: vec![stored], odd: Vec::new(), next: None }, "<14 bytes>");
    hides(&Page { items: vec![secret_item()], next: Some(secret_item()) }, "<1 items>");
}

#[test]
fn what_is_to_be_written() {
    let put = || Put::builder().table_name("accounts").set_item(Some(secret_item())).build().unwrap();
    hides(&Effects::new().put(put()), "<1 items>");
    hides(&Transaction::new().put(put()), "<1 items>");
    hides(&Insert::once("ledger", ["id"], secret_item()), "<2 attributes>");
    let key = || item([("id", text(SECRET))]);
    hides(&Upsert::if_newer("accounts", key(), 1).set("iban", text(SECRET)), "iban");
    hides(&Upsert::next("accounts", key(), 1).set("iban", text(SECRET)).add("ibans", text(SECRET)), "ibans");
    // What is redacted would be seen otherwise.
    assert!(format!("{:?}", TransactWriteItem::builder().put(put()).build()).contains(SECRET));
}

#[test]
fn what_stood_in_the_way() {
    let reason = CancelReason { code: CancelCode::ConditionalCheckFailed, item: Some(secret_item()) };
    hides(&reason, "<2 attributes>");
    hides(&TransactError::Cancelled(vec![reason]), "ConditionalCheckFailed");
    hides(&WriteError::ConditionFailed(Some(secret_item())), "<2 attributes>");
    hides(&CommitError::ConditionFailed { index: 3, item: Some(secret_item()) }, "index: 3");
    let key = "k".parse().unwrap();
    let request = RequestKey::new("t", "api", "c", &key, "body", SECRET, Duration::from_secs(1)).unwrap();
    hides(&request, "<14 bytes>");
    hides(&Repeat::Same { response: SECRET.into() }, "<14 bytes>");
}
