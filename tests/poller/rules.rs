//! Answers, retries, bisecting.

use oncebox_tests::poller::{Invocation, Mapping};
use serde_json::{Value, json};

use crate::bench::{Function, deliver, told};

fn reporting() -> Mapping {
    Mapping { report_failures: true, ..Mapping::default() }
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_sent_once_if_all_goes_well() {
    let function = Function::default();
    assert!(deliver(reporting(), &function, &["1", "2", "3"]).await.is_empty());
    assert_eq!(function.invoked(), ["1 2 3"]);
}

#[tokio::test(start_paused = true)]
async fn the_lowest_failed_number_is_the_checkpoint_and_everything_from_it_on_comes_again() {
    let function = Function::default().reports(&["4", "2"]);
    deliver(reporting(), &function, &["1", "2", "3", "4", "5"]).await;
    assert_eq!(function.invoked(), ["1 2 3 4 5", "2 3 4 5"]);
}

#[tokio::test(start_paused = true)]
async fn null_and_empty_answers_are_success() {
    for success in
        [json!(null), json!({}), json!({ "batchItemFailures": null }), json!({ "batchItemFailures": [] })]
    {
        let function = Function::default().answers(Invocation::Answered(success.clone()));
        deliver(reporting(), &function, &["1", "2"]).await;
        assert_eq!(function.invoked(), ["1 2"], "{success}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_identifier_that_names_no_record_fails_the_whole_batch() {
    let wrong = [
        json!({ "itemIdentifier": "" }),
        json!({ "itemIdentifier": null }),
        json!({ "id": "2" }),
        json!({ "itemIdentifier": "77" }),
        json!({ "itemIdentifier": 2 }),
    ];
    for wrong in wrong {
        // Beside one that is right, which does not help.
        let answer = json!({ "batchItemFailures": [{ "itemIdentifier": "2" }, wrong] });
        let function = Function::default().answers(Invocation::Answered(answer.clone()));
        deliver(reporting(), &function, &["1", "2"]).await;
        assert_eq!(function.invoked(), ["1 2", "1 2"], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_another_shape_fails_the_whole_batch() {
    for answer in [json!("ok"), json!([]), json!({ "batchItemFailures": "2" })] {
        let function = Function::default().answers(Invocation::Answered(answer.clone()));
        deliver(reporting(), &function, &["1", "2"]).await;
        assert_eq!(function.invoked(), ["1 2", "1 2"], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn reports_are_not_looked_at_unless_they_are_switched_on() {
    let function = Function::default().reports(&["1"]);
    deliver(Mapping::default(), &function, &["1", "2"]).await;
    assert_eq!(function.invoked(), ["1 2"]);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_function_brings_the_whole_batch_again() {
    let function = Function::default().errs().errs();
    deliver(reporting(), &function, &["1", "2", "3"]).await;
    assert_eq!(function.invoked(), ["1 2 3", "1 2 3", "1 2 3"]);
}

/// Fails whenever this record is in the batch.
fn poisoned_by(number: &'static str) -> Function {
    Function::default().always(move |numbers| {
        let poisoned = numbers.iter().any(|sent| sent == number);
        if poisoned { Invocation::FunctionError } else { Invocation::Answered(Value::Null) }
    })
}

#[tokio::test(start_paused = true)]
async fn bisecting_isolates_a_poisoned_record_and_costs_no_retry() {
    for report_failures in [false, true] {
        let mapping = Mapping { bisect: true, report_failures, max_retries: Some(1), ..Mapping::default() };
        let function = poisoned_by("3");
        let discarded = deliver(mapping, &function, &["1", "2", "3", "4"]).await;
        assert_eq!(function.invoked(), ["1 2 3 4", "1 2", "3 4", "3", "3", "4"]);
        assert_eq!(told(&discarded), ["3-3 (1) RetryAttemptsExhausted"]);
    }
}

#[tokio::test(start_paused = true)]
async fn without_bisecting_a_poisoned_record_takes_its_batch_with_it() {
    let mapping = Mapping { batch_size: 4, max_retries: Some(2), ..reporting() };
    let function = poisoned_by("3");
    let discarded = deliver(mapping, &function, &["1", "2", "3", "4", "5"]).await;
    assert_eq!(function.invoked(), ["1 2 3 4", "1 2 3 4", "1 2 3 4", "5"]);
    assert_eq!(told(&discarded), ["1-4 (4) RetryAttemptsExhausted"]);
}

#[tokio::test(start_paused = true)]
async fn with_both_the_batch_is_cut_at_the_number_and_that_costs_no_retry() {
    let mapping = Mapping { bisect: true, max_retries: Some(0), ..reporting() };
    let function = Function::default().reports(&["3"]).reports(&["4"]);
    let discarded = deliver(mapping, &function, &["1", "2", "3", "4", "5"]).await;
    assert_eq!(function.invoked(), ["1 2 3 4 5", "3 4 5", "4 5"]);
    assert!(discarded.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_bisecting_a_moved_checkpoint_is_a_retry() {
    let mapping = Mapping { max_retries: Some(1), ..reporting() };
    let function = Function::default().reports(&["3"]).reports(&["4"]);
    let discarded = deliver(mapping, &function, &["1", "2", "3", "4", "5"]).await;
    assert_eq!(function.invoked(), ["1 2 3 4 5", "3 4 5"]);
    assert_eq!(told(&discarded), ["4-5 (2) RetryAttemptsExhausted"]);
}

#[tokio::test(start_paused = true)]
async fn no_retries_means_one_attempt() {
    let mapping = Mapping { max_retries: Some(0), ..reporting() };
    let function = Function::default().errs();
    let discarded = deliver(mapping, &function, &["1", "2"]).await;
    assert_eq!(function.invoked(), ["1 2"]);
    assert_eq!(told(&discarded), ["1-2 (2) RetryAttemptsExhausted"]);
}
