//! What the engine makes of DynamoDB's answers.

use oncebox::quarantine::Reason;
use oncebox::store::CancelCode;
use oncebox::testing::{Fault, Operation, SqsBatch};

use crate::bench::{Bench, body};

use CancelCode::{
    ConditionalCheckFailed as Ccf, None as Clean, ProvisionedThroughputExceeded, ThrottlingError,
    TransactionConflict, ValidationError,
};

fn one(mode: &str) -> SqsBatch {
    SqsBatch::standard("q").record("1", &body(1, "a", mode))
}

fn transactions(bench: &Bench) -> usize {
    bench.store.calls().iter().filter(|call| call.operation == Operation::Transact).count()
}

#[tokio::test(start_paused = true)]
async fn c22_conflicts_and_throttles_are_tried_again_in_the_invocation() {
    for codes in [
        vec![TransactionConflict, Clean, Clean],
        vec![Clean, ProvisionedThroughputExceeded, Clean],
        vec![Clean, Ccf, TransactionConflict],
        vec![],
    ] {
        let bench = Bench::new();
        bench.store.on_transact(Fault::Cancelled(codes.clone()));
        assert!(bench.failures(&one("emit")).await.is_empty(), "{codes:?}");
        assert_eq!((bench.paid("a"), transactions(&bench)), ("1".into(), 2), "{codes:?}");
        assert_eq!(bench.called().len(), 1, "the handler is not run again for {codes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn c22_c23_what_outlasts_the_retries_is_listed_and_never_a_duplicate() {
    let bench = Bench::new();
    for _ in 0..10_000 {
        bench.store.on_transact(Fault::Cancelled(vec![Clean, ProvisionedThroughputExceeded]));
    }
    assert_eq!(bench.failures(&one("ok")).await, ["1"]);
    assert_eq!(bench.paid("a"), "0");
    assert!(transactions(&bench) > 3);
}

/// The handler's own meaning of a false condition ("no such account") must not be told of a throttle.
#[tokio::test(start_paused = true)]
async fn c23_a_throttled_business_put_is_neither_a_duplicate_nor_not_found() {
    let unclear = [
        vec![Clean, ProvisionedThroughputExceeded],
        vec![Clean, ThrottlingError],
        vec![ThrottlingError, Clean],
        vec![ProvisionedThroughputExceeded, Ccf],
    ];
    for codes in unclear {
        for packing in [false, true] {
            let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.packing(packing), store));
            bench.store.always_transact(Fault::Cancelled(codes.clone()));
            assert_eq!(bench.failures(&one("ok")).await, ["1"], "{codes:?}");
            assert!(bench.cases().is_empty() && bench.memory.items("inbox").is_empty(), "{codes:?}");

            let last = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), 3);
            assert!(bench.failures(&last).await.is_empty());
            let case = bench.cases().remove(0);
            assert_eq!(case.reason, Reason::Exhausted, "{codes:?}");
            assert!(!case.detail.contains("no such account"), "{}", case.detail);

            bench.store.always_transact(Fault::Pass);
            assert!(bench.failures(&one("ok")).await.is_empty());
            assert_eq!(bench.paid("a"), "1", "once it is not throttled");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c22_an_inbox_condition_is_a_duplicate_whatever_else_failed() {
    for codes in [vec![Ccf, Clean, Clean], vec![Ccf, TransactionConflict, Clean]] {
        let bench = Bench::new();
        bench.store.on_transact(Fault::Cancelled(codes));
        assert!(bench.failures(&one("emit")).await.is_empty());
        assert_eq!((bench.paid("a"), transactions(&bench)), ("0".into(), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn c22_an_effect_s_condition_means_what_the_effect_says() {
    for (mode, listed, runs) in [("ok", true, 1), ("stale", false, 1), ("rerun", true, 3)] {
        let bench = Bench::new();
        for _ in 0..3 {
            bench.store.on_transact(Fault::Cancelled(vec![Clean, Ccf]));
        }
        let failures = bench.failures(&one(mode)).await;
        assert_eq!((!failures.is_empty(), bench.called().len()), (listed, runs), "{mode}");
        assert_eq!(bench.paid("a"), "0", "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn c22_a_rerun_that_succeeds_is_applied_once() {
    let bench = Bench::new();
    bench.store.on_transact(Fault::Cancelled(vec![Clean, Ccf]));
    assert!(bench.failures(&one("rerun")).await.is_empty());
    assert_eq!((bench.paid("a"), bench.called().len()), ("1".into(), 2));
}

#[tokio::test(start_paused = true)]
async fn c22_a_reused_outbox_id_and_an_invalid_action_are_permanent() {
    for codes in [vec![Clean, Clean, Ccf], vec![Clean, ValidationError, Clean]] {
        let bench = Bench::new();
        bench.store.on_transact(Fault::Cancelled(codes));
        assert_eq!(bench.failures(&one("emit")).await, ["1"]);
        assert_eq!(transactions(&bench), 1, "not tried again");
    }
}

#[tokio::test(start_paused = true)]
async fn c26_in_progress_then_success_is_applied_once() {
    for fault in [Fault::InProgress, Fault::Unknown, Fault::LostAnswer] {
        let bench = Bench::new();
        bench.store.on_transact(fault);
        assert!(bench.failures(&one("ok")).await.is_empty());
        assert_eq!(bench.paid("a"), "1");
        let calls = bench.store.calls();
        let tokens: Vec<_> = calls.iter().filter_map(|call| call.token.clone()).collect();
        assert_eq!(tokens.len(), 2);
        assert_eq!(tokens[0], tokens[1], "the retry carries the same token");
        assert_eq!(calls[0].actions, calls[1].actions, "and the same actions");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_at_the_deadline_is_listed_and_a_duplicate_next_time() {
    let bench = Bench::new();
    for _ in 0..10_000 {
        bench.store.on_transact(Fault::LostAnswer);
    }
    assert_eq!(bench.failures(&one("ok")).await, ["1"]);
    assert_eq!(bench.paid("a"), "1");
    let calm = Bench { store: bench.store.clone(), ..bench };
    let again = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), 2);
    assert!(calm.failures(&again).await.is_empty());
    assert_eq!(calm.paid("a"), "1");
    assert_eq!(calm.called().len(), 1, "a redelivery looks first");
}

#[tokio::test(start_paused = true)]
async fn the_same_id_with_another_content_is_permanent() {
    let bench = Bench::new();
    assert!(bench.failures(&one("ok")).await.is_empty());
    let other = SqsBatch::standard("q").record("2", &body(1, "b", "ok"));
    assert_eq!(bench.failures(&other).await, ["2"]);
    let redelivered = SqsBatch::standard("q").received("2", &body(1, "b", "ok"), 2);
    assert_eq!(bench.failures(&redelivered).await, ["2"]);
    assert_eq!(bench.paid("b"), "0");
}
