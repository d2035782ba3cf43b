//! One record's failure, of whatever kind, is its own.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::{Event, Message};
use oncebox::store::CancelCode;
use oncebox::testing::{Fault, MemoryStore, Operation, PausedClock, SqsBatch};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use crate::bench::{Bench, body, envelope, listed};

#[derive(Serialize, Deserialize)]
struct Fragile {
    #[serde(deserialize_with = "positive")]
    amount: i64,
}

/// As it is written in haste.
fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let amount = i64::deserialize(deserializer)?;
    assert!(amount > 0, "an amount is positive");
    Ok(amount)
}

impl Event for Fragile {
    const TYPE: &'static str = "Fragile";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed("it")
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_the_data_is_read_costs_one_record() {
    async fn nothing(_event: Message<Fragile>, _reads: Reads) -> Result<Effects, HandlerError> {
        Ok(Effects::new())
    }
    for packing in [false, true] {
        let store = Arc::new(MemoryStore::new().table("inbox", "pk", Some("sk")));
        let consumer =
            Consumer::builder("c", Arc::clone(&store) as _).inbox("inbox").packing(packing).on(nothing);
        let clock = PausedClock::start();
        let consumer =
            consumer.with_time(Arc::new(clock), Arc::new(oncebox::time::RandomIds)).build().unwrap();
        let fragile =
            |id: &str, amount: i64| envelope(id, "Fragile", &json!({ "amount": amount }).to_string());
        let batch = SqsBatch::standard("q")
            .record("1", &fragile("1", 1))
            .record("2", &fragile("2", -1))
            .record("3", &fragile("3", 3));
        let answer = consumer.handle(&batch.to_json(), clock.deadline_in(10_000)).await.unwrap();
        assert_eq!((listed(&answer), store.items("inbox").len()), (vec!["2".to_owned()], 2), "{packing}");
    }
}

/// Reasons that are not one for each action: nothing can be told from their places.
#[tokio::test(start_paused = true)]
async fn reasons_that_do_not_fit_the_actions_are_no_verdict() {
    use CancelCode::{ConditionalCheckFailed as Ccf, None as Clean, ValidationError};
    let odd =
        [vec![Ccf], vec![Clean, Clean, Ccf], vec![Clean, Clean, ValidationError], vec![ValidationError]];
    for codes in odd {
        let bench = Bench::with_quarantine();
        bench.store.on_transact(Fault::Cancelled(codes.clone()));
        assert!(bench.failures(&SqsBatch::standard("q").record("1", &body(1, "a", "ok"))).await.is_empty());
        assert_eq!((bench.paid("a"), bench.cases().len()), ("1".into(), 0), "{codes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receive_count_in_an_odd_shape_is_taken_for_what_it_means() {
    let cases = [
        ("\"0\"", 1),
        ("\"3\"", 3),
        ("3", 3),
        ("\"4294967296\"", u32::MAX),
        ("-7", 1),
        ("\"\"", 1),
        ("\"x\"", 1),
    ];
    for (shape, attempts) in cases {
        let bench = Bench::with_quarantine();
        let record = format!(
            r#"{{"messageId":"1","body":{},"attributes":{{"ApproximateReceiveCount":{shape}}}}}"#,
            json!(body(1, "a", "permanent"))
        );
        let batch = SqsBatch::standard("q").raw(serde_json::from_str(&record).unwrap());
        assert!(bench.failures(&batch).await.is_empty());
        assert_eq!(bench.cases()[0].attempts, attempts, "{shape}");
        let looked = bench.store.calls().iter().filter(|call| call.operation == Operation::Get).count();
        assert_eq!(looked, 1 + usize::from(attempts > 1), "before the handler if above 1: {shape}");
    }
}

/// A handler that never ends takes its own place only.
#[tokio::test(start_paused = true)]
async fn a_handler_that_hangs_costs_one_record() {
    for packing in [false, true] {
        let bench =
            Bench::with(|consumer, store| Bench::quarantine(consumer.packing(packing).concurrency(2), store));
        let mut batch = SqsBatch::standard("q").record("0", &body(0, "a", "hang"));
        for number in 1..=50 {
            batch = batch.record(&number.to_string(), &body(number, "a", "ok"));
        }
        assert_eq!(bench.failures(&batch).await, ["0"], "packing {packing}");
        assert_eq!(bench.paid("a"), "50", "packing {packing}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_hangs_costs_one_record_and_no_deadline() {
    for packing in [false, true] {
        let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.packing(packing), store));
        bench.store.before_transact(|| tokio::time::sleep(Duration::from_secs(3600)));
        let batch = SqsBatch::standard("q")
            .record("1", &body(1, "a", "ok"))
            .record("2", &body(2, "b", "ok"))
            .record("3", &body(3, "c", "ok"));
        let deadline = bench.clock.deadline_in(10_000);
        let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
        // A pack of which nothing is known is committed singly in the other half of the time.
        let lost = if packing { vec![] } else { vec!["1"] };
        assert_eq!(listed(&answer), lost, "packing {packing}");
        assert!(!deadline.left(oncebox::time::Clock::now(&bench.clock)).is_zero());
    }
}
