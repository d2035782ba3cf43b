//! Shards, and several batches of one shard at once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use oncebox::testing::PausedClock;
use oncebox::time::Clock;
use oncebox_tests::poller::{Invocation, Mapping, Poller, StreamRecord, simulate_shards};
use serde_json::{Value, json};

use crate::bench::{Function, deliver_all, record, told};

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_held_up_holds_up_no_other() {
    let clock = PausedClock::start();
    let mut records: Vec<_> = (1..=3).map(|number| record(&number.to_string(), "a", clock.now())).collect();
    let other = (4..=6).map(|number| StreamRecord {
        shard: "other".into(),
        ..record(&number.to_string(), "b", clock.now())
    });
    records.extend(other);
    let function = Function::default().always(|numbers| {
        if numbers.contains(&"1".to_owned()) {
            Invocation::FunctionError
        } else {
            Invocation::Answered(Value::Null)
        }
    });
    let mapping = Mapping { max_retries: Some(3), ..Mapping::default() };
    let discarded = deliver_all(mapping, &function, clock, records).await;
    assert_eq!(function.invoked(), ["4 5 6", "1 2 3", "1 2 3", "1 2 3", "1 2 3"]);
    assert_eq!(told(&discarded), ["1-3 (3) RetryAttemptsExhausted"]);
}

#[tokio::test(start_paused = true)]
async fn simulated_shards_keep_a_partition_key_together_and_use_every_shard() {
    let clock = PausedClock::start();
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let records: Vec<_> =
        (0..80).map(|number| record(&number.to_string(), keys[number % 8], clock.now())).collect();
    let spread = simulate_shards(records.clone(), "pk", 3);
    for (index, key) in keys.iter().enumerate() {
        let shards: HashSet<_> = spread.iter().skip(index).step_by(8).map(|record| &record.shard).collect();
        assert_eq!(shards.len(), 1, "{key}");
    }
    assert_eq!(spread.iter().map(|record| &record.shard).collect::<HashSet<_>>().len(), 3);
    let number = |records: &[StreamRecord]| {
        records.iter().map(|record| record.sequence_number.clone()).collect::<Vec<_>>()
    };
    assert_eq!(number(&spread), number(&records), "in order");
}

/// How many invocations were out at once at most, and the order in which the items' changes came.
async fn played(
    factor: usize,
    records: Vec<StreamRecord>,
    clock: PausedClock,
) -> (usize, Vec<(String, String)>) {
    let out = RefCell::new((0_usize, 0_usize));
    let seen = RefCell::new(Vec::new());
    let function = async |event: Value| {
        out.borrow_mut().0 += 1;
        let now = out.borrow().0;
        let most = out.borrow().1.max(now);
        out.borrow_mut().1 = most;
        tokio::time::sleep(Duration::from_secs(1)).await;
        for record in event["Records"].as_array().unwrap() {
            let change = &record["dynamodb"];
            seen.borrow_mut()
                .push((change["Keys"].to_string(), change["SequenceNumber"].as_str().unwrap().to_owned()));
        }
        out.borrow_mut().0 -= 1;
        Invocation::Answered(Value::Null)
    };
    let mapping = Mapping { parallelization_factor: factor, batch_size: 3, ..Mapping::default() };
    let mut poller = Poller::new(mapping, function, Arc::new(clock));
    poller.take(records);
    assert!(poller.run(Duration::from_secs(600)).await);
    drop(poller);
    (out.into_inner().1, seen.into_inner())
}

/// Changes of items: ten to each of six.
fn changes(clock: PausedClock) -> Vec<StreamRecord> {
    let change = |number: usize| {
        let mut record = record(&format!("{number:03}"), "a", clock.now());
        record.json["dynamodb"]["Keys"]["sk"] = json!({ "S": format!("item-{}", number % 6) });
        record
    };
    (0..60).map(change).collect()
}

#[tokio::test(start_paused = true)]
async fn parallelization_keeps_the_order_of_an_item_and_not_of_a_partition_key() {
    let clock = PausedClock::start();
    let (at_once, seen) = played(4, changes(clock), clock).await;
    assert!((2..=4).contains(&at_once), "{at_once} at once");
    for item in 0..6 {
        let key = json!({ "pk": { "S": "a" }, "sk": { "S": format!("item-{item}") } }).to_string();
        let numbers: Vec<_> =
            seen.iter().filter(|(seen, _)| *seen == key).map(|(_, number)| number).collect();
        assert_eq!(numbers.len(), 10);
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
    assert!(!seen.iter().map(|(_, number)| number).is_sorted(), "one partition key, several batches at once");
}

#[tokio::test(start_paused = true)]
async fn without_parallelization_a_shard_has_one_batch_out_and_keeps_its_order() {
    let clock = PausedClock::start();
    let (at_once, seen) = played(1, changes(clock), clock).await;
    assert_eq!(at_once, 1);
    assert!(seen.iter().map(|(_, number)| number).is_sorted());
}
