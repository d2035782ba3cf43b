//! The real relay behind the mapping.

use std::sync::Arc;
use std::time::Duration;

use oncebox::outbox::Row;
use oncebox::quarantine::Quarantine;
use oncebox::relay::{PublishError, Relay, Sweeper};
use oncebox::store::Store;
use oncebox::testing::{CountedIds, MemoryPublisher, MemoryStore, PausedClock};
use oncebox::time::Clock;
use oncebox_tests::mapping::{Filter, Mapping, Poller, Record};

const ARN: &str = "arn:aws:dynamodb:eu-central-1:1:table/outbox/stream/1";
const ROUTES: &str = r#"{"Order": ["arn:aws:sns:r:1:orders", "arn:aws:sns:r:1:orders.fifo"]}"#;
const FIFO: &str = "arn:aws:sns:r:1:orders.fifo";

struct Bench {
    memory: MemoryStore,
    publisher: MemoryPublisher,
    clock: PausedClock,
    poller: Poller,
    relay: Relay,
}

impl Bench {
    fn new(mapping: Mapping) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("outbox", "pk", Some("sk")).table(
            "quarantine",
            "pk",
            Some("sk"),
        );
        let publisher = MemoryPublisher::default();
        let store: Arc<dyn Store> = Arc::new(memory.clone());
        let relay =
            Relay::new(Arc::clone(&store), Arc::new(publisher.clone()), "outbox", ROUTES.parse().unwrap())
                .quarantine(Quarantine::new(store, "quarantine"))
                .with_time(Arc::new(clock), Arc::new(CountedIds::default()));
        let inserts = Filter::new(r#"{"eventName": ["INSERT"]}"#).unwrap();
        let mapping = mapping.report_failures().bisect().filter(inserts);
        Self { memory, publisher, clock, poller: Poller::new(mapping, Arc::new(clock)), relay }
    }

    /// Writes rows, and gives their records to the mapping.
    fn write(&mut self, rows: &[(&str, &str, u64)]) {
        let known = self.memory.stream("outbox").len();
        for (id, aggregate, sequence) in rows {
            let row = Row {
                pk: format!("Order#{aggregate}"),
                sk: (*id).to_owned(),
                body: format!("body of {id}"),
                route: "Order".into(),
                event_type: "Placed".into(),
                sequence: Some(*sequence),
                region: None,
                created_at: self.clock.now().as_millisecond(),
            };
            self.memory.put_item("outbox", row.item()).unwrap();
        }
        let entries = self.memory.stream_after("outbox", known);
        self.poller.offer(entries.iter().map(|entry| Record::of_memory(entry, "pk", ARN).unwrap()));
    }

    /// Until the mapping has nothing to do.
    async fn settle(&mut self) -> usize {
        let (relay, clock) = (&self.relay, self.clock);
        let function = async |event: String| match relay.handle(&event, clock.deadline_in(10_000)).await {
            Ok(answer) => Ok(serde_json::to_string(&answer).unwrap()),
            Err(error) => Err(error.to_string()),
        };
        self.poller.settle(&function, 200).await.unwrap()
    }

    /// What the FIFO topic has accepted of an aggregate, in order.
    fn accepted(&self, aggregate: &str) -> Vec<String> {
        let group = format!("Order#{aggregate}");
        let at_fifo = self.publisher.accepted().into_iter().filter(|(to, _)| to.name() == FIFO);
        at_fifo.filter(|(_, entry)| entry.group == group).map(|(_, entry)| entry.event_id).collect()
    }

    fn left(&self) -> usize {
        self.memory.items("outbox").len()
    }
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_fails_for_a_while_delays_its_aggregate_and_loses_and_reorders_nothing() {
    let mut bench = Bench::new(Mapping::default().batch_size(4));
    // Ten invocations' worth of attempts.
    bench.publisher.refuse_at("a2", Some(FIFO), PublishError::NotNow("throttled".into()), 40);
    bench.write(&[
        ("a1", "A", 1),
        ("b1", "B", 1),
        ("a2", "A", 2),
        ("b2", "B", 2),
        ("a3", "A", 3),
        ("b3", "B", 3),
    ]);
    let invocations = bench.settle().await;
    assert_eq!(
        (bench.accepted("A"), bench.accepted("B")),
        (ids(["a1", "a2", "a3"]), ids(["b1", "b2", "b3"]))
    );
    assert_eq!((bench.left(), bench.poller.lost().len()), (0, 0));
    assert!(invocations > 10, "{invocations}");
}

#[tokio::test(start_paused = true)]
async fn what_the_mapping_gives_up_on_is_told_and_left_for_the_sweeper() {
    let mut bench = Bench::new(Mapping::default().batch_size(4).retries(3));
    bench.publisher.refuse_at("a1", Some(FIFO), PublishError::NotNow("throttled".into()), 1_000);
    bench.write(&[("a1", "A", 1), ("b1", "B", 1), ("a2", "A", 2)]);
    bench.settle().await;
    // The checkpoint never passed a1, so its whole batch is given up, though b1 is published.
    let lost = &bench.poller.lost()[0];
    assert_eq!((bench.poller.lost().len(), lost.batch_size, lost.invocations), (1, 3, 4));
    assert_eq!((bench.accepted("A"), bench.accepted("B"), bench.left()), (ids([]), ids(["b1"]), 2));

    bench.publisher = MemoryPublisher::default();
    tokio::time::sleep(Duration::from_secs(301)).await;
    let store: Arc<dyn Store> = Arc::new(bench.memory.clone());
    let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
    let publisher = Arc::new(bench.publisher.clone());
    let swept = Sweeper::new(store, publisher, "outbox", ROUTES.parse().unwrap(), quarantine)
        .with_time(Arc::new(bench.clock), Arc::new(CountedIds::default()))
        .sweep(bench.clock.deadline_in(20_000))
        .await
        .unwrap();
    assert_eq!((swept.published, bench.accepted("A"), bench.left()), (2, ids(["a1", "a2"]), 0));
}

#[tokio::test(start_paused = true)]
async fn an_aggregate_keeps_its_order_on_any_number_of_shards() {
    for shards in [1, 2, 5] {
        let mut bench = Bench::new(Mapping::default().batch_size(3).shards(shards));
        for id in ["c1", "e2", "h4"] {
            bench.publisher.refuse_at(id, Some(FIFO), PublishError::NotNow("throttled".into()), 9);
        }
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        for sequence in 1..=4 {
            for name in names {
                bench.write(&[(&format!("{name}{sequence}"), name, sequence)]);
            }
        }
        bench.settle().await;
        for name in names {
            let expected: Vec<String> = (1..=4).map(|sequence| format!("{name}{sequence}")).collect();
            assert_eq!(bench.accepted(name), expected, "{shards} shards");
        }
        assert_eq!(bench.left(), 0);
    }
}

fn ids<const N: usize>(ids: [&str; N]) -> Vec<String> {
    ids.map(str::to_owned).to_vec()
}
