//! Published rows that are kept: marked, out of the sweeper's sight, replayed.

use std::sync::Arc;
use std::time::Duration;

use oncebox::inbox::Days;
use oncebox::outbox::{Row, names};
use oncebox::quarantine::Quarantine;
use oncebox::relay::{AfterPublish, PublishError, Relay, Replay, Replayed, Selection, Sweeper, Swept};
use oncebox::store::{Item, Store};
use oncebox::testing::{
    CountedIds, MemoryPublisher, MemoryStore, Operation, PausedClock, ScriptedStore, WriteFault, number, text,
};
use serde_json::json;

const START: i64 = 1_800_000_000_000;
const DAY: i64 = 86_400;
const WEEK: AfterPublish = AfterPublish::Keep { window: Days::new(7) };
const FIFO: &str = r#"{"Order": ["arn:aws:sns:r:1:orders", "arn:aws:sns:r:1:orders.fifo"]}"#;

pub(crate) struct Bench {
    pub(crate) memory: MemoryStore,
    pub(crate) store: ScriptedStore,
    pub(crate) publisher: MemoryPublisher,
    pub(crate) clock: PausedClock,
}

pub(crate) fn bench() -> Bench {
    let clock = PausedClock::start();
    let memory = MemoryStore::new()
        .with_clock(Arc::new(clock))
        .table("outbox", "pk", Some("sk"))
        .index("outbox", names::PENDING_INDEX, "pending", Some("sk"))
        .table("quarantine", "pk", Some("sk"))
        .index("quarantine", "by_owner", "owner", Some("last_failed_at"));
    let store = ScriptedStore::new(Arc::new(memory.clone()));
    Bench { memory, store, publisher: MemoryPublisher::default(), clock }
}

fn row(id: &str, aggregate: &str, age_seconds: i64) -> Row {
    Row {
        pk: format!("Order#{aggregate}"),
        sk: id.into(),
        body: format!("body of {id}"),
        route: "Order".into(),
        event_type: "Placed".into(),
        sequence: None,
        region: None,
        created_at: START - age_seconds * 1000,
    }
}

impl Bench {
    pub(crate) fn shared(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    pub(crate) fn quarantine(&self) -> Quarantine {
        Quarantine::new(self.shared(), "quarantine")
    }

    fn relay(&self, after: AfterPublish) -> Relay {
        let publisher = Arc::new(self.publisher.clone());
        Relay::new(self.shared(), publisher, "outbox", FIFO.parse().unwrap())
            .quarantine(self.quarantine())
            .after_publish(after)
            .with_time(Arc::new(self.clock), Arc::new(CountedIds::default()))
    }

    fn write(&self, row: &Row) {
        self.memory.put_item("outbox", row.item()).unwrap();
    }

    /// The stream brings the row to a relay that was just started.
    async fn relayed(&self, row: &Row) {
        let mut image = json!({});
        for (name, value) in row.item() {
            image[name] = match value.as_s() {
                Ok(text) => json!({ "S": text }),
                Err(_) => json!({ "N": value.as_n().unwrap() }),
            };
        }
        let event = json!({"Records": [{"eventName": "INSERT", "awsRegion": "r",
            "dynamodb": {"SequenceNumber": "1", "NewImage": image}}]});
        let answer = self.relay(WEEK).handle(&event.to_string(), self.clock.deadline_in(5_000)).await;
        assert!(answer.unwrap().batch_item_failures.is_empty());
    }

    async fn sweep(&self, after: AfterPublish) -> Swept {
        let publisher = Arc::new(self.publisher.clone());
        let quarantine = self.quarantine();
        Sweeper::new(self.shared(), publisher, "outbox", FIFO.parse().unwrap(), quarantine)
            .grace(Duration::ZERO)
            .after_publish(after)
            .with_time(Arc::new(self.clock), Arc::new(CountedIds::default()))
            .sweep(self.clock.deadline_in(20_000))
            .await
            .unwrap()
    }

    pub(crate) fn replay(&self) -> Replay {
        Replay::new(self.shared(), Arc::new(self.publisher.clone()), "outbox", FIFO.parse().unwrap())
            .with_time(Arc::new(self.clock), Arc::new(CountedIds::default()))
    }

    async fn replayed(&self, selection: &Selection) -> Replayed {
        self.replay().rows(selection, None, self.clock.deadline_in(60_000)).await.unwrap()
    }

    fn stored(&self, row: &Row) -> Option<Item> {
        self.memory.get_item("outbox", row.key()).unwrap()
    }

    pub(crate) fn accepted(&self) -> Vec<String> {
        self.publisher.accepted().into_iter().map(|(_, entry)| entry.event_id).collect()
    }

    fn pages(&self) -> usize {
        self.store.calls().iter().filter(|call| call.operation == Operation::Page).count()
    }
}

#[tokio::test(start_paused = true)]
async fn a_published_row_is_marked_and_expires_when_its_window_is_over() {
    let bench = bench();
    let row = row("e1", "A", 5);
    bench.write(&row);
    assert_eq!(bench.stored(&row).unwrap().get("expires_at"), None, "an unpublished row never expires");
    bench.relayed(&row).await;
    let stored = bench.stored(&row).unwrap();
    assert_eq!(stored["published_at"], number(START));
    assert_eq!(stored["expires_at"], number(START / 1000 + 7 * DAY));
    assert_eq!((stored.get("pending"), &stored["body"]), (None, &text("body of e1")));
    assert_eq!(bench.accepted(), ["e1", "e1"], "one for each destination");
}

#[tokio::test(start_paused = true)]
async fn a_mark_whose_answer_is_lost_or_that_is_throttled_is_made_again() {
    for fault in [WriteFault::LostAnswer, WriteFault::Throttled, WriteFault::Unknown] {
        let bench = bench();
        let row = row("e1", "A", 5);
        bench.write(&row);
        bench.store.on_update(fault);
        bench.relayed(&row).await;
        assert!(bench.stored(&row).unwrap().contains_key("published_at"));
        assert_eq!((bench.accepted().len(), bench.store.pending()), (2, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_never_succeeds_costs_a_second_publish_and_no_loss() {
    let bench = bench();
    let row = row("e1", "A", 60);
    bench.write(&row);
    for _ in 0..1_000 {
        bench.store.on_update(WriteFault::Throttled);
    }
    bench.relayed(&row).await;
    assert!(bench.stored(&row).unwrap().contains_key("pending"));
    while bench.store.pending() > 0 {
        bench.sweep(WEEK).await;
    }
    assert_eq!(bench.sweep(WEEK).await.published, 1);
    assert!(bench.stored(&row).unwrap().contains_key("published_at"));
    assert_eq!(bench.accepted(), ["e1"; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_mark_never_brings_a_deleted_row_back() {
    let bench = bench();
    let row = row("e1", "A", 5);
    bench.write(&row);
    let (memory, key) = (bench.memory.clone(), row.key());
    bench.store.before_update(move || async move {
        memory.delete_batch("outbox", vec![key]).await.unwrap();
    });
    bench.relayed(&row).await;
    assert_eq!((bench.stored(&row), bench.store.pending()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn a_late_record_of_a_kept_row_is_not_published_again() {
    let bench = bench();
    let row = row("e1", "A", 5);
    bench.write(&row);
    bench.relayed(&row).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    bench.relayed(&row).await;
    assert_eq!(bench.accepted().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_reads_nothing_of_what_was_published_however_much_is_kept() {
    let bench = bench();
    for n in 0..3_000 {
        let row = row(&format!("e{n}"), "A", 600);
        let mut item = row.item();
        item.remove("pending");
        item.insert("published_at".into(), number(START - 1));
        bench.memory.put_item("outbox", item).unwrap();
    }
    let swept = bench.sweep(WEEK).await;
    assert_eq!((swept.seen, swept.complete, bench.pages()), (0, true, 1));
    // A sweeper that was told the other mode reads all of it, but publishes and deletes nothing of it.
    let swept = bench.sweep(AfterPublish::Delete).await;
    assert_eq!((swept.seen, swept.published, swept.odd), (3_000, 0, 0));
    assert_eq!((bench.accepted().len(), bench.memory.items("outbox").len()), (0, 3_000));
}

#[tokio::test(start_paused = true)]
async fn alone_it_is_a_polling_relay_that_waits_out_the_lag_of_the_index() {
    let bench = bench();
    for (id, age) in [("e1", 60), ("e2", 11), ("e3", 9)] {
        bench.write(&row(id, id, age));
    }
    let swept = bench.sweep(WEEK).await;
    assert_eq!((swept.published, swept.young), (2, 1));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(bench.sweep(WEEK).await.published, 1);
    assert_eq!(bench.memory.items("outbox").iter().filter(|row| row.contains_key("published_at")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_index_that_still_shows_a_published_row_does_not_publish_it_again() {
    let bench = bench();
    let row = row("e1", "A", 600);
    // What the index shows a moment longer is a row whose claim then fails.
    bench.write(&row);
    let (memory, marked) = (bench.memory.clone(), row.clone());
    bench.store.before_update(move || async move {
        let mut item = marked.item();
        item.remove("pending");
        item.insert("published_at".into(), number(START));
        memory.put_item("outbox", item).unwrap();
    });
    let swept = bench.sweep(WEEK).await;
    assert_eq!((swept.held, swept.published, bench.accepted().len()), (1, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_another_relay_has_published_is_not_quarantined() {
    let bench = bench();
    let row = row("e1", "A", 5);
    bench.write(&row);
    bench.publisher.refuse("e1", PublishError::Refused("InvalidParameter".into()), 2);
    let (memory, marked) = (bench.memory.clone(), row.clone());
    bench.store.before_transact(move || async move {
        let mut item = marked.item();
        item.insert("published_at".into(), number(START));
        memory.put_item("outbox", item).unwrap();
    });
    bench.relayed(&row).await;
    assert!(bench.memory.items("quarantine").is_empty());
    assert!(bench.stored(&row).is_some());
}

#[tokio::test(start_paused = true)]
async fn c46_a_replay_beside_the_relay_adds_at_most_one_publish_with_the_same_id() {
    let bench = bench();
    let rows: Vec<Row> = (0..20).map(|n| row(&format!("e{n:02}"), "A", 5)).collect();
    for (at, row) in rows.iter().enumerate() {
        bench.write(row);
        if at % 2 == 0 {
            bench.relayed(row).await;
        }
    }
    let all = Selection::all();
    let live = async {
        for row in rows.iter().skip(1).step_by(2) {
            bench.relayed(row).await;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    };
    let ((), replayed) = tokio::join!(live, bench.replayed(&all));
    assert_eq!((replayed.published + replayed.owed, replayed.next), (20, None));
    for row in &rows {
        let copies = bench.accepted().iter().filter(|id| **id == row.sk).count();
        assert!(copies == 2 || copies == 4, "{}: {copies}, at two destinations", row.sk);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_within_the_deduplication_window_of_a_fifo_destination_is_really_delivered() {
    let bench = bench();
    let row = row("e1", "A", 5);
    bench.write(&row);
    bench.relayed(&row).await;
    assert_eq!(bench.replayed(&Selection::all()).await.published, 1);
    let sent = bench.publisher.accepted();
    let dedup: Vec<_> =
        sent.iter().map(|(_, entry)| (&*entry.event_id, &*entry.body, &*entry.dedup_id)).collect();
    assert!(dedup.iter().all(|(id, body, _)| (*id, *body) == ("e1", "body of e1")));
    assert_eq!((dedup[0].2, dedup[1].2), ("e1", "e1"));
    assert!(dedup[2].2.starts_with("e1~") && dedup[2].2 == dedup[3].2, "{dedup:?}");
    // Another replay is delivered too.
    let other =
        Replay::new(bench.shared(), Arc::new(bench.publisher.clone()), "outbox", FIFO.parse().unwrap());
    other.rows(&Selection::all(), None, bench.clock.deadline_in(60_000)).await.unwrap();
    assert_ne!(bench.publisher.accepted()[4].1.dedup_id, dedup[2].2);
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_what_was_asked_for() {
    let bench = bench();
    let mut other_type = row("e3", "B", 30);
    other_type.event_type = "Paid".into();
    for row in [row("e1", "A", 10), row("e2", "A", 20), other_type, row("e4", "AB", 40)] {
        bench.write(&row);
        bench.relayed(&row).await;
    }
    let at = |seconds: i64| jiff::Timestamp::from_millisecond(START - seconds * 1000).unwrap();
    let replays = [
        (Selection::all().aggregate("Order", "A"), vec!["e1", "e2"]),
        (Selection::all().aggregate("Order", "A").event("e2"), vec!["e2"]),
        (Selection::all().aggregate("Order", "A").event("e3"), vec![]),
        (Selection::all().event("e4"), vec!["e4"]),
        (Selection::all().event_type("Paid"), vec!["e3"]),
        (Selection::all().from(at(30)).until(at(10)), vec!["e2", "e3"]),
    ];
    for (selection, expected) in replays {
        let before = bench.accepted().len();
        let replayed = bench.replayed(&selection).await;
        let mut sent = bench.accepted().split_off(before);
        sent.sort();
        sent.dedup();
        assert_eq!(
            (sent, replayed.published),
            (expected.iter().map(|id| (*id).into()).collect(), expected.len()),
            "{selection:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_keeps_its_pace_stops_before_its_deadline_and_goes_on_where_it_stopped() {
    let bench = bench();
    for n in 0..50 {
        let mut item = row(&format!("e{n:02}"), "A", 600).item();
        item.remove("pending");
        item.insert("published_at".into(), number(START));
        bench.memory.put_item("outbox", item).unwrap();
    }
    let replay = bench.replay().per_second(10).only_to("arn:aws:sns:r:1:orders".parse().unwrap());
    let first = replay.rows(&Selection::all(), None, bench.clock.deadline_in(3_000)).await.unwrap();
    // 2.5 s of the 3 s, two rows every 200 ms.
    assert_eq!(first.published, 26);
    assert!(first.next.is_some());
    let rest = replay.rows(&Selection::all(), first.next, bench.clock.deadline_in(60_000)).await.unwrap();
    assert_eq!((rest.published, rest.next), (24, None));
    let accepted = bench.accepted();
    assert_eq!(accepted.len(), 50, "each once, at the one destination");
    assert!(accepted.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn what_a_destination_does_not_take_is_told_and_the_row_stays() {
    let bench = bench();
    let (good, bad) = (row("e1", "A", 5), row("e2", "B", 5));
    for row in [&good, &bad] {
        bench.write(row);
        bench.relayed(row).await;
    }
    bench.publisher.refuse_at("e2", Some("arn:aws:sns:r:1:orders"), PublishError::Refused("no".into()), 1);
    let replayed = bench.replayed(&Selection::all()).await;
    assert_eq!((replayed.published, replayed.failed.len()), (1, 1));
    assert_eq!(replayed.failed[0].0, "e2");
    assert!(replayed.failed[0].1.contains("no"), "{:?}", replayed.failed);
    assert!(bench.stored(&bad).is_some());
    assert!(bench.memory.items("quarantine").is_empty());
}
