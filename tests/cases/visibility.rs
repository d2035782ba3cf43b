//! When what has to come again comes again (DESIGN: retry delay).

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use oncebox::consumer::Visibility;
use oncebox::testing::kit::MemoryVisibility;
use oncebox::testing::{Fault, SqsBatch};
use serde_json::json;

use crate::bench::{Bench, body, listed};

fn bench() -> (Bench, MemoryVisibility) {
    let visibility = MemoryVisibility::default();
    let given = visibility.clone();
    let bench = Bench::with(|consumer, store| {
        Bench::quarantine(consumer.retry_delay(Arc::new(given), "queue".to_owned()), store)
    });
    (bench, visibility)
}

async fn deliver(bench: &Bench, batch: &SqsBatch, millis: u64) -> Vec<String> {
    let deadline = bench.clock.deadline_in(millis);
    listed(&bench.consumer.handle(&batch.to_json(), deadline).await.unwrap())
}

fn seconds(visibility: &MemoryVisibility, message: &str) -> Vec<u32> {
    let receipt = format!("receipt-of-{message}");
    visibility.changes().iter().filter(|(known, _)| *known == receipt).map(|(_, seconds)| *seconds).collect()
}

#[tokio::test(start_paused = true)]
async fn only_what_is_listed_is_delayed() {
    let (bench, visibility) = bench();
    let batch = SqsBatch::standard("q")
        .record("ok", &body(1, "a", "ok"))
        .record("again", &body(1, "a", "ok"))
        .record("never", &body(2, "a", "permanent"))
        .record("later", &body(3, "a", "transient"))
        .record("bad", "not json");
    assert_eq!(deliver(&bench, &batch, 10_000).await, ["later"]);
    let changed: Vec<String> = visibility.changes().into_iter().map(|(receipt, _)| receipt).collect();
    assert_eq!(changed, ["receipt-of-later"]);
}

#[tokio::test(start_paused = true)]
async fn a_delay_outlasts_the_invocation_and_grows_with_the_receives() {
    let mut longest = 0;
    for (received, most) in [(1, 30), (6, 64), (2_000_000_000, 900)] {
        for seed in 0..40 {
            fastrand::seed(seed);
            let (bench, visibility) = bench();
            let batch = SqsBatch::standard("q").received("1", &body(1, "nobody", "transient"), received);
            let unlimited = Bench::with(|consumer, _| {
                consumer.retry_delay(Arc::new(visibility.clone()), "queue".to_owned())
            });
            drop(bench);
            deliver(&unlimited, &batch, 29_100).await;
            let delay = seconds(&visibility, "1")[0];
            assert!((30..=most).contains(&delay), "{delay} s on receive {received}");
            longest = longest.max(delay);
        }
    }
    assert!(longest > 600, "full jitter up to 15 min");
}

#[tokio::test(start_paused = true)]
async fn a_delay_never_passes_the_12_hours_of_sqs() {
    let (bench, visibility) = bench();
    let batch = SqsBatch::standard("q").record("1", &body(1, "a", "transient"));
    deliver(&bench, &batch, 20 * 3_600_000).await;
    assert!(seconds(&visibility, "1")[0] < 12 * 3600);
}

#[tokio::test(start_paused = true)]
async fn the_tail_of_a_group_waits_as_long_as_its_head() {
    for seed in 0..20 {
        fastrand::seed(seed);
        let (bench, visibility) = bench();
        let mut batch = SqsBatch::fifo("q");
        for (id, group, mode, received) in [
            ("A1", "A", "transient", 2),
            ("B1", "B", "ok", 1),
            ("A2", "A", "ok", 1),
            ("C1", "C", "transient", 2),
            ("A3", "A", "ok", 7),
        ] {
            let number = u32::from(id.as_bytes()[1]) + 10 * u32::from(id.as_bytes()[0]);
            batch = batch.received(id, &body(number, "a", mode), received).in_group(group);
        }
        assert_eq!(deliver(&bench, &batch, 300).await, ["A1", "A2", "C1", "A3"]);
        assert_eq!(seconds(&visibility, "A1"), seconds(&visibility, "A2"));
        assert_eq!(seconds(&visibility, "A1"), seconds(&visibility, "A3"));
        assert!(seconds(&visibility, "B1").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn records_of_a_standard_queue_wait_each_for_themselves() {
    fastrand::seed(3);
    let (bench, visibility) = bench();
    let mut batch = SqsBatch::standard("q");
    for number in 1..=9_u32 {
        batch = batch.received(&number.to_string(), &body(number, "a", "transient"), 2).in_group("A");
    }
    deliver(&bench, &batch, 300).await;
    let delays: std::collections::BTreeSet<u32> =
        (1..=9).map(|n: u32| seconds(&visibility, &n.to_string())[0]).collect();
    assert!(delays.len() > 1, "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_not_started_comes_again_as_soon_as_it_may() {
    let (bench, visibility) = bench();
    let batch = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), 2);
    assert_eq!(deliver(&bench, &batch, 150).await, ["1"]);
    assert_eq!(seconds(&visibility, "1"), [1]);
}

#[tokio::test(start_paused = true)]
async fn ten_messages_a_call_and_only_with_a_receipt_handle() {
    #[derive(Debug, Default)]
    struct Calls(std::sync::Mutex<Vec<usize>>);
    impl Visibility for Calls {
        fn change<'a>(
            &'a self,
            queue_url: &'a str,
            entries: &'a [(String, u32)],
        ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>> {
            assert_eq!(queue_url, "queue");
            self.0.lock().unwrap().push(entries.len());
            Box::pin(async { Ok(()) })
        }
    }
    let calls = Arc::new(Calls::default());
    let given: Arc<dyn Visibility> = Arc::clone(&calls) as _;
    let bench = Bench::with(|consumer, _| consumer.retry_delay(given, "queue".to_owned()));
    let mut batch = SqsBatch::standard("q");
    for number in 1..=23 {
        batch = batch.record(&format!("m{number}"), &body(number, "a", "transient"));
    }
    for (number, handle) in [json!(null), json!(""), json!(7)].into_iter().enumerate() {
        let id = format!("odd{number}");
        batch = batch.raw(json!({"messageId": id, "receiptHandle": handle, "body": "not json"}));
    }
    assert_eq!(deliver(&bench, &batch, 10_000).await.len(), 26);
    let mut sizes = calls.0.lock().unwrap().clone();
    sizes.sort_unstable();
    assert_eq!(sizes, [3, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn its_failure_is_harmless_whatever_it_is() {
    #[derive(Debug, Clone, Copy)]
    enum Broken {
        Fails,
        Panics,
        Hangs,
    }
    impl Visibility for Broken {
        fn change<'a>(
            &'a self,
            _queue_url: &'a str,
            _entries: &'a [(String, u32)],
        ) -> BoxFuture<'a, Result<(), Box<dyn StdError + Send + Sync>>> {
            Box::pin(async move {
                match self {
                    Self::Fails => Err("no".into()),
                    Self::Panics => panic!("told to"),
                    Self::Hangs => futures::future::pending().await,
                }
            })
        }
    }
    for broken in [Broken::Fails, Broken::Panics, Broken::Hangs] {
        let bench = Bench::with(|consumer, _| consumer.retry_delay(Arc::new(broken), "queue".to_owned()));
        let batch =
            SqsBatch::standard("q").record("1", &body(1, "a", "ok")).record("2", &body(2, "a", "transient"));
        let deadline = bench.clock.deadline_in(10_000);
        let answer = bench.consumer.handle(&batch.to_json(), deadline).await.unwrap();
        assert_eq!((listed(&answer), bench.paid("a")), (vec!["2".to_owned()], "1".into()), "{broken:?}");
        assert!(!deadline.left(oncebox::time::Clock::now(&bench.clock)).is_zero(), "{broken:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn off_unless_asked_for_and_off_by_one_option() {
    let visibility = MemoryVisibility::default();
    let config = |delay: &'static str| {
        let mut reader = oncebox::config::Reader::new(move |name| match name {
            "RETRY_DELAY" => Some(delay.to_owned()),
            "MAX_RECEIVE_COUNT" => Some("5".to_owned()),
            "INBOX_TABLE" => Some("inbox".to_owned()),
            "QUARANTINE_TABLE" => Some("quarantine".to_owned()),
            "QUEUE_URL" => Some("queue".to_owned()),
            _ => None,
        });
        let config = oncebox::consumer::Config::read(&mut reader);
        reader.finish(config).unwrap()
    };
    for (setting, calls) in [("off", 0), ("on", 1)] {
        let given = Arc::new(visibility.clone());
        let bench = Bench::with(|consumer, _| consumer.config(&config(setting), given));
        let batch = SqsBatch::standard("q").record("1", &body(1, "a", "transient"));
        deliver(&bench, &batch, 10_000).await;
        assert_eq!(visibility.changes().len(), calls, "{setting}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_could_not_be_quarantined_is_delayed_like_any_other() {
    let (bench, visibility) = bench();
    bench.store.on_transact(Fault::Refused);
    for _ in 0..1000 {
        bench.store.on_update(oncebox::testing::WriteFault::Throttled);
    }
    let batch = SqsBatch::standard("q").record("1", &body(1, "a", "ok"));
    assert_eq!(deliver(&bench, &batch, 10_000).await, ["1"]);
    assert!(Duration::from_secs(seconds(&visibility, "1")[0].into()) >= Duration::from_secs(6));
}
