use std::collections::HashMap;
use std::time::Duration;

use oncebox_tests::mapping::{Condition, Filter, Mapping, NotIdle, Turn};
use serde_json::json;

use crate::function::{Function, poller, record, record_of, records};

/// Enough for every test here.
const TURNS: usize = 100;

/// What a function with these settings was called with for `last` records of one aggregate.
async fn calls(mapping: Mapping, last: usize, function: Function) -> Vec<String> {
    let (mut poller, clock) = poller(mapping);
    poller.offer(records(last, &clock));
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert!(poller.lost().is_empty());
    function.calls()
}

#[tokio::test(start_paused = true)]
async fn a_batch_has_at_most_so_many_records_and_a_shard_one_batch_at_a_time() {
    let called = calls(Mapping::default().batch_size(3), 7, Function::default()).await;
    assert_eq!(called, ["1 2 3", "4 5 6", "7"]);
}

#[tokio::test(start_paused = true)]
async fn the_lowest_reported_record_is_the_checkpoint_and_all_from_it_on_comes_again() {
    let mapping = Mapping::default().report_failures();
    let called = calls(mapping, 5, Function::default().reports(&["4", "2"])).await;
    assert_eq!(called, ["1 2 3 4 5", "2 3 4 5"]);
}

#[tokio::test(start_paused = true)]
async fn the_lowest_number_is_not_the_lowest_text() {
    let mapping = Mapping::default().report_failures();
    let called = calls(mapping, 11, Function::default().reports(&["10", "9"])).await;
    assert_eq!(called, ["1 2 3 4 5 6 7 8 9 10 11", "9 10 11"]);
}

#[tokio::test(start_paused = true)]
async fn a_report_counts_only_where_it_was_asked_for() {
    let called = calls(Mapping::default(), 3, Function::default().reports(&["2"])).await;
    assert_eq!(called, ["1 2 3"]);
}

#[tokio::test(start_paused = true)]
async fn empty_and_null_answers_are_a_success() {
    for answer in ["", "null", "{}", r#"{"batchItemFailures":[]}"#, r#"{"batchItemFailures":null}"#] {
        let mapping = Mapping::default().report_failures();
        let called = calls(mapping, 2, Function::default().answers(&[answer])).await;
        assert_eq!(called, ["1 2"], "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_identifier_that_is_empty_null_misnamed_or_unknown_fails_the_whole_batch() {
    for failure in [
        json!({ "itemIdentifier": "" }),
        json!({ "itemIdentifier": null }),
        json!({ "ItemIdentifier": "2" }),
        json!({ "itemIdentifier": "17" }),
    ] {
        let answer = json!({ "batchItemFailures": [{ "itemIdentifier": "2" }, failure] }).to_string();
        let mapping = Mapping::default().report_failures();
        let called = calls(mapping, 3, Function::default().answers(&[&answer])).await;
        assert_eq!(called, ["1 2 3", "1 2 3"], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_none_fails_the_whole_batch() {
    for answer in ["not JSON", "[]", "7", r#"{"batchItemFailures":7}"#, r#"{"failures":[]}"#] {
        let mapping = Mapping::default().report_failures();
        let called = calls(mapping, 2, Function::default().answers(&[answer])).await;
        assert_eq!(called, ["1 2", "1 2"], "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_error_brings_the_whole_batch_again_and_nothing_behind_it_before() {
    let called = calls(Mapping::default().batch_size(2), 4, Function::default().fails(2)).await;
    assert_eq!(called, ["1 2", "1 2", "1 2", "3 4"]);
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_it_is_retried_for_ever() {
    let (mut poller, clock) = poller(Mapping::default());
    poller.offer(records(1, &clock));
    let function = Function::default().fails_with("1");
    let settled = poller.settle(&async |event| function.call(event).await, TURNS).await;
    assert_eq!(settled, Err(NotIdle { turns: TURNS, records: 1 }));
}

#[tokio::test(start_paused = true)]
async fn after_its_retries_a_batch_is_discarded_and_the_shard_goes_on() {
    let (mut poller, clock) = poller(Mapping::default().batch_size(2).retries(2));
    poller.offer(records(4, &clock));
    let function = Function::default().fails_with("2");
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!(function.calls(), ["1 2", "1 2", "1 2", "3 4"]);
    assert_eq!(poller.lost().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_moving_checkpoint_does_not_start_the_count_again() {
    let (mut poller, clock) = poller(Mapping::default().report_failures().retries(1));
    poller.offer(records(3, &clock));
    let function = Function::default().reports(&["2"]).reports(&["3"]);
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!(function.calls(), ["1 2 3", "2 3"]);
    let lost = &poller.lost()[0];
    assert_eq!((lost.start.as_str(), lost.end.as_str(), lost.invocations), ("3", "3", 2));
}

#[tokio::test(start_paused = true)]
async fn what_is_discarded_is_told_by_its_position_and_not_its_payload() {
    let (mut poller, clock) = poller(Mapping::default().batch_size(3).retries(1));
    poller.offer(records(5, &clock));
    let function = Function::default().fails_with("5");
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    let lost = &poller.lost()[0];
    assert_eq!(lost.condition, Condition::RetryAttemptsExhausted);
    let message = json!({
        "version": "1.0",
        "requestContext": { "condition": "RetryAttemptsExhausted", "approximateInvokeCount": 2 },
        "DDBStreamBatchInfo": {
            "shardId": "shardId-00000000000000000000",
            "startSequenceNumber": "4",
            "endSequenceNumber": "5",
            "batchSize": 2,
        },
    });
    assert_eq!(lost.json(), message);
}

#[tokio::test(start_paused = true)]
async fn bisect_isolates_the_bad_record_in_order_and_costs_no_retries() {
    let (mut poller, clock) = poller(Mapping::default().bisect().retries(0));
    poller.offer(records(5, &clock));
    let function = Function::default().fails_with("4");
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!(function.calls(), ["1 2 3 4 5", "1 2 3", "4 5", "4", "5"]);
    let lost = &poller.lost()[0];
    assert_eq!((poller.lost().len(), lost.start.as_str(), lost.batch_size), (1, "4", 1));
}

#[tokio::test(start_paused = true)]
async fn with_bisect_a_report_cuts_at_its_record_and_not_in_the_middle() {
    let mapping = Mapping::default().bisect().report_failures();
    let called = calls(mapping, 6, Function::default().reports(&["2"])).await;
    assert_eq!(called, ["1 2 3 4 5 6", "2 3 4 5 6"]);
}

#[tokio::test(start_paused = true)]
async fn records_that_are_too_old_are_discarded_and_not_sent() {
    let (mut poller, clock) = poller(Mapping::default().batch_size(2).max_age(Duration::from_secs(60)));
    poller.offer(records(3, &clock));
    let function = Function::default().fails(1);
    assert_eq!(
        poller.turn(&async |event| function.call(event).await).await,
        Turn { invocations: 1, failures: 1 }
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    poller.offer([record(4, "Order#a", "4", &clock)]);
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!(function.calls(), ["1 2", "4"]);
    let lost: Vec<_> = poller
        .lost()
        .iter()
        .map(|lost| (lost.condition, lost.start.as_str(), lost.end.as_str(), lost.invocations))
        .collect();
    let old = Condition::RecordAgeExceeded;
    assert_eq!(lost, [(old, "1", "2", 1), (old, "3", "3", 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_record_of_the_very_age_is_sent() {
    let (mut poller, clock) = poller(Mapping::default().max_age(Duration::from_secs(60)));
    poller.offer(records(1, &clock));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let function = Function::default();
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!((function.calls(), poller.lost().len()), (vec!["1".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn what_no_filter_matches_is_passed_over_and_takes_no_place_in_a_batch() {
    let filter =
        Filter::new(r#"{"eventName": ["INSERT"], "dynamodb": {"Keys": {"pk": {"S": ["Order#a"]}}}}"#);
    let (mut poller, clock) = poller(Mapping::default().batch_size(2).filter(filter.unwrap()));
    let names = ["INSERT", "MODIFY", "INSERT", "REMOVE", "INSERT"];
    let all = names.iter().zip(1..).map(|(name, number)| record_of(name, number, "Order#a", "x", &clock));
    poller.offer(all);
    poller.offer([record(6, "Order#b", "x", &clock)]);
    let function = Function::default();
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    assert_eq!(function.calls(), ["1 3", "5"]);
}

#[test]
fn a_pattern_that_is_not_known_is_refused() {
    for pattern in ["", "[]", r#"{"eventName": "INSERT"}"#, r#"{"eventName": [{"prefix": "I"}]}"#] {
        assert!(Filter::new(pattern).is_err(), "{pattern}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_shard_does_not_hold_the_others() {
    let (mut poller, clock) = poller(Mapping::default().shards(4));
    let keys: Vec<String> = (1..=20).map(|number| format!("Order#{}", number % 10)).collect();
    poller.offer(keys.iter().zip(1..).map(|(pk, number)| record(number, pk, &number.to_string(), &clock)));
    let function = Function::default().fails_with("1");
    assert_eq!(poller.settle(&async |event| function.call(event).await, 3).await.unwrap_err().turns, 3);
    let calls = function.calls();
    let (bad, good): (Vec<&String>, Vec<_>) =
        calls.iter().partition(|call| call.split(' ').any(|number| number == "1"));
    assert_eq!(bad.len(), 3, "{calls:?}");
    assert!(good.len() > 1, "several shards have records: {calls:?}");
    assert!(bad.iter().all(|call| *call == bad[0]));
    let done: usize = good.iter().map(|call| call.split(' ').count()).sum();
    assert_eq!(done + bad[0].split(' ').count(), 20, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn records_of_one_partition_key_are_in_one_shard_in_order() {
    let (mut poller, clock) = poller(Mapping::default().shards(4).batch_size(2));
    let keys: Vec<String> = (1..=40).map(|number| format!("Order#{}", number % 10)).collect();
    poller.offer(keys.iter().zip(1..).map(|(pk, number)| record(number, pk, &number.to_string(), &clock)));
    let function = Function::default();
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    let calls = function.calls();
    let order: Vec<usize> =
        calls.iter().flat_map(|call| call.split(' ')).map(|number| number.parse().unwrap()).collect();
    let mut last: HashMap<usize, usize> = HashMap::new();
    for number in order {
        assert!(last.insert(number % 10, number).is_none_or(|before| before < number), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_processed_in_parallel_keeps_the_order_of_each_item_and_of_nothing_more() {
    let (mut poller, clock) = poller(Mapping::default().parallelization(4).batch_size(2));
    // Forty changes of ten items of one aggregate.
    poller.offer((1..=40).map(|number| record(number, "Order#a", &(number % 10).to_string(), &clock)));
    let function = Function::default();
    let turn = poller.turn(&async |event| function.call(event).await).await;
    assert!((2..=4).contains(&turn.invocations), "several batches of one shard at once: {turn:?}");
    poller.settle(&async |event| function.call(event).await, TURNS).await.unwrap();
    let calls = function.calls();
    let order: Vec<usize> =
        calls.iter().flat_map(|call| call.split(' ')).map(|number| number.parse().unwrap()).collect();
    let mut last: HashMap<usize, usize> = HashMap::new();
    for number in &order {
        assert!(last.insert(number % 10, *number).is_none_or(|before| before < *number), "{calls:?}");
    }
    assert_eq!(order.len(), 40);
    assert!(!order.is_sorted(), "rows of one aggregate overtake each other: {calls:?}");
}
