//! How long events are remembered, and what comes back later.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::{BuildError, Consumer};
use oncebox::inbox::{Days, Retention};
use oncebox::quarantine::Reason;
use oncebox::testing::SqsBatch;
use oncebox::time::Clock;

use crate::bench::{Bench, Paid, body};

const DAY: Duration = Duration::from_secs(86_400);

/// Event 1, which happened that long ago; in the future if `ahead`.
fn dated(bench: &Bench, span: Duration, ahead: bool) -> String {
    let now = bench.clock.now();
    let time = if ahead { now.checked_add(span) } else { now.checked_sub(span) };
    versioned(&time.unwrap().to_string(), 1)
}

fn versioned(time: &str, version: u32) -> String {
    format!(
        r#"{{"specversion":"1.0","id":"e-1","source":"/t","type":"Paid","time":"{time}","schemaversion":"{version}","data":{{"account":"a","mode":"ok"}}}}"#
    )
}

fn one(body: &str) -> SqsBatch {
    SqsBatch::standard("q").record("1", body)
}

fn expiry(bench: &Bench) -> Duration {
    let row = &bench.memory.items("inbox")[0];
    let at: i64 = row["expires_at"].as_n().unwrap().parse().unwrap();
    Duration::from_secs(u64::try_from(at - bench.clock.now().as_second()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn c17_an_inbox_row_past_its_ttl_still_counts() {
    let bench = Bench::new();
    assert!(bench.failures(&one(&body(1, "a", "ok"))).await.is_empty());
    assert_eq!(expiry(&bench), DAY * 90);
    tokio::time::advance(DAY * 91).await;
    for received in [1, 2] {
        let again = SqsBatch::standard("q").received("1", &body(1, "a", "ok"), received);
        assert!(bench.failures(&again).await.is_empty());
    }
    assert_eq!(bench.paid("a"), "1");
}

#[test]
fn c17_a_window_shorter_than_the_way_back_is_refused_at_start() {
    let day = Retention { inbox: Days::new(1), ..Retention::default() };
    let far = Days::new(3650);
    let all_far =
        Retention { inbox: far, queue: Days::new(14), dlq: far, sns: far, replay: far, quarantine: far };
    let none = Days::new(0);
    let nothing =
        Retention { inbox: none, queue: none, dlq: none, sns: none, replay: none, quarantine: none };
    for (retention, sum) in [(day, "61 days"), (all_far, "10978 days"), (nothing, "0 days")] {
        let store = Arc::new(oncebox::testing::MemoryStore::new());
        let built = Consumer::builder("c", store).inbox("inbox").retention(retention).on(nobody).build();
        let said = match built {
            Err(error @ BuildError::Window { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(said.contains(sum), "{said}");
    }
}

async fn nobody(
    _event: oncebox::event::Message<Paid>,
    _reads: oncebox::effect::Reads,
) -> Result<oncebox::effect::Effects, oncebox::consumer::HandlerError> {
    Ok(oncebox::effect::Effects::new())
}

#[tokio::test(start_paused = true)]
async fn an_event_older_than_the_window_is_quarantined_and_never_applied() {
    for (age, applied) in [(DAY * 89, true), (DAY * 90, false), (DAY * 900, false)] {
        let bench = Bench::with_quarantine();
        assert!(bench.failures(&one(&dated(&bench, age, false))).await.is_empty());
        assert_eq!(bench.paid("a"), if applied { "1" } else { "0" }, "{age:?}");
        if !applied {
            let case = &bench.cases()[0];
            assert_eq!(case.reason, Reason::TooOld);
            assert!(case.detail.contains("outside the retention window"), "{}", case.detail);
        }
    }
}

/// Its key may be forgotten between the look at the clock and the commit.
#[tokio::test(start_paused = true)]
async fn an_event_that_gets_too_old_within_the_invocation_is_too_old() {
    let bench = Bench::with_quarantine();
    let nearly = dated(&bench, DAY * 90 - Duration::from_secs(5), false);
    assert!(bench.failures(&one(&nearly)).await.is_empty());
    assert_eq!((bench.paid("a"), bench.cases()[0].reason), ("0".into(), Reason::TooOld));
}

#[tokio::test(start_paused = true)]
async fn an_old_event_whose_key_is_still_there_is_a_duplicate() {
    let bench = Bench::with_quarantine();
    let event = dated(&bench, Duration::ZERO, false);
    assert!(bench.failures(&one(&event)).await.is_empty());
    tokio::time::advance(DAY * 120).await;
    assert!(bench.failures(&one(&event)).await.is_empty());
    assert_eq!((bench.paid("a"), bench.cases().len()), ("1".into(), 0));
}

/// A producer's clock may be ahead: the key is kept until the event counts as too old.
#[tokio::test(start_paused = true)]
async fn an_event_from_the_future_is_remembered_for_that_much_longer() {
    let bench = Bench::with_quarantine();
    let event = dated(&bench, DAY * 30, true);
    assert!(bench.failures(&one(&event)).await.is_empty());
    assert_eq!(expiry(&bench), DAY * 120);
    tokio::time::advance(DAY * 119).await;
    assert!(bench.failures(&one(&event)).await.is_empty());
    assert_eq!(bench.paid("a"), "1");
}

/// Each time counted from what the event says; one that says nothing is not given any grace.
#[tokio::test(start_paused = true)]
async fn an_unknown_version_waits_for_a_rollout_and_then_is_malformed() {
    let hour = Duration::from_secs(3600);
    let soon = hour - Duration::from_secs(1);
    for (age, malformed) in [(Duration::ZERO, false), (soon, false), (hour, true), (DAY, true)] {
        let bench = Bench::with_quarantine();
        let event = dated(&bench, age, false).replace(r#""schemaversion":"1""#, r#""schemaversion":"7""#);
        let listed = bench.failures(&one(&event)).await;
        assert_eq!((listed.is_empty(), bench.cases().len()), (malformed, usize::from(malformed)), "{age:?}");
        if malformed {
            assert!(bench.cases()[0].detail.contains("version 7"), "{}", bench.cases()[0].detail);
        }
    }
    let bench = Bench::with_quarantine();
    let timeless = versioned("", 7);
    assert!(bench.failures(&one(&timeless)).await.is_empty());
    assert_eq!(bench.cases()[0].reason, Reason::Malformed);
}

#[tokio::test(start_paused = true)]
async fn the_grace_is_configurable() {
    let bench = Bench::with(|consumer, store| Bench::quarantine(consumer.version_grace(DAY), store));
    let event = dated(&bench, DAY / 2, false).replace(r#""schemaversion":"1""#, r#""schemaversion":"7""#);
    assert_eq!(bench.failures(&one(&event)).await, ["1"]);
}
