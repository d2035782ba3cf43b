//! What makes two messages the same event, and two events different.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::{BuildError, Consumer};
use oncebox::event::EventKey;
use oncebox::store::CancelCode;
use oncebox::testing::{Fault, GetFault, MemoryStore, SqsBatch};
use serde_json::json;

use crate::bench::{Bench, body};

#[test]
fn source_and_id_do_not_run_into_each_other() {
    let spellings =
        ["a", "b", "a#", "#", "#b", "a#b", "b#c", "%", "%23", "a%23b", "a%2523b", "", "a##b", "c"];
    let mut seen = std::collections::HashMap::new();
    for source in spellings {
        for id in spellings {
            let key = EventKey::of(source, id);
            if let Some(other) = seen.insert(key.clone(), (source, id)) {
                panic!("{key}: {other:?} and {:?}", (source, id));
            }
        }
    }
    let long = "x".repeat(600);
    assert_ne!(EventKey::of(&format!("{long}#a"), "b"), EventKey::of(&long, "a#b"));
}

#[test]
fn a_uuid_stands_alone_and_a_number_of_32_digits_does_not() {
    let one = EventKey::of("/a", "01A3185C-5000-7000-8000-000000000001");
    for spelling in
        ["{01a3185c-5000-7000-8000-000000000001}", "urn:uuid:01a3185c-5000-7000-8000-000000000001"]
    {
        assert_eq!(one, EventKey::of("/b", spelling));
    }
    for counter in ["00000000000000000000000000000042", "00000000-0000-0000-0000-000000000000"] {
        assert_ne!(EventKey::of("/a", counter), EventKey::of("/b", counter), "{counter}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_of_two_sources_are_two_events() {
    let bench = Bench::with_quarantine();
    let event = |source: &str, id: &str| json!({"specversion": "1.0", "id": id, "source": source, "type": "Paid", "data": {"account": "a", "mode": "ok"}});
    let batch = SqsBatch::standard("q")
        .record("1", &event("a#b", "c").to_string())
        .record("2", &event("a", "b#c").to_string());
    assert!(bench.failures(&batch).await.is_empty());
    assert_eq!(bench.paid("a"), "2");
}

#[test]
fn a_consumer_s_name_can_stand_in_a_key() {
    for bad in ["a#b".to_owned(), "x".repeat(256), "a\nb".to_owned()] {
        let store = Arc::new(MemoryStore::new());
        let built = Consumer::builder(bad, store).inbox("inbox").on(nothing).build();
        assert!(matches!(built, Err(BuildError::BadName { .. })), "{built:?}");
    }
    async fn nothing(
        _event: oncebox::event::Message<crate::bench::Paid>,
        _reads: oncebox::effect::Reads,
    ) -> Result<oncebox::effect::Effects, oncebox::consumer::HandlerError> {
        Ok(oncebox::effect::Effects::new())
    }
}

/// Stores that do not send the item that stood in the way.
#[tokio::test(start_paused = true)]
async fn without_the_stored_item_the_hash_is_read() {
    use CancelCode::{ConditionalCheckFailed as Ccf, None as Clean};
    let bench = Bench::with_quarantine();
    assert!(bench.failures(&SqsBatch::standard("q").record("1", &body(1, "a", "ok"))).await.is_empty());

    bench.store.on_transact(Fault::Cancelled(vec![Ccf, Clean]));
    assert!(bench.failures(&SqsBatch::standard("q").record("2", &body(1, "a", "ok"))).await.is_empty());
    assert!(bench.cases().is_empty(), "the same event");

    bench.store.on_transact(Fault::Cancelled(vec![Ccf, Clean]));
    assert!(bench.failures(&SqsBatch::standard("q").record("3", &body(1, "b", "ok"))).await.is_empty());
    assert!(bench.cases()[0].detail.contains("another event with this id"));

    bench.store.on_transact(Fault::Cancelled(vec![Ccf, Clean])).on_get(GetFault::TimedOut);
    let unknown = SqsBatch::standard("q").record("4", &body(1, "c", "ok"));
    assert_eq!(bench.failures(&unknown).await, ["4"], "not known, so not acknowledged");
}

#[tokio::test(start_paused = true)]
async fn copies_of_an_event_wait_for_each_other() {
    for packing in [false, true] {
        let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.packing(packing), store));
        let same = body(1, "a", "slow");
        let batch = SqsBatch::standard("q").record("1", &same).record("2", &same).record("3", &same);
        let started = tokio::time::Instant::now();
        assert!(bench.failures(&batch).await.is_empty());
        assert!(started.elapsed() >= Duration::from_millis(300), "one after another, packing {packing}");
        assert_eq!(bench.paid("a"), "1");
    }
}

/// A producer that published one event into two groups.
#[tokio::test(start_paused = true)]
async fn copies_of_an_event_in_two_groups_wait_for_each_other() {
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::fifo("q")
        .grouped("A1", "A", &body(1, "a", "slow"))
        .grouped("B1", "B", &body(2, "b", "slow"))
        .grouped("B2", "B", &body(1, "a", "slow"))
        .grouped("A2", "A", &body(2, "b", "slow"))
        .grouped("C1", "C", &body(3, "c", "transient"))
        .grouped("C2", "C", &body(1, "a", "slow"));
    assert_eq!(bench.failures(&batch).await, ["C1", "C2"]);
    assert_eq!((bench.paid("a"), bench.paid("b")), ("1".into(), "1".into()));
    let transactions = bench.store.calls().iter().filter(|call| call.token.is_some()).count();
    assert_eq!(transactions, 4, "no conflict, no second try");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_does_not_name_its_queue_keeps_its_place() {
    let bench = Bench::with_quarantine();
    let mut nameless = json!({"messageId": "A1", "body": body(1, "a", "transient"),
        "attributes": {"MessageGroupId": "A"}, "eventSourceARN": null});
    for arn in [json!(null), json!(""), json!(7)] {
        nameless["eventSourceARN"] = arn;
        let batch = SqsBatch::fifo("q").raw(nameless.clone()).grouped("A2", "A", &body(2, "a", "ok"));
        assert_eq!(bench.failures(&batch).await, ["A1", "A2"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_twice_in_a_batch_is_listed_once() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q")
        .record("1", &body(1, "a", "transient"))
        .record("2", &body(2, "a", "ok"))
        .record("1", &body(1, "a", "transient"));
    assert_eq!(bench.failures(&batch).await, ["1"]);
}
