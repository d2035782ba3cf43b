//! The polling relay.

use std::sync::Arc;
use std::time::Duration;

use oncebox::quarantine::{self, Quarantine, Reason};
use oncebox::relay::{PublishError, Sweeper, Swept};
use oncebox::store::{Item, Store};
use oncebox::testing::{
    CountedIds, MemoryPublisher, MemoryStore, PausedClock, ScriptedStore, item, number, text,
};

const START: i64 = 1_800_000_000_000;

struct Bench {
    memory: MemoryStore,
    store: ScriptedStore,
    publisher: MemoryPublisher,
    clock: PausedClock,
    routes: &'static str,
}

impl Bench {
    fn new(routes: &'static str) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("outbox", "pk", Some("sk")).table(
            "quarantine",
            "pk",
            Some("sk"),
        );
        let store = ScriptedStore::new(Arc::new(memory.clone()));
        Self { memory, store, publisher: MemoryPublisher::default(), clock, routes }
    }

    fn standard() -> Self {
        Self::new(r#"{"Order": ["https://q"]}"#)
    }

    fn fifo() -> Self {
        Self::new(r#"{"Order": ["https://q.fifo"]}"#)
    }

    /// Another sweeper each time: it remembers nothing.
    fn sweeper(&self) -> Sweeper {
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
        Sweeper::new(
            store,
            Arc::new(self.publisher.clone()),
            "outbox",
            self.routes.parse().unwrap(),
            quarantine,
        )
        .with_time(Arc::new(self.clock), Arc::new(CountedIds::default()))
    }

    fn row(&self, id: &str, aggregate: &str, sequence: u64, age_seconds: i64) {
        self.memory.put_item("outbox", row(id, aggregate, sequence, START - age_seconds * 1000)).unwrap();
    }

    async fn sweep(&self) -> Swept {
        self.sweeper().sweep(self.clock.deadline_in(20_000)).await.unwrap()
    }

    fn accepted(&self) -> Vec<String> {
        self.publisher.accepted().into_iter().map(|(_, entry)| entry.event_id).collect()
    }

    fn left(&self) -> usize {
        self.memory.items("outbox").len()
    }
}

fn row(id: &str, aggregate: &str, sequence: u64, created_at: i64) -> Item {
    item([
        ("pk", text(format!("Order#{aggregate}"))),
        ("sk", text(id)),
        ("body", text(format!("body of {id}"))),
        ("route", text("Order")),
        ("event_type", text("Placed")),
        ("sequence", number(sequence)),
        ("created_at", number(created_at)),
    ])
}

#[tokio::test(start_paused = true)]
async fn c44_a_row_that_the_stream_never_brought_is_published() {
    let bench = Bench::standard();
    bench.row("e1", "A", 1, 600);
    bench.row("young", "B", 1, 10);
    let swept = bench.sweep().await;
    assert_eq!((swept.published, swept.young, swept.complete), (1, 1, true));
    assert_eq!((bench.accepted(), bench.left()), (vec!["e1".into()], 1));
}

#[tokio::test(start_paused = true)]
async fn with_no_grace_it_is_the_whole_relay_and_late_commits_are_found() {
    let bench = Bench::fifo();
    let sweep = || async {
        bench.sweeper().grace(Duration::ZERO).sweep(bench.clock.deadline_in(20_000)).await.unwrap()
    };
    bench.row("e5", "A", 5, 0);
    sweep().await;
    // Committed after e5 was published, with an older id and an older time: the watermark's trap.
    bench.row("e3", "B", 3, 100);
    bench.row("e4", "B", 4, 90);
    assert_eq!(sweep().await.published, 2);
    assert_eq!((bench.accepted(), bench.left()), (vec!["e5".into(), "e3".into(), "e4".into()], 0));
}

#[tokio::test(start_paused = true)]
async fn two_sweepers_at_once_publish_each_row_once() {
    let bench = Bench::standard();
    for n in 0..40 {
        bench.row(&format!("e{n:02}"), &format!("A{n}"), n, 600);
    }
    let (one, two) = tokio::join!(bench.sweep(), bench.sweep());
    assert_eq!(one.published + two.published, 40);
    assert_eq!((bench.accepted().len(), bench.left()), (40, 0));
}

#[tokio::test(start_paused = true)]
async fn an_aggregate_whose_head_another_holds_is_left_to_it() {
    let bench = Bench::fifo();
    bench.row("a1", "A", 1, 600);
    bench.row("a2", "A", 2, 600);
    bench.row("b1", "B", 1, 600);
    let mut held = row("a1", "A", 1, START - 600_000);
    held.insert("claimed_until".into(), number(START + 1_000));
    bench.memory.put_item("outbox", held).unwrap();
    let swept = bench.sweep().await;
    assert_eq!((bench.accepted(), swept.held), (vec!["b1".into()], 2));
    // The claim runs out.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(bench.sweep().await.published, 2);
    assert_eq!(bench.accepted(), ["b1", "a1", "a2"]);
}

#[tokio::test(start_paused = true)]
async fn a_young_head_holds_back_what_is_behind_it() {
    let bench = Bench::fifo();
    bench.row("late", "A", 1, 10);
    bench.row("early", "A", 2, 600);
    let swept = bench.sweep().await;
    assert_eq!((swept.published, swept.young, swept.held), (0, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_fails_is_counted_and_quarantined_at_the_limit() {
    let bench = Bench::fifo();
    bench.row("a1", "A", 1, 600);
    bench.row("a2", "A", 2, 600);
    bench.publisher.refuse("a1", PublishError::NotNow("throttled".into()), 10_000);
    for attempt in 1..=3_u32 {
        let swept = bench.sweeper().max_attempts(3).sweep(bench.clock.deadline_in(20_000)).await.unwrap();
        assert_eq!(swept.quarantined, usize::from(attempt == 3), "attempt {attempt}");
        tokio::time::sleep(Duration::from_secs(61)).await;
    }
    let case = quarantine::read(&bench.memory.items("quarantine")[0], &[]).unwrap();
    assert_eq!((case.reason, case.attempts, case.body.as_str()), (Reason::Exhausted, 3, "body of a1"));
    assert_eq!(case.destinations, ["https://q.fifo"]);
    assert!(case.detail.contains("throttled"), "{}", case.detail);
    bench.sweep().await;
    assert_eq!((bench.accepted(), bench.left()), (vec!["a2".into()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_claim_never_brings_a_deleted_row_back() {
    let bench = Bench::standard();
    bench.row("e1", "A", 1, 600);
    let memory = bench.memory.clone();
    bench.store.before_update(move || async move {
        memory
            .delete_batch("outbox", vec![item([("pk", text("Order#A")), ("sk", text("e1"))])])
            .await
            .unwrap();
    });
    assert_eq!(bench.sweep().await.held, 1);
    assert_eq!((bench.left(), bench.accepted().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_is_no_row_is_counted_and_left_alone() {
    let bench = Bench::standard();
    bench.memory.put_item("outbox", item([("pk", text("x")), ("sk", text("y"))])).unwrap();
    bench.row("e1", "A", 1, 600);
    let swept = bench.sweep().await;
    assert_eq!((swept.odd, swept.published, bench.left()), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn more_than_a_page_is_swept_and_an_aggregate_keeps_its_order_across_pages() {
    let bench = Bench::fifo();
    for n in 0..450 {
        bench.row(&format!("e{n:03}"), "A", n, 600);
    }
    let swept = bench.sweeper().sweep(bench.clock.deadline_in(600_000)).await.unwrap();
    assert_eq!((swept.published, swept.complete, bench.left()), (450, true, 0));
    assert!(bench.accepted().is_sorted());
}
