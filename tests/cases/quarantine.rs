//! What cannot succeed is kept with its reason, and then acknowledged.

use std::time::Duration;

use oncebox::quarantine::Reason;
use oncebox::testing::{Fault, GetFault, SqsBatch, WriteFault};
use oncebox::time::Clock;
use serde_json::json;

use crate::bench::{Bench, body, envelope, large_body};

fn reasons(bench: &Bench) -> Vec<Reason> {
    bench.cases().iter().map(|case| case.reason).collect()
}

#[tokio::test(start_paused = true)]
async fn c05_a_poison_is_quarantined_then_acknowledged_and_a_second_delivery_applies_nothing_new() {
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::standard("q")
        .record("1", &body(1, "a", "ok"))
        .record("2", &body(2, "b", "permanent"))
        .record("3", &body(3, "a", "ok"));
    for delivery in 1..=2 {
        assert!(bench.failures(&batch).await.is_empty(), "delivery {delivery}");
        assert_eq!((bench.paid("a"), bench.paid("b")), ("2".into(), "0".into()));
        assert_eq!(bench.cases().len(), 1, "a repeat overwrites");
    }
    let case = &bench.cases()[0];
    assert_eq!((case.reason, case.detail.as_str()), (Reason::Permanent, "never"));
    assert_eq!((case.owner.as_str(), case.message_id.as_str(), case.attempts), ("test", "2", 1));
    assert!(case.source.ends_with(":q"), "{}", case.source);
    assert_eq!(case.body, body(2, "b", "permanent"));
}

#[tokio::test(start_paused = true)]
async fn c07_a_permanent_head_is_quarantined_and_its_group_goes_on_at_once() {
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::fifo("q")
        .grouped("A1", "A", &body(1, "a", "permanent"))
        .grouped("A2", "A", "not json")
        .grouped("A3", "A", &body(3, "a", "ok"));
    assert!(bench.failures(&batch).await.is_empty());
    assert_eq!(bench.paid("a"), "1");
    assert_eq!(bench.cases().len(), 2);
    assert!(bench.cases().iter().all(|case| case.group.as_deref() == Some("A")));
}

#[tokio::test(start_paused = true)]
async fn c07_on_its_last_receive_a_failing_head_is_quarantined_and_its_tail_runs() {
    let bench = Bench::with_quarantine();
    let batch = |received: u32| {
        SqsBatch::fifo("q")
            .received("A1", &body(1, "a", "transient"), received)
            .in_group("A")
            .received("A2", &body(2, "a", "ok"), received)
            .in_group("A")
    };
    for received in 1..=2 {
        assert_eq!(bench.failures(&batch(received)).await, ["A1", "A2"]);
        assert!(bench.cases().is_empty());
    }
    assert!(bench.failures(&batch(3)).await.is_empty());
    assert_eq!(bench.paid("a"), "1");
    let case = &bench.cases()[0];
    assert_eq!((case.reason, case.detail.as_str(), case.attempts), (Reason::Exhausted, "not now", 3));
}

#[tokio::test(start_paused = true)]
async fn c07_what_was_only_held_back_is_not_exhausted() {
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::fifo("q")
        .received("A1", &body(1, "a", "transient"), 1)
        .in_group("A")
        .received("A2", &body(2, "a", "transient"), 9)
        .in_group("A");
    assert_eq!(bench.failures(&batch).await, ["A1", "A2"]);
    assert!(bench.cases().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_never_started_is_not_exhausted() {
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), 9);
    let late = bench.clock.deadline_in(100);
    let answer = bench.consumer.handle(&batch.to_json(), late).await.unwrap();
    assert_eq!(crate::bench::listed(&answer), ["1"]);
    assert!(bench.cases().is_empty() && bench.called().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c09_what_fails_before_user_code_is_quarantined_alone() {
    let broken = [
        envelope("01a3185c-5000-7000-8000-000000000099", "Paid", r#"{"account": 7}"#),
        r#"{"specversion":"1.0","id":"x","source":"/t","type":"Paid","schemaversion":"2","data":{}}"#
            .to_owned(),
        r#"{"specversion":"1.0","source":"/t","type":"Paid","data":{}}"#.to_owned(),
    ];
    for broken in broken {
        let bench = Bench::with_quarantine();
        let batch = SqsBatch::standard("q")
            .record("1", &body(1, "a", "ok"))
            .record("2", &broken)
            .record("3", &body(3, "c", "ok"));
        assert!(bench.failures(&batch).await.is_empty(), "{broken}");
        assert_eq!(bench.called().len(), 2, "the handler saw the good ones only");
        assert_eq!((reasons(&bench), &bench.cases()[0].body), (vec![Reason::Malformed], &broken));
    }
}

#[tokio::test(start_paused = true)]
async fn c13_a_record_without_a_text_body_is_kept_as_a_whole() {
    for odd in [json!({"messageId": "1", "body": null}), json!({"messageId": "1", "body": {"an": "object"}})]
    {
        let bench = Bench::with_quarantine();
        assert!(bench.failures(&SqsBatch::standard("q").raw(odd.clone())).await.is_empty());
        let kept: serde_json::Value = serde_json::from_str(&bench.cases()[0].body).unwrap();
        assert_eq!((kept, reasons(&bench)), (odd, vec![Reason::Malformed]));
    }
}

#[tokio::test(start_paused = true)]
async fn c28_more_events_than_a_transaction_takes_are_refused_before_the_call() {
    for (mode, said) in [
        ("emit_120", ["122 actions", "120 events", "100 that DynamoDB takes", "emit fewer"]),
        ("emit_60_large", ["62 actions", "bytes", "4194304", "emit a reference"]),
    ] {
        let bench = Bench::with_quarantine();
        assert!(bench.failures(&SqsBatch::standard("q").record("1", &body(1, "a", mode))).await.is_empty());
        let case = &bench.cases()[0];
        assert_eq!(case.reason, Reason::Permanent);
        assert!(said.iter().all(|text| case.detail.contains(text)), "{}", case.detail);
        assert!(bench.store.calls().iter().all(|call| call.token.is_none()), "no transaction was sent");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_of_1_mib_is_kept_in_parts_and_read_back_to_the_byte() {
    let bench = Bench::with_quarantine();
    let (one, other) = (large_body(1, "permanent", 1_048_000), large_body(1, "permanent", 900_000));
    let first = bench.clock.now().as_millisecond();
    for text in [&one, &one, &other] {
        assert!(bench.failures(&SqsBatch::standard("q").record("1", text)).await.is_empty());
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    let mut bodies: Vec<String> = bench.cases().into_iter().map(|case| case.body).collect();
    bodies.sort_by_key(String::len);
    assert!(bodies == [other, one], "two bodies under one id are two cases");
    let rows = bench.memory.items("quarantine");
    assert_eq!(rows.len(), 2 + 3 + 3, "a repeat overwrites its parts");
    let times = rows.iter().filter(|row| row.contains_key("owner")).map(|row| {
        let time = |name: &str| row[name].as_n().unwrap().parse::<i64>().unwrap() - first;
        (time("first_failed_at"), time("last_failed_at"))
    });
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    assert_eq!(times, [(0, 60_000), (120_000, 120_000)]);
}

#[tokio::test(start_paused = true)]
async fn texts_of_any_length_do_not_keep_a_message_out_of_the_quarantine() {
    let long = "ä".repeat(300_000);
    let subject = json!({"specversion": "1.0", "id": "1", "source": "/t", "type": "Paid", "subject": long,
        "traceparent": long, "data": {"account": "nobody", "mode": "ok"}})
    .to_string();
    let bench = Bench::with_quarantine();
    let batch = SqsBatch::standard("q").record("1", &subject);
    assert!(bench.failures(&batch).await.is_empty());
    assert!(bench.cases()[0].body == subject);
}

#[tokio::test(start_paused = true)]
async fn if_the_quarantine_is_not_written_the_message_is_listed() {
    for fault in [WriteFault::Refused, WriteFault::Throttled, WriteFault::LostAnswer] {
        let bench = Bench::with_quarantine();
        for _ in 0..10_000 {
            bench.store.on_update(fault.clone());
        }
        let batch = SqsBatch::fifo("q").grouped("A1", "A", &body(1, "a", "permanent")).grouped(
            "A2",
            "A",
            &body(2, "a", "ok"),
        );
        assert_eq!(bench.failures(&batch).await, ["A1", "A2"], "{fault:?}");
        assert_eq!(bench.paid("a"), "0");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_table_that_does_not_answer_holds_nobody_up_for_long() {
    let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.concurrency(1), store));
    bench.store.before_update(|| tokio::time::sleep(Duration::from_secs(3600)));
    let batch =
        SqsBatch::standard("q").record("1", &body(1, "a", "permanent")).record("2", &body(2, "a", "ok"));
    let deadline = bench.clock.deadline_in(60_000);
    let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
    assert_eq!((crate::bench::listed(&answer), bench.paid("a")), (vec!["1".to_owned()], "1".into()));
    assert!(deadline.left(bench.clock.now()) > Duration::from_secs(50));
}

/// A second message about an event that has been applied: the handler takes its own effect for an obstacle.
#[tokio::test(start_paused = true)]
async fn what_has_been_applied_is_not_quarantined() {
    let bench = Bench::with_quarantine();
    let again = |id: &str| SqsBatch::standard("q").record(id, &body(1, "a", "once"));
    assert!(bench.failures(&again("1")).await.is_empty());
    assert!(bench.failures(&again("2")).await.is_empty());
    assert_eq!((bench.paid("a"), bench.called().len(), bench.cases().len()), ("1".into(), 2, 0));

    bench.store.on_get(GetFault::Pass).on_get(GetFault::TimedOut);
    assert_eq!(bench.failures(&again("3")).await, ["3"], "not known: the next delivery finds out");
    assert!(bench.cases().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_answer_lost_on_the_last_receive_is_looked_up() {
    let bench = Bench::with_quarantine();
    for _ in 0..10_000 {
        bench.store.on_transact(Fault::LostAnswer);
    }
    let last = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), 3);
    assert!(bench.failures(&last).await.is_empty());
    assert_eq!((bench.paid("a"), bench.cases().len()), ("1".into(), 0));
}
