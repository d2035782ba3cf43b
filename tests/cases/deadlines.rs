//! No record is started that cannot finish, and the answer is always in time.

use std::sync::Arc;
use std::time::Duration;

use oncebox::testing::{CountedIds, Fault, SqsBatch, TestClock};
use oncebox::time::{Clock, Deadline};

use crate::bench::{Bench, body, listed};

fn serial(packing: bool) -> Bench {
    Bench::with(|consumer, store| Bench::quarantine(consumer.concurrency(1).packing(packing), store))
}

/// 200 ms are for the answer, so that one record of 100 ms fits and a second one does not.
#[tokio::test(start_paused = true)]
async fn c14_records_that_do_not_fit_are_not_started() {
    for packing in [false, true] {
        for fifo in [false, true] {
            let bench = serial(packing);
            let mut batch = if fifo { SqsBatch::fifo("q") } else { SqsBatch::standard("q") };
            for id in 1..=5 {
                batch = batch.grouped(&id.to_string(), "A", &body(id, "a", "slow"));
            }
            let deadline = bench.clock.deadline_in(350);
            let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
            let case = format!("packing {packing}, fifo {fifo}");
            assert!(deadline.left(bench.clock.now()) > Duration::ZERO, "{case}");
            let failures = listed(&answer);
            let started = bench.called().len();
            assert_eq!(
                failures.len(),
                5 - usize::from(bench.paid("a") == "1"),
                "{case}: nothing half applied"
            );
            if fifo || !packing {
                assert_eq!(
                    (started, failures.as_slice()),
                    (1, &["2", "3", "4", "5"].map(String::from)[..]),
                    "{case}"
                );
            }
            assert!(bench.paid("a") == "1", "{case}: what could finish did");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_type_does_not_stop_a_fast_one() {
    let bench = serial(false);
    let batch = SqsBatch::standard("q")
        .record("1", &body(1, "a", "slow"))
        .record("2", &crate::bench::envelope("x", "SomethingElse", "{}"))
        .record("3", &body(3, "a", "slow"))
        .record("4", "not json");
    let answer = bench.consumer.handle(&batch.to_json(), bench.clock.deadline_in(350)).await.unwrap();
    assert_eq!(listed(&answer), ["3"]);
    assert_eq!(bench.cases().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_commit_in_flight_at_the_deadline_is_looked_up_by_the_next_delivery() {
    for packing in [false, true] {
        let bench = serial(packing);
        // The store takes the transaction, and its answer comes after the deadline.
        let memory = bench.memory.clone();
        let batch = |received| SqsBatch::standard("q").received("1", &body(1, "a", "ok"), received);
        bench.store.on_transact(Fault::Unknown).before_transact(move || async move {
            let late = oncebox::testing::item([
                ("id", oncebox::testing::text("z")),
                ("paid", oncebox::testing::number(0)),
            ]);
            memory.put_item("accounts", late).unwrap();
            tokio::time::sleep(Duration::from_secs(3600)).await;
        });
        bench.store.on_transact(Fault::LostAnswer);
        for _ in 0..2 {
            let deadline = bench.clock.deadline_in(1000);
            let first = bench.consumer.handle(&batch(1).to_json(), deadline).await.unwrap();
            assert!(listed(&first).len() <= 1);
            assert!(!deadline.left(bench.clock.now()).is_zero());
        }
        assert!(bench.failures(&batch(2)).await.is_empty());
        assert_eq!(bench.paid("a"), "1");
    }
}

/// The wait between two attempts is measured on the clock, the deadline of the invocation on the machine's timer.
#[tokio::test(start_paused = true)]
async fn a_clock_that_goes_backwards_harms_nothing() {
    let clock = TestClock::default();
    let (given, behind) = (Arc::new(clock.clone()), clock.clone());
    let bench = Bench::with(|consumer, _| consumer.with_time(given, Arc::new(CountedIds::default())));
    bench.store.on_transact(Fault::Throttled).before_transact(move || async move {
        behind.set_ms(clock.now().as_millisecond() - 3_600_000);
    });
    bench.store.always_transact(Fault::Throttled);
    let deadline = Deadline::after(TestClock::default().now(), Duration::from_secs(10));
    let started = tokio::time::Instant::now();
    let batch =
        SqsBatch::standard("q").record("1", &body(1, "a", "ok")).record("2", &body(2, "a", "transient"));
    let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
    assert_eq!(listed(&answer), ["1", "2"]);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_deadline_is_the_one_that_was_configured() {
    let bench = Bench::with(|consumer, _store| consumer.unstated_deadline(Duration::from_secs(900)));
    let now = bench.clock.now();
    let left = |millis: u64| bench.consumer.deadline(millis).left(now);
    assert_eq!(left(0), Duration::from_secs(900), "1970");
    assert_eq!(left(u64::try_from(now.as_millisecond()).unwrap() + 5_000), Duration::from_secs(5));
    assert_eq!(Bench::new().consumer.deadline(1).left(now), Duration::from_secs(30), "the default");
}
