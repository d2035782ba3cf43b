//! Shared transactions: fewer calls, and every failure still one record's.

use oncebox::store::{CancelCode, CancelReason};
use oncebox::testing::{Call, Fault, Operation, SqsBatch, item, number, text};

use crate::bench::{Bench, body};

use CancelCode::{ConditionalCheckFailed as Ccf, None as Clean, TransactionConflict, ValidationError};

/// Ten accounts, so that ten events share no item.
fn packed() -> Bench {
    let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.packing(true), store));
    for account in 0..100 {
        let row = item([("id", text(format!("n{account}"))), ("paid", number(0))]);
        bench.memory.put_item("accounts", row).unwrap();
    }
    bench
}

/// Event `id` pays into account `n{id}`.
fn own(id: u32, mode: &str) -> String {
    body(id, &format!("n{id}"), mode)
}

fn batch(modes: &[&str]) -> SqsBatch {
    let numbered = (0_u32..).zip(modes);
    numbered
        .fold(SqsBatch::standard("q"), |batch, (id, mode)| batch.record(&format!("m{id}"), &own(id, mode)))
}

fn sizes(bench: &Bench) -> Vec<usize> {
    let transactions = |call: &&Call| call.operation == Operation::Transact;
    bench.store.calls().iter().filter(transactions).map(|call| call.items).collect()
}

fn paid(bench: &Bench) -> usize {
    (0..100).filter(|account| bench.paid(&format!("n{account}")) == "1").count()
}

#[tokio::test(start_paused = true)]
async fn calls_fall_by_an_order_of_magnitude() {
    let bench = packed();
    assert!(bench.failures(&batch(&["ok"; 100])).await.is_empty());
    assert_eq!((sizes(&bench), paid(&bench)), (vec![100, 100], 100));
}

#[tokio::test(start_paused = true)]
async fn records_that_share_an_item_are_in_packs_of_their_own() {
    let bench = packed();
    let mut batch = SqsBatch::standard("q");
    for id in 0..20 {
        batch = batch.record(&format!("m{id}"), &body(id, if id % 2 == 0 { "a" } else { "b" }, "ok"));
    }
    assert!(bench.failures(&batch).await.is_empty());
    assert_eq!((bench.paid("a"), bench.paid("b")), ("10".into(), "10".into()));
    assert!(sizes(&bench).iter().all(|size| *size <= 4), "{:?}", sizes(&bench));
}

#[tokio::test(start_paused = true)]
async fn a_pack_refused_as_a_whole_is_committed_singly() {
    for fault in [Fault::Refused, Fault::Unknown, Fault::InProgress, Fault::CancelledNoReasons] {
        let bench = packed();
        bench.store.on_transact(fault.clone());
        assert!(bench.failures(&batch(&["ok"; 10])).await.is_empty(), "{fault:?}");
        assert_eq!(paid(&bench), 10, "{fault:?}");
    }
    let bench = packed();
    bench.store.on_transact(Fault::Refused);
    bench.failures(&batch(&["ok"; 10])).await;
    assert_eq!(sizes(&bench), [20, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_pack_of_which_nothing_is_known_is_applied_once() {
    let bench = packed();
    // As long as the pack tries: its answers are lost, although it was applied at once.
    for _ in 0..200 {
        bench.store.on_transact(Fault::LostAnswer);
    }
    let deadline = bench.clock.deadline_in(3000);
    let answer = bench.consumer.handle(&batch(&["ok"; 10]).to_json(), deadline).await.unwrap();
    assert_eq!((crate::bench::listed(&answer).len(), paid(&bench)), (0, 10), "each found its key");
    assert_eq!(bench.memory.items("inbox").len(), 10);
}

/// Who stopped the pack is committed by itself, whoever had been applied is dropped, the others go together.
#[tokio::test(start_paused = true)]
async fn a_cancelled_pack_is_resolved_by_position() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let bench = packed();
        let mut codes = vec![CancelReason::new(Clean); 20];
        let (mut guilty, mut before) = (0, 0);
        for member in 0..10_u32 {
            let at = member as usize * 2;
            match random.u8(0..6) {
                0 => {
                    let alone = SqsBatch::standard("q").record("before", &own(member, "ok"));
                    assert!(bench.failures(&alone).await.is_empty());
                    let key = format!("01a3185c-5000-7000-8000-{member:012}");
                    let row = bench.memory.get_item("inbox", item([("pk", text(key)), ("sk", text("test"))]));
                    codes[at] = CancelReason { code: Ccf, item: row.unwrap() };
                    before += 1;
                }
                1 => {
                    codes[at + random.usize(0..2)] = CancelReason::new(TransactionConflict);
                    guilty += 1;
                }
                2 => {
                    codes[at + 1] = CancelReason::new(if random.bool() { Ccf } else { ValidationError });
                    guilty += 1;
                }
                _ => {}
            }
        }
        if guilty + before == 0 {
            continue;
        }
        let so_far = sizes(&bench).len();
        bench.store.on_transact(Fault::CancelledWith(codes));
        assert!(bench.failures(&batch(&["ok"; 10])).await.is_empty(), "seed {seed}");
        assert_eq!((paid(&bench), bench.memory.items("inbox").len()), (10, 10), "seed {seed}");
        let clean = 10 - guilty - before;
        let calls = 1 + guilty + usize::from(clean > 0);
        assert_eq!(sizes(&bench).len() - so_far, calls, "seed {seed}: {:?}", sizes(&bench));
    }
}

#[tokio::test(start_paused = true)]
async fn each_member_s_failure_is_its_own() {
    let bench = packed();
    let modes = ["ok", "transient", "emit", "permanent", "panic", "rerun", "ok", "stale", "slow", "hang"];
    let mut batch = batch(&modes).record("bad", "not json").record("again", &own(0, "ok"));
    batch = batch.record("nobody", &body(77, "nobody", "ok")).record("stale", &body(78, "nobody", "stale"));
    batch = batch.record("rerun", &body(79, "nobody", "rerun"));
    assert_eq!(bench.failures(&batch).await, ["m1", "m4", "m9", "rerun"]);
    assert_eq!(paid(&bench), 6);
    assert_eq!(bench.cases().len(), 3, "never, no JSON, no such account");
    assert_eq!(bench.memory.items("outbox").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_handler_runs_as_often_as_without_packing() {
    for packing in [false, true] {
        let bench = Bench::with(|consumer, _| consumer.packing(packing));
        let batch =
            SqsBatch::standard("q").record("1", &body(1, "nobody", "rerun")).record("2", &body(2, "a", "ok"));
        assert_eq!(bench.failures(&batch).await, ["1"]);
        assert_eq!(bench.called().len(), 3 + 1, "packing {packing}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_record_of_a_fifo_group_at_a_time() {
    let bench = packed();
    let mut batch = SqsBatch::fifo("q");
    for id in 0..12 {
        let mode = if id == 4 { "transient" } else { "ok" };
        batch = batch.grouped(&format!("m{id}"), ["A", "B", "C"][id as usize % 3], &own(id, mode));
    }
    assert_eq!(bench.failures(&batch).await, ["m4", "m7", "m10"]);
    assert_eq!(paid(&bench), 9);
    assert_eq!(sizes(&bench), [6, 4, 4, 4], "three groups, then two");
}

#[tokio::test(start_paused = true)]
async fn c20_ten_thousand_records_in_as_many_groups() {
    for packing in [false, true] {
        let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.packing(packing), store));
        let mut batch = SqsBatch::fifo("q");
        let mut expected = Vec::new();
        for id in 0..10_000_u32 {
            let mode = ["ok", "transient", "permanent", "stale"][id as usize % 4];
            batch = batch.grouped(&format!("m{id}"), &format!("g{id}"), &body(id, "a", mode));
            if mode == "transient" {
                expected.push(format!("m{id}"));
            }
        }
        let deadline = bench.clock.deadline_in(900_000);
        let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
        assert!(crate::bench::listed(&answer) == expected, "packing {packing}");
        assert_eq!((bench.paid("a"), bench.cases().len()), ("5000".into(), 2500), "packing {packing}");
    }
}
