//! What is answered to Lambda.

use std::time::Duration;

use oncebox::consumer::InvocationError;
use oncebox::testing::SqsBatch;
use serde_json::json;

use crate::bench::{Bench, body};

#[tokio::test(start_paused = true)]
async fn c03_the_answer_has_exactly_lambda_s_keys() {
    let bench = Bench::new();
    let batch =
        SqsBatch::standard("q").record("1", &body(1, "a", "ok")).record("2", &body(2, "a", "transient"));
    let answer = bench.deliver(&batch).await.unwrap();
    let golden = include_str!("golden/sqs-response.json");
    assert_eq!(serde_json::to_string(&answer).unwrap(), golden.trim_end());
    let empty = bench.deliver(&SqsBatch::standard("q")).await.unwrap();
    assert_eq!(serde_json::to_string(&empty).unwrap(), r#"{"batchItemFailures":[]}"#);
}

/// Identifiers that Lambda would take for a failure of the whole batch, or for none.
fn unusable() -> Vec<serde_json::Value> {
    vec![json!(null), json!(""), json!(7), json!({}), json!([])]
}

#[tokio::test(start_paused = true)]
async fn c01_c02_a_record_without_message_id_fails_the_invocation_and_says_why() {
    let absent = json!({"body": body(2, "b", "transient")});
    let odd = unusable().into_iter().map(|id| json!({"messageId": id, "body": body(2, "b", "transient")}));
    for nameless in std::iter::once(absent).chain(odd) {
        let bench = Bench::new();
        let batch = SqsBatch::standard("q")
            .record("1", &body(1, "a", "ok"))
            .raw(nameless.clone())
            .record("3", &body(3, "c", "ok"));
        for _ in 0..2 {
            let error = bench.deliver(&batch).await.unwrap_err();
            assert!(matches!(error, InvocationError::Unidentified { records: 1, of: 3 }), "{nameless}");
            assert!(error.to_string().contains("messageId"), "{error}");
        }
        assert_eq!((bench.paid("a"), bench.paid("c")), ("1".into(), "1".into()), "once each: {nameless}");
    }
}

#[tokio::test(start_paused = true)]
async fn c02_an_empty_record_never_panics_the_answer() {
    let bench = Bench::new();
    for batch in [
        SqsBatch::standard("q").raw(json!({"body": "{}"})),
        SqsBatch::standard("q").record("good", &body(1, "a", "ok")).raw(json!({"body": "{}"})),
        SqsBatch::standard("q").raw(json!(null)).raw(json!("text")).raw(json!([1])),
    ] {
        assert!(matches!(bench.deliver(&batch).await, Err(InvocationError::Unidentified { .. })));
    }
    assert_eq!(bench.paid("a"), "1");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_batch_is_said_to_be_none() {
    let bench = Bench::new();
    for event in ["{}", "[]", "null", r#"{"Records": null}"#, r#"{"Records": {}}"#, "\"text\""] {
        let answer = bench.consumer.handle(event, bench.clock.deadline_in(1000)).await;
        assert!(matches!(answer, Err(InvocationError::NotABatch(_))), "{event}");
    }
}

#[tokio::test(start_paused = true)]
async fn c05_a_second_delivery_of_all_applies_nothing_new() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q")
        .record("1", &body(1, "a", "ok"))
        .record("2", &body(2, "b", "transient"))
        .record("3", &body(3, "a", "ok"));
    assert_eq!(bench.failures(&batch).await, ["2"]);
    assert_eq!(bench.failures(&batch).await, ["2"]);
    assert_eq!(bench.paid("a"), "2");
}

#[tokio::test(start_paused = true)]
async fn one_event_twice_in_a_batch_is_applied_once() {
    let bench = Bench::new();
    let same = body(1, "a", "slow");
    let batch = SqsBatch::standard("q").record("1", &same).record("2", &same).record("3", &same);
    assert!(bench.failures(&batch).await.is_empty());
    assert_eq!(bench.paid("a"), "1");
}

#[tokio::test(start_paused = true)]
async fn c07_fifo_holds_back_the_rest_of_a_group_and_no_other() {
    let bench = Bench::new();
    let batch = SqsBatch::fifo("q")
        .grouped("A1", "A", &body(1, "a", "ok"))
        .grouped("A2", "A", &body(2, "a", "transient"))
        .grouped("B1", "B", &body(3, "b", "ok"))
        .grouped("A3", "A", &body(4, "a", "ok"));
    assert_eq!(bench.failures(&batch).await, ["A2", "A3"]);
    assert_eq!((bench.paid("a"), bench.paid("b")), ("1".into(), "1".into()));
    assert_eq!(bench.called().len(), 3, "A3 was not tried");
}

#[tokio::test(start_paused = true)]
async fn c08_a_group_id_on_a_standard_queue_holds_nothing_back() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q")
        .grouped("1", "A", &body(1, "a", "transient"))
        .grouped("2", "A", &body(2, "a", "ok"))
        .grouped("3", "A", &body(3, "a", "ok"));
    assert_eq!(bench.failures(&batch).await, ["1"]);
    assert_eq!(bench.paid("a"), "2");
}

#[tokio::test(start_paused = true)]
async fn c14_the_answer_comes_before_the_deadline() {
    let bench = Bench::new();
    let mut batch = SqsBatch::fifo("q");
    for id in 1..=5 {
        batch = batch.grouped(&id.to_string(), "A", &body(id, "a", "slow"));
    }
    let deadline = bench.clock.deadline_in(350);
    let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
    assert!(deadline.left(oncebox::time::Clock::now(&bench.clock)) > Duration::ZERO);
    let failures = crate::bench::listed(&answer);
    assert_eq!(failures, ["2", "3", "4", "5"]);
    assert_eq!(bench.paid("a"), "1", "nothing of what is listed was applied");
    assert_eq!(bench.called().len(), 1);
}
