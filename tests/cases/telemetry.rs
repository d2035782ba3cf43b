//! Spans, log lines and metrics: whose they are, what they count, and that no payload is in them.

pub(crate) mod capture;
mod desk;
mod emf;
mod quoting;

use std::collections::BTreeMap;
use std::sync::Arc;

use oncebox::relay::{PublishError, Relay};
use oncebox::testing::{CountedIds, MemoryPublisher, MemoryStore, PausedClock, SqsBatch};
use oncebox::time::Clock;
use serde_json::json;

use self::capture::Capture;
use self::desk::{Desk, SECRET};
use self::quoting::Quoting;

const ONE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

#[tokio::test(start_paused = true)]
async fn c49_each_record_has_a_span_of_its_own_in_its_producer_s_trace() {
    for packing in [false, true] {
        let (capture, _guard) = Capture::start("info");
        let desk = Desk::new(packing);
        let batch = SqsBatch::standard("q").record("1", &desk.body("e1", "emit", Some(ONE))).received(
            "2",
            &desk.body("e2", "emit", Some(OTHER)),
            3,
        );
        assert!(desk.deliver(&batch).await.is_empty());

        let spans = capture.spans("record");
        assert_eq!(spans.len(), 2, "one span each");
        for (span, producer) in spans.iter().zip([ONE, OTHER]) {
            let parts: Vec<&str> = producer.split('-').collect();
            assert_eq!((&*span["trace_id"], &*span["parent_span_id"]), (parts[1], parts[2]));
            assert_ne!(span["span_id"], parts[2]);
        }
        assert_ne!(spans[0]["span_id"], spans[1]["span_id"]);
        let known = ["consumer", "event_id", "event_type", "aggregate", "attempt", "verdict", "otel.kind"];
        let second: Vec<&str> = known.iter().map(|name| &*spans[1][*name]).collect();
        assert_eq!(second, ["desk", "e2", "Charged", "o-1", "3", "applied", "consumer"]);

        let rows = desk.memory.items("outbox");
        let emitted = rows.iter().map(|row| {
            let body: serde_json::Value = serde_json::from_str(row["body"].as_s().unwrap()).unwrap();
            let text = |name: &str| body[name].as_str().unwrap().to_owned();
            assert_eq!(text("correlationid"), "cart-7");
            (text("causationid"), text("traceparent"))
        });
        let emitted: BTreeMap<_, _> = emitted.collect();
        let expected = spans.iter().zip(["01", "00"]).map(|(span, flags)| {
            let traceparent = format!("00-{}-{}-{flags}", span["trace_id"], span["span_id"]);
            (span["event_id"].clone(), traceparent)
        });
        assert_eq!(emitted, expected.collect(), "the rows carry the consumer's spans");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_without_a_usable_trace_starts_one() {
    let (capture, _guard) = Capture::start("info");
    let desk = Desk::new(false);
    let batch = SqsBatch::standard("q")
        .record("1", &desk.body("e1", "emit", None))
        .record("2", &desk.body("e2", "ok", Some("00-garbage")))
        .record("3", "this is no event");
    desk.deliver(&batch).await;
    let spans = capture.spans("record");
    assert_eq!(spans.len(), 3);
    let traces: std::collections::BTreeSet<_> = spans.iter().map(|span| &span["trace_id"]).collect();
    assert_eq!(traces.len(), 3);
    assert!(spans.iter().all(|span| !span.contains_key("parent_span_id")));
    let row = desk.memory.items("outbox").remove(0);
    assert!(row["body"].as_s().unwrap().contains(&spans[0]["trace_id"]));
    assert_eq!((&*spans[2]["verdict"], spans[2].get("event_id")), ("malformed", None));
}

#[tokio::test(start_paused = true)]
async fn a_line_of_a_handler_says_whose_it_is_once() {
    for levels in ["info", "cases=info,off"] {
        let (capture, _guard) = Capture::start(levels);
        let desk = Desk::new(false);
        desk.deliver(&SqsBatch::standard("q").record("m-1", &desk.body("e1", "ok", Some(ONE)))).await;
        let [line] = &capture.lines("charging")[..] else { panic!("{:?}", capture.text()) };
        let shown =
            ["level", "consumer", "event_id", "message_id", "trace_id"].map(|name| line[name].as_str());
        let trace = &ONE[3..35];
        assert_eq!(shown, [Some("INFO"), Some("desk"), Some("e1"), Some("m-1"), Some(trace)]);
        assert!(line.get("otel.kind").is_none());
        let text = capture.text();
        let text = text.iter().find(|text| text.contains("charging")).unwrap();
        assert!(text.ends_with("}\n") && text.lines().count() == 1);
        for name in ["consumer", "event_id", "trace_id", "span_id"] {
            assert_eq!(text.matches(&format!("\"{name}\":")).count(), 1, "{name} in {text}");
        }
    }
}

/// Every verdict in one batch of a FIFO queue, with the groups in a row.
fn every_verdict(desk: &Desk) -> SqsBatch {
    let old = desk.body("old", "ok", None).replace("\"time\":\"20", "\"time\":\"19");
    SqsBatch::fifo("q")
        .grouped("1", "A", &desk.body("e1", "slow", Some(ONE)))
        .grouped("2", "A", &desk.body("e1", "slow", Some(ONE)))
        .grouped("3", "B", &desk.body("e3", "transient", None))
        .grouped("4", "B", &desk.body("e4", "ok", None))
        .grouped("5", "C", &desk.body("e5", "permanent", None))
        .grouped("6", "D", &desk.body("e6", "ok", None).replace("Charged", "SomethingElse"))
        .grouped("7", "E", SECRET)
        .grouped("8", "F", &old)
}

#[tokio::test(start_paused = true)]
async fn the_last_line_is_valid_emf_and_counts_what_was_decided() {
    let (capture, _guard) = Capture::start("off");
    let desk = Desk::new(false);
    assert_eq!(desk.deliver(&every_verdict(&desk)).await, ["3", "4"]);
    assert!(capture.lines("batch received").is_empty(), "the level is off");
    let [line] = &capture.lines("batch done")[..] else { panic!("{:?}", capture.text()) };

    let (dimension, metrics) = emf::read(line);
    assert_eq!(dimension, "desk");
    let count = |name: &str| metrics.get(name).map_or(0.0, |values| values.iter().sum());
    let expected = [
        ("Applied", "applied", 1.0),
        ("Duplicate", "duplicate", 1.0),
        ("Stale", "stale", 0.0),
        ("Unhandled", "unhandled", 1.0),
        ("Transient", "transient", 1.0),
        ("Permanent", "permanent", 1.0),
        ("Malformed", "malformed", 1.0),
        ("TooOld", "too_old", 1.0),
        ("Quarantined", "quarantined", 3.0),
        ("HeldBack", "held_back", 1.0),
        ("NotStarted", "not_started", 0.0),
        ("BatchSize", "records", 8.0),
    ];
    for (metric, field, value) in expected {
        assert_eq!((count(metric), line[field].as_f64()), (value, Some(value)), "{metric}");
    }
    assert_eq!(metrics["Deliveries"], [1.0; 8]);
    assert_eq!(metrics["HandlerTime"], [40.0, 40.0], "of those that took any");
    assert_eq!(metrics["CommitToApplyLag"], [290.0], "250 ms old, and 40 ms of work");
}

#[tokio::test(start_paused = true)]
async fn a_large_batch_loses_no_value_and_breaks_no_limit() {
    let (capture, _guard) = Capture::start("info");
    let desk = Desk::new(true);
    let batch = (0..250).fold(SqsBatch::standard("q"), |batch, id| {
        batch.record(&format!("m{id}"), &desk.body(&format!("e{id}"), "ok", None))
    });
    assert!(desk.deliver(&batch).await.is_empty());
    let lines = [capture.lines("batch done"), capture.lines("more values")].concat();
    assert_eq!(lines.len(), 3);
    let read: Vec<_> = lines.iter().map(|line| emf::read(line).1).collect();
    for name in ["Deliveries", "CommitToApplyLag"] {
        assert_eq!(read.iter().map(|metrics| metrics[name].len()).sum::<usize>(), 250, "{name}");
    }
    assert_eq!(read.iter().filter(|metrics| metrics.contains_key("Applied")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_payload_is_in_any_line_metric_or_error() {
    let (capture, _guard) = Capture::start("trace,oncebox=trace,cases=trace");
    std::panic::set_hook(Box::new(oncebox::telemetry::log_panic));
    for packing in [false, true] {
        let desk = Desk::new(packing);
        let modes = ["ok", "emit", "json", "time", "permanent", "transient", "panic", "oversized", "twice"];
        let mut batch = SqsBatch::standard("q");
        for (index, mode) in modes.iter().enumerate() {
            batch = batch.record(&format!("m{index}"), &desk.body(&format!("e{index}"), mode, Some(ONE)));
        }
        let good = desk.body("x", "ok", None);
        let odd = [
            SECRET.to_owned(),
            format!("\"{SECRET}\""),
            format!("{{\"{SECRET}"),
            good.replace("\"1.0\"", &format!("\"{SECRET}\"")),
            good.replace("\"o-1\",\"time\"", &format!("[\"{SECRET}\"],\"time\"")),
            good.replace("\"mode\":\"ok\"", "\"mode\":7"),
            good.replace("\"card\"", "\"kart\""),
            good.replace("\"data\"", "\"schemaversion\":\"9\",\"data\""),
            good.replace("\"time\":\"20", &format!("\"time\":\"{SECRET}")),
        ];
        for (index, body) in odd.iter().enumerate() {
            batch = batch.record(&format!("o{index}"), body);
        }
        desk.deliver(&batch).await;
        for refuses in [false, true] {
            let clock = PausedClock::start();
            let store = Arc::new(Quoting { refuses });
            let broken = Desk::over(MemoryStore::new(), store, clock, packing);
            let batch = SqsBatch::standard("q").received("1", &broken.body("e1", "ok", None), 2);
            assert_eq!(broken.deliver(&batch).await, ["1"], "nor quarantined");
        }
        for event in [format!("\"{SECRET}\""), format!("{{\"Records\":\"{SECRET}\"}}"), SECRET.to_owned()] {
            let error = desk.consumer.handle(&event, desk.clock.deadline_in(1_000)).await.unwrap_err();
            assert!(!format!("{error:?} {error}").contains(SECRET), "{error:?}");
        }
    }
    drop(std::panic::take_hook());
    let lines = capture.text();
    assert!(lines.iter().any(|line| line.contains("\"message\":\"panic\"") && line.contains("desk.rs:")));
    assert!(lines.iter().any(|line| line.contains("the JSON does not have the expected shape")));
    assert!(lines.iter().any(|line| line.contains("r-7")), "the request can be found");
    for line in &lines {
        assert!(!line.contains(SECRET), "{line}");
    }
    let kept = lines.iter().filter(|line| line.contains("\"quarantined\":true")).count();
    assert!(kept > 10, "{kept}");
}

#[tokio::test(start_paused = true)]
async fn the_relay_s_last_line_is_valid_emf_too() {
    let (capture, _guard) = Capture::start("info");
    let clock = PausedClock::start();
    let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("outbox", "pk", Some("sk"));
    let publisher = MemoryPublisher::default();
    publisher.refuse("e2", PublishError::NotNow("throttled".into()), 1_000);
    let routes =
        r#"{"Order": ["arn:aws:sns:eu-central-1:1:t", "https://sqs.eu-central-1.amazonaws.com/1/q"]}"#;
    let relay = Relay::new(Arc::new(memory), Arc::new(publisher), "outbox", routes.parse().unwrap())
        .with_time(Arc::new(clock), Arc::new(CountedIds::default()));
    let created = clock.now().as_millisecond() - 120;
    let insert = |id: u32| {
        let image = json!({"pk": {"S": "Order#o"}, "sk": {"S": format!("e{id}")}, "body": {"S": SECRET},
            "route": {"S": "Order"}, "event_type": {"S": "Charged"}, "created_at": {"N": created.to_string()}});
        json!({"eventName": "INSERT", "dynamodb": {"SequenceNumber": id.to_string(), "NewImage": image}})
    };
    let removed = json!({"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "9", "Keys": {}}});
    let event = json!({ "Records": [insert(1), insert(2), insert(3), removed] }).to_string();
    relay.handle(&event, clock.deadline_in(600)).await.unwrap();

    let [line] = &capture.lines("relay done")[..] else { panic!("{:?}", capture.text()) };
    let (dimension, metrics) = emf::read(line);
    assert_eq!(dimension, "outbox-relay");
    assert_eq!((&metrics["BatchSize"], &metrics["Ignored"]), (&vec![4.0], &vec![1.0]));
    assert_eq!((&metrics["Published"], &metrics["Failed"]), (&vec![2.0], &vec![1.0]));
    assert_eq!((line["records"].as_u64(), line["published"].as_u64()), (Some(4), Some(2)));
    let mut calls = 0.0;
    for line in capture.lines("destination done") {
        let (dimension, metrics) = emf::read(&line);
        assert!(
            ["arn:aws:sns:eu-central-1:1:t", "https://sqs.eu-central-1.amazonaws.com/1/q"]
                .contains(&&*dimension),
            "{dimension}"
        );
        assert!(metrics["PublishCalls"][0] >= 1.0 && metrics.contains_key("Accepted"));
        calls += metrics["PublishCalls"][0];
    }
    assert!((metrics["PublishCalls"][0] - calls).abs() < 0.1 && calls >= 2.0);
    assert_eq!(metrics["PublishLag"].len(), 2);
    assert!(metrics["PublishLag"].iter().all(|lag| *lag >= 120.0));
    assert!(capture.text().iter().all(|line| !line.contains(SECRET)));
}

#[test]
fn a_value_that_is_recorded_later_takes_the_place_of_its_own() {
    let (capture, _guard) = Capture::start("info");
    let span = tracing::info_span!("work", a = "one", b = 2, c = "th\"ree", d = tracing::field::Empty);
    span.record("b", "a longer \u{1}one");
    span.record("a", 0.5);
    span.record("d", true);
    span.record("d", false);
    span.in_scope(|| tracing::info!(c = "inner", "done"));
    let line = capture.text().concat();
    for field in [r#","a":0.5"#, r#","b":"a longer \u0001one""#, r#","c":"inner""#, r#","d":false"#] {
        assert_eq!(line.matches(field).count(), 1, "{field} in {line}");
    }
    assert_eq!(line.matches("\":").count(), 8, "{line}");
}
