//! What would be refused later is refused when the row is written.

use std::borrow::Cow;
use std::sync::Arc;

use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, Update};
use oncebox::event::Event;
use oncebox::outbox::{CommitError, LimitError, Outbox, Routes, RowError, Transaction};
use oncebox::testing::{CountedIds, MemoryStore, PausedClock, item, text};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Noted {
    id: String,
    note: String,
}

impl Event for Noted {
    const TYPE: &'static str = "Noted";
    const AGGREGATE_TYPE: &'static str = "Note";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.id)
    }
}

fn noted(note: &str) -> Noted {
    Noted { id: "n".into(), note: note.into() }
}

fn outbox(routes: Option<&str>) -> (Outbox, MemoryStore) {
    let clock = PausedClock::start();
    let memory = MemoryStore::new().table("outbox", "pk", Some("sk")).table("notes", "id", None);
    let outbox = Outbox::new(Arc::new(memory.clone()), "outbox", "/test")
        .with_time(Arc::new(clock), Arc::new(CountedIds::default()));
    let routes = routes.map(|routes| routes.parse::<Routes>().unwrap());
    (routes.into_iter().fold(outbox, Outbox::routes), memory)
}

async fn refusal(routes: Option<&str>, note: &str) -> Option<RowError> {
    let (outbox, memory) = outbox(routes);
    let outcome = outbox.commit(Transaction::new().emit(noted(note))).await;
    assert_eq!(outcome.is_ok(), memory.items("outbox").len() == 1);
    match outcome {
        Ok(_) => None,
        Err(CommitError::Row(error)) => Some(error),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_are_held_to_each_destination_s_bound() {
    let long = "x".repeat(300 * 1024);
    let topic = r#"{"Note": ["https://q", "arn:aws:sns:r:1:t"]}"#;
    let raised = r#"{"Note": [{"to": "arn:aws:sns:r:1:t", "max_bytes": 1048576}]}"#;
    let queue = r#"{"*": ["https://q"]}"#;
    for routes in [None, Some(topic)] {
        let error = refusal(routes, &long).await.unwrap();
        assert!(matches!(error, RowError::TooLarge { max: 262_144, .. }), "{error}");
        assert!(error.to_string().contains("max_bytes"), "{error}");
    }
    for routes in [raised, queue] {
        assert!(refusal(Some(routes), &long).await.is_none(), "{routes}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_bound_counts_the_attributes_and_is_exact() {
    let (outbox, memory) = outbox(None);
    outbox.commit(Transaction::new().emit(noted(""))).await.unwrap();
    let empty = memory.items("outbox")[0]["body"].as_s().unwrap().len();
    let attributes = "event_typeStringNotedaggregate_typeStringNote".len();
    let fits = 262_144 - empty - attributes;
    assert!(refusal(None, &"x".repeat(fits)).await.is_none());
    assert!(matches!(
        refusal(None, &"x".repeat(fits + 1)).await,
        Some(RowError::TooLarge { bytes: 262_145, .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn characters_that_sqs_refuses_are_named_and_escaped_text_passes() {
    for bad in ['\u{FFFE}', '\u{FFFF}'] {
        let error = refusal(None, &format!("a{bad}b")).await.unwrap();
        assert!(
            matches!(error, RowError::Character { place: "body", code, .. } if code == bad as u32),
            "{error}"
        );
    }
    for good in
        ["tab\t newline\n quote\" back\\slash \u{0}\u{1F}", "ü 漢 🦀 \u{FFFD} \u{E000} \u{10FFFF}", "\\ufffe"]
    {
        assert!(refusal(None, good).await.is_none(), "{good:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_without_a_route_is_refused_when_it_is_written() {
    let error = refusal(Some(r#"{"Order": ["https://q"]}"#), "x").await.unwrap();
    assert!(matches!(error, RowError::NoRoute { .. }), "{error}");
    assert!(error.to_string().contains("\"Note\""), "{error}");
    assert!(refusal(Some(r#"{"Note/Noted": ["https://q"]}"#), "x").await.is_none());
}

#[tokio::test(start_paused = true)]
async fn two_actions_on_one_item_are_named() {
    let key = || item([("id", text("n"))]);
    let put = |id: &str| {
        let row = item([("id", text(id)), ("note", text("x"))]);
        Put::builder().table_name("notes").set_item(Some(row)).build().unwrap()
    };
    let update = Update::builder()
        .table_name("notes")
        .set_key(Some(key()))
        .update_expression("REMOVE note")
        .build()
        .unwrap();
    let delete = Delete::builder().table_name("notes").set_key(Some(key())).build().unwrap();
    let check = ConditionCheck::builder()
        .table_name("notes")
        .set_key(Some(key()))
        .condition_expression("attribute_exists(id)")
        .build()
        .unwrap();
    let other =
        Delete::builder().table_name("notes").set_key(Some(item([("id", text("m"))]))).build().unwrap();
    for pair in [
        Transaction::new().put(put("n")).update(update.clone()),
        Transaction::new().check(check).put(put("n")),
        Transaction::new().update(update).delete(delete.clone()),
        Transaction::new().put(put("o")).delete(other.clone()).put(put("o")),
    ] {
        let error = outbox(None).0.commit(pair.emit(noted("x"))).await.unwrap_err();
        assert!(matches!(error, CommitError::Limit(LimitError::SameItem { .. })), "{error}");
    }
    let apart = Transaction::new().put(put("o")).delete(delete).emit(noted("x")).emit(noted("x"));
    outbox(None).0.commit(apart).await.unwrap();
}
