//! Odd records beside good ones.

use oncebox::testing::SqsBatch;
use serde_json::json;

use crate::bench::{Bench, body, envelope};

/// Everything that may be odd about one record, in the spellings that were reported. Only the `right` ones keep their
/// messageId, so that their own failure can be listed.
fn odd_records() -> Vec<serde_json::Value> {
    let good = body(900, "b", "ok");
    vec![
        json!({"messageId": "odd", "body": good, "messageAttributes": {"x": {"stringListValues": null,
            "binaryListValues": null, "binaryValue": null, "dataType": "String", "stringValue": "v"}},
            "md5OfMessageAttributes": null, "attributes": null}),
        json!({"messageId": "odd", "body": good, "messageAttributes": null, "attributes": {}}),
        json!({"messageId": "odd", "body": good, "messageAttributes": {"x": {"dataType": "Number"}}}),
        json!({"messageId": "odd", "body": good, "attributes": {"ApproximateReceiveCount": 1}}),
        json!({"messageId": "odd", "body": good, "attributes": {"ApproximateReceiveCount": "many"}}),
        json!({"messageId": "odd", "body": good, "attributes": []}),
        json!({"messageId": "odd", "body": good, "receiptHandle": 7, "awsRegion": {}, "eventSourceARN": null}),
        json!({"messageId": "odd", "body": {"not": "a string"}}),
        json!({"messageId": "odd", "body": null}),
        json!({"messageId": "odd"}),
    ]
}

#[tokio::test(start_paused = true)]
async fn c11_an_odd_record_costs_itself_at_most() {
    for odd in odd_records() {
        let bench = Bench::new();
        let batch = SqsBatch::standard("q").record("good", &body(1, "a", "ok")).raw(odd.clone());
        let failures = bench.failures(&batch).await;
        assert_eq!(bench.paid("a"), "1", "beside {odd}");
        assert!(failures.iter().all(|id| id == "odd"), "{failures:?} beside {odd}");
    }
}

#[tokio::test(start_paused = true)]
async fn c11_odd_attributes_do_not_make_a_good_body_fail() {
    for odd in odd_records().into_iter().filter(|odd| odd["body"].is_string()) {
        let bench = Bench::new();
        assert!(bench.failures(&SqsBatch::standard("q").raw(odd.clone())).await.is_empty(), "{odd}");
        assert_eq!(bench.paid("b"), "1", "{odd}");
    }
}

#[tokio::test(start_paused = true)]
async fn c12_a_body_that_is_no_json_is_alone() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q").record("1", &body(1, "a", "ok")).record("2", "not json");
    assert_eq!(bench.failures(&batch).await, ["2"]);
    assert_eq!(bench.paid("a"), "1");
}

#[tokio::test(start_paused = true)]
async fn c13_a_panic_and_a_null_body_are_reported_alone() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q")
        .record("1", &body(1, "a", "panic"))
        .record("2", &body(2, "b", "ok"))
        .record("3", &body(3, "c", "panic"))
        .raw(json!({"messageId": "4", "body": null}));
    assert_eq!(bench.failures(&batch).await, ["1", "3", "4"]);
    assert_eq!((bench.paid("a"), bench.paid("b"), bench.paid("c")), ("0".into(), "1".into(), "0".into()));
}

#[tokio::test(start_paused = true)]
async fn c09_a_record_that_fails_before_user_code_is_alone() {
    for broken in [
        envelope("01a3185c-5000-7000-8000-000000000099", "Paid", r#"{"account": 7}"#),
        r#"{"specversion":"1.0","id":"x","source":"/t","type":"Paid","schemaversion":"2","data":{}}"#
            .to_owned(),
    ] {
        let bench = Bench::new();
        let batch = SqsBatch::standard("q")
            .record("1", &body(1, "a", "ok"))
            .record("2", &broken)
            .record("3", &body(3, "c", "ok"));
        assert_eq!(bench.failures(&batch).await, ["2"]);
        assert_eq!(bench.called().len(), 2, "the handler saw the good ones only");
    }
}

#[tokio::test(start_paused = true)]
async fn c20_every_record_has_one_verdict() {
    for size in [1_u32, 10, 10_000] {
        let bench = Bench::new();
        let modes = ["ok", "transient", "panic", "permanent"];
        let mut batch = SqsBatch::standard("q");
        let mut expected = Vec::new();
        for id in 0..size {
            let mode = modes[id as usize % modes.len()];
            batch = batch.record(&format!("m{id}"), &body(id, "a", mode));
            if mode != "ok" {
                expected.push(format!("m{id}"));
            }
        }
        let event = batch.to_json();
        let answer = bench.consumer.handle(&event, bench.clock.deadline_in(900_000)).await.unwrap();
        assert_eq!(crate::bench::listed(&answer), expected, "{size} records");
        assert_eq!(bench.paid("a"), (size as usize - expected.len()).to_string());
        assert_eq!(bench.called().len(), size as usize);
    }
}
