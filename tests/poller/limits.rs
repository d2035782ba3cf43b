//! Age, retention, sizes, and what an on-failure record says.

use std::sync::Arc;
use std::time::Duration;

use oncebox::testing::PausedClock;
use oncebox::time::Clock;
use oncebox_tests::poller::{Invocation, Mapping, Poller};
use serde_json::{Value, json};

use crate::bench::{Function, deliver, deliver_all, record, told};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn records_over_age_are_given_up_without_an_invocation_and_the_rest_goes_on() {
    let clock = PausedClock::start();
    let (old, new) = (clock.now() - 2 * HOUR, clock.now());
    let records = vec![record("1", "a", old), record("2", "a", old), record("3", "a", new)];
    let mapping = Mapping { max_age: Some(HOUR), ..Mapping::default() };
    let function = Function::default();
    let discarded = deliver_all(mapping, &function, clock, records).await;
    assert_eq!(function.invoked(), ["3"]);
    assert_eq!(told(&discarded), ["1-2 (2) RecordAgeExceeded"]);
    assert_eq!(discarded[0]["responseContext"], Value::Null, "there was no answer");
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_fails_is_given_up_when_it_is_over_age() {
    let mapping = Mapping { max_age: Some(Duration::from_secs(10)), ..Mapping::default() };
    let function = Function::default().always(|_| Invocation::FunctionError);
    let discarded = deliver(mapping, &function, &["1", "2"]).await;
    assert_eq!(told(&discarded), ["1-2 (2) RecordAgeExceeded"]);
    // Pauses of 0.1, 0.2, 0.4 … 6.4 s end after 12.7 s.
    assert_eq!(function.invoked().len(), 7);
}

#[tokio::test(start_paused = true)]
async fn an_invocation_that_does_not_come_about_is_no_attempt() {
    let mapping = Mapping { max_retries: Some(0), max_age: Some(HOUR), ..Mapping::default() };
    let mut function = Function::default();
    for _ in 0..10 {
        function = function.answers(Invocation::NotInvoked);
    }
    assert!(deliver(mapping, &function, &["1"]).await.is_empty());
    assert_eq!(function.invoked().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn without_a_bound_a_failing_record_blocks_its_shard_for_a_day() {
    let clock = PausedClock::start();
    let function = Function::default().always(|numbers| {
        if numbers == ["1"] { Invocation::FunctionError } else { Invocation::Answered(Value::Null) }
    });
    let called = function.clone();
    let mapping = Mapping { batch_size: 1, ..Mapping::default() };
    let mut poller = Poller::new(mapping, async |event| called.invoke(&event), Arc::new(clock));
    poller.take([record("1", "a", clock.now()), record("2", "a", clock.now() + 12 * HOUR)]);
    assert!(!poller.run(23 * HOUR).await);
    assert!(!function.invoked().contains(&"2".to_owned()));
    assert!(poller.run(2 * HOUR).await);
    assert_eq!(function.invoked().last().unwrap(), "2");
    assert_eq!((poller.trimmed(), poller.discarded().len()), (1, 0), "the stream's end is told to nobody");
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_full_by_count() {
    let function = Function::default();
    let mapping = Mapping { batch_size: 2, ..Mapping::default() };
    deliver(mapping, &function, &["1", "2", "3", "4", "5"]).await;
    assert_eq!(function.invoked(), ["1 2", "3 4", "5"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_full_by_size() {
    let clock = PausedClock::start();
    let mut records: Vec<_> = ["1", "2", "3"].map(|number| record(number, "a", clock.now())).into();
    for record in &mut records {
        record.json["dynamodb"]["NewImage"] = json!({ "body": { "S": "x".repeat(2_500_000) } });
    }
    let function = Function::default();
    deliver_all(Mapping::default(), &function, clock, records).await;
    assert_eq!(function.invoked(), ["1 2", "3"]);
}

#[tokio::test(start_paused = true)]
async fn an_on_failure_record_has_the_position_and_not_the_payload() {
    let clock = PausedClock::start();
    let mut first = record("7", "a", clock.now() - Duration::from_secs(30));
    first.json["dynamodb"]["NewImage"] = json!({ "body": { "S": "secret" } });
    let records = vec![first, record("9", "a", clock.now())];
    let mapping = Mapping { max_retries: Some(1), ..Mapping::default() };
    let function = Function::default().errs().errs();
    let mut discarded = deliver_all(mapping, &function, clock, records).await;
    let mut told = discarded.remove(0);
    assert!(!told.to_string().contains("secret"));
    assert!(told["requestContext"]["requestId"].take().is_string());
    assert_eq!(
        told,
        json!({
            "requestContext": {
                "requestId": null,
                "functionArn": "arn:aws:lambda:eu-central-1:000000000000:function:outbox-relay",
                "condition": "RetryAttemptsExhausted",
                "approximateInvokeCount": 2,
            },
            "responseContext": { "statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled" },
            "version": "1.0",
            "timestamp": "2027-01-15T08:00:00.100Z",
            "DDBStreamBatchInfo": {
                "shardId": "shard",
                "startSequenceNumber": "7",
                "endSequenceNumber": "9",
                "approximateArrivalOfFirstRecord": "2027-01-15T07:59:30Z",
                "approximateArrivalOfLastRecord": "2027-01-15T08:00:00Z",
                "batchSize": 2,
                "streamArn": "arn:aws:dynamodb:eu-central-1:000000000000:table/outbox/stream/1",
            },
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_was_out_when_the_poller_stopped_comes_again() {
    let clock = PausedClock::start();
    let function = Function::default();
    let called = function.clone();
    let slow = async |event| {
        let answer = called.invoke(&event);
        tokio::time::sleep(if called.invoked().len() == 1 { HOUR } else { Duration::ZERO }).await;
        answer
    };
    let mut poller = Poller::new(Mapping::default(), slow, Arc::new(clock));
    poller.take([record("1", "a", clock.now())]);
    assert!(!poller.run(Duration::from_secs(60)).await);
    assert!(poller.run(Duration::from_secs(60)).await);
    assert_eq!(function.invoked(), ["1", "1"]);
}
