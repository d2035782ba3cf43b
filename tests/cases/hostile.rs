//! Inputs and timings that nobody sends on purpose.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::{Consumer, HandlerError, InvocationError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::{Event, Message};
use oncebox::quarantine::Reason;
use oncebox::testing::kit::MemoryVisibility;
use oncebox::testing::{MemoryStore, PausedClock, SqsBatch};
use oncebox::time::RandomIds;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bench::{Bench, body, envelope, listed};

/// Serde reads a struct from a list of its fields too, in their order.
#[tokio::test(start_paused = true)]
async fn a_list_is_no_object_wherever_it_stands() {
    let event = body(1, "a", "ok");
    let bench = Bench::with_quarantine();
    let whole = json!([[{"messageId": "1", "body": event}]]).to_string();
    let answer = bench.consumer.handle(&whole, bench.clock.deadline_in(1000)).await;
    assert!(matches!(answer, Err(InvocationError::NotABatch(_))));

    let batch = SqsBatch::standard("q").raw(json!(["made-up", "receipt", event, {}, "arn"]));
    assert!(matches!(bench.deliver(&batch).await, Err(InvocationError::Unidentified { records: 1, of: 1 })));

    // Three receives are all that a message gets; a list says nothing about receives.
    let listing = json!({"messageId": "1", "body": body(2, "a", "transient"), "attributes": ["3", "A"]});
    assert_eq!(bench.failures(&SqsBatch::standard("q").raw(listing)).await, ["1"]);

    let data = json!({"account": "a", "mode": "ok"});
    let fields =
        json!(["1.0", "7", "/test", "Paid", null, null, null, null, null, null, null, null, data, null]);
    let notification = json!(["Notification", "arn:aws:sns:::t", event]);
    let batch =
        SqsBatch::standard("q").record("2", &fields.to_string()).record("3", &notification.to_string());
    assert!(bench.failures(&batch).await.is_empty());
    let reasons: Vec<Reason> = bench.cases().iter().map(|case| case.reason).collect();
    assert_eq!((reasons, bench.paid("a")), (vec![Reason::Malformed; 2], "0".into()));
    assert!(bench.called().iter().all(|id| id.ends_with('2')));
}

/// What panics when it is let go of.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

#[derive(Serialize, Deserialize)]
struct Armed {
    mode: String,
}

impl Event for Armed {
    const TYPE: &'static str = "Armed";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed("it")
    }
}

/// Panics once more when the panic is handled.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the payload of a panic, dropped");
    }
}

async fn armed(event: Message<Armed>, _reads: Reads) -> Result<Effects, HandlerError> {
    match event.mode.as_str() {
        "hang" => {
            let _bomb = Bomb;
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        "payload" => std::panic::panic_any(Payload),
        "local" => drop(Bomb),
        _ => {}
    }
    Ok(Effects::new())
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_what_is_dropped_costs_one_record() {
    for packing in [false, true] {
        for mode in ["hang", "payload", "local"] {
            let store = Arc::new(MemoryStore::new().table("inbox", "pk", Some("sk")));
            let clock = PausedClock::start();
            let consumer = Consumer::builder("c", Arc::clone(&store) as _).inbox("inbox").packing(packing);
            let consumer =
                consumer.on(armed).with_time(Arc::new(clock), Arc::new(RandomIds)).build().unwrap();
            let event = |id: &str, mode: &str| envelope(id, "Armed", &json!({ "mode": mode }).to_string());
            let batch = SqsBatch::standard("q")
                .record("1", &event("1", "ok"))
                .record("2", &event("2", mode))
                .record("3", &event("3", "ok"));
            let answer = consumer.handle(&batch.to_json(), clock.deadline_in(5000)).await.unwrap();
            assert_eq!(listed(&answer), ["2"], "{mode}, packing {packing}");
            assert_eq!(store.items("inbox").len(), 2, "{mode}, packing {packing}");
        }
    }
}

/// The event itself panics when it is dropped, after its effect was committed: it is applied once all the same.
#[tokio::test(start_paused = true)]
async fn an_event_that_panics_when_it_is_dropped_is_applied_once() {
    #[derive(Serialize, Deserialize)]
    struct Explosive {}
    impl Drop for Explosive {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }
    impl Event for Explosive {
        const TYPE: &'static str = "Explosive";
        const AGGREGATE_TYPE: &'static str = "Thing";
        fn aggregate_id(&self) -> Cow<'_, str> {
            Cow::Borrowed("it")
        }
    }
    async fn handle(_event: Message<Explosive>, _reads: Reads) -> Result<Effects, HandlerError> {
        Ok(Effects::new())
    }
    for packing in [false, true] {
        let store = Arc::new(MemoryStore::new().table("inbox", "pk", Some("sk")));
        let clock = PausedClock::start();
        let consumer = Consumer::builder("c", Arc::clone(&store) as _).inbox("inbox").packing(packing);
        let consumer = consumer.on(armed).on(handle);
        let consumer = consumer.with_time(Arc::new(clock), Arc::new(RandomIds)).build().unwrap();
        let batch = SqsBatch::standard("q")
            .record("1", &envelope("1", "Armed", r#"{"mode":"ok"}"#))
            .record("2", &envelope("2", "Explosive", "{}"))
            .record("3", &envelope("3", "Armed", r#"{"mode":"ok"}"#));
        let mut given_back = Vec::new();
        for _ in 0..2 {
            let answer = consumer.handle(&batch.to_json(), clock.deadline_in(5000)).await.unwrap();
            given_back.extend(listed(&answer));
        }
        assert!(given_back.iter().all(|id| id == "2"), "{given_back:?}, packing {packing}");
        assert_eq!(store.items("inbox").len(), 3, "packing {packing}");
    }
}

/// A record of a FIFO queue that states no group is in the group of those that state none.
#[tokio::test(start_paused = true)]
async fn records_without_a_group_wait_for_each_other_also_between_deliveries() {
    for odd in [json!(null), json!(""), json!(7), json!({})] {
        for seed in 0..20 {
            fastrand::seed(seed);
            let visibility = MemoryVisibility::default();
            let given = Arc::new(visibility.clone());
            let bench = Bench::with(|consumer, _| consumer.retry_delay(given, "queue".to_owned()));
            let record = |id: u32, mode: &str| {
                json!({
                    "messageId": id.to_string(),
                    "receiptHandle": id.to_string(),
                    "body": body(id, "a", mode),
                    "attributes": {"ApproximateReceiveCount": "6", "MessageGroupId": odd},
                    "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:q.fifo",
                })
            };
            let batch = SqsBatch::fifo("q").raw(record(1, "transient")).raw(record(2, "ok"));
            let answer = bench.consumer.handle(&batch.to_json(), bench.clock.deadline_in(300)).await.unwrap();
            assert_eq!(listed(&answer), ["1", "2"], "{odd}");
            let waits = visibility.changes();
            assert_eq!(waits[0].1, waits[1].1, "{odd}, seed {seed}");
        }
    }
}

/// JSON that is valid, and that not every reader takes.
#[tokio::test(start_paused = true)]
async fn a_record_of_odd_json_is_alone() {
    let good = json!({"messageId": "good", "body": body(1, "a", "ok")}).to_string();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let event = body(2, "b", "ok");
    let deep_event = envelope("deep", "Paid", &deep);
    let (quoted, deep_quoted) = (json!(event).to_string(), json!(deep_event).to_string());
    for odd in [
        // Half of a surrogate pair, which no text can hold.
        r#"{"messageId":"odd","body":"\ud800"}"#.to_owned(),
        format!(r#"{{"messageId":"odd","body":{quoted},"x":"\udfff"}}"#),
        // A field twice.
        r#"{"messageId":"odd","body":"one","body":"two"}"#.to_owned(),
        r#"{"messageId":"odd","messageId":"odd","body":"one"}"#.to_owned(),
        format!(
            r#"{{"messageId":"odd","body":{quoted},"attributes":{{"MessageGroupId":"a","MessageGroupId":"b"}}}}"#
        ),
        format!(r#"{{"messageId":"odd","body":{quoted},"x":{deep}}}"#),
        format!(r#"{{"messageId":"odd","body":{deep_quoted}}}"#),
        format!(r#"{{"messageId":"odd","body":{}}}"#, json!(deep)),
        format!(r#"{{"messageId":"odd","body":{}}}"#, json!("\"".repeat(1024 * 1024))),
        format!(r#"{{"messageId":"odd","body":{}}}"#, json!("\u{0}\u{feff}")),
    ] {
        let bench = Bench::with_quarantine();
        let event = format!(r#"{{"Records":[{odd},{good}]}}"#);
        let start: String = odd.chars().take(120).collect();
        match bench.consumer.handle(&event, bench.clock.deadline_in(10_000)).await {
            Ok(answer) => assert!(listed(&answer).iter().all(|id| id == "odd"), "{start}"),
            Err(error) => {
                assert!(matches!(error, InvocationError::Unidentified { records: 1, of: 2 }), "{start}")
            }
        }
        assert_eq!(bench.paid("a"), "1", "beside {start}");
    }
}

/// Ids are compared as they are, character by character; none of them makes a key that DynamoDB would refuse.
#[tokio::test(start_paused = true)]
async fn ids_of_odd_characters_are_different_events() {
    let long = "é".repeat(40_000);
    let ids: [&str; 14] = [
        " ",
        "\u{0}",
        "\n",
        "é",
        "e\u{301}",
        "İ",
        "i\u{307}",
        "\u{202e}42",
        "42",
        "４２",
        "#",
        "%23",
        "🦀",
        &long,
    ];
    let bench = Bench::with_quarantine();
    let mut batch = SqsBatch::standard("q");
    for (number, id) in ids.iter().enumerate() {
        let mut event: Value = serde_json::from_str(&body(1, "a", "ok")).unwrap();
        event["id"] = json!(id);
        batch = batch.record(&number.to_string(), &event.to_string());
    }
    for _ in 0..2 {
        assert!(bench.failures(&batch).await.is_empty());
        assert_eq!((bench.paid("a"), bench.cases()), ("14".into(), vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_without_records_or_without_time_is_answered() {
    let bench = Bench::with_quarantine();
    assert!(bench.failures(&SqsBatch::fifo("q")).await.is_empty());
    let batch = SqsBatch::standard("q")
        .received("1", &body(1, "a", "ok"), 3)
        .received("2", &body(2, "a", "permanent"), 3)
        .received("3", "not json", 3);
    let now = bench.clock.deadline_in(0);
    let past = now.less(Duration::from_secs(1_800_000_000));
    for deadline in [now, past] {
        let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
        assert_eq!(listed(&answer), ["1", "2", "3"]);
    }
    assert!(bench.called().is_empty() && bench.cases().is_empty());
}
