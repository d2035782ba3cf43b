//! FIFO destinations, poison and what a warm relay remembers.

use std::sync::Arc;

use oncebox::quarantine::{self, Quarantine};
use oncebox::relay::{Outgoing, PublishError, Relay};
use oncebox::testing::{
    CountedIds, Fault, MemoryPublisher, MemoryStore, PausedClock, ScriptedStore, item, number, text,
};
use serde_json::{Value, json};

const TOPIC: &str = "arn:aws:sns:r:1:orders.fifo";

struct Bench {
    memory: MemoryStore,
    store: ScriptedStore,
    publisher: MemoryPublisher,
    relay: Relay,
    clock: PausedClock,
}

fn bench(routes: &str) -> Bench {
    let clock = PausedClock::start();
    let memory = MemoryStore::new().with_clock(Arc::new(clock)).table("outbox", "pk", Some("sk")).table(
        "quarantine",
        "pk",
        Some("sk"),
    );
    let store = ScriptedStore::new(Arc::new(memory.clone()));
    let publisher = MemoryPublisher::default();
    let shared: Arc<dyn oncebox::store::Store> = Arc::new(store.clone());
    let relay =
        Relay::new(Arc::clone(&shared), Arc::new(publisher.clone()), "outbox", routes.parse().unwrap())
            .quarantine(Quarantine::new(shared, "quarantine"))
            .with_time(Arc::new(clock), Arc::new(CountedIds::default()));
    Bench { memory, store, publisher, relay, clock }
}

fn fifo() -> Bench {
    bench(&format!(r#"{{"Order": ["{TOPIC}"]}}"#))
}

/// An event id, its aggregate, its sequence.
type Row<'a> = (&'a str, &'a str, u64);

impl Bench {
    fn record(&self, (id, aggregate, sequence): Row<'_>) -> Value {
        self.record_with(id, aggregate, sequence, &format!("body of {id}"))
    }

    fn record_with(&self, id: &str, aggregate: &str, sequence: u64, body: &str) -> Value {
        let pk = format!("Order#{aggregate}");
        let row = item([("pk", text(pk.clone())), ("sk", text(id)), ("schema", number(1))]);
        self.memory.put_item("outbox", row).unwrap();
        json!({"eventName": "INSERT", "awsRegion": "r", "dynamodb": {"SequenceNumber": format!("seq-{id}"), "NewImage": {
            "pk": {"S": pk}, "sk": {"S": id}, "body": {"S": body}, "route": {"S": "Order"},
            "event_type": {"S": "Placed"}, "sequence": {"N": sequence.to_string()},
            "created_at": {"N": "1800000000000"}}}})
    }

    async fn deliver(&self, records: &[Value]) -> Vec<String> {
        let event = json!({ "Records": records }).to_string();
        let answer = self.relay.handle(&event, self.clock.deadline_in(5_000)).await.unwrap();
        answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier.unwrap()).collect()
    }

    async fn relay(&self, rows: &[Row<'_>]) -> Vec<String> {
        let records: Vec<Value> = rows.iter().map(|row| self.record(*row)).collect();
        self.deliver(&records).await
    }

    fn accepted(&self) -> Vec<String> {
        self.publisher.accepted().into_iter().map(|(_, entry)| entry.event_id).collect()
    }

    fn left(&self) -> Vec<String> {
        self.memory.items("outbox").iter().map(|row| row["sk"].as_s().unwrap().clone()).collect()
    }

    fn of(&self, aggregate: &str) -> Vec<String> {
        let group = format!("Order#{aggregate}");
        let accepted = self.publisher.accepted().into_iter().map(|(_, entry)| entry);
        accepted.filter(|entry: &Outgoing| entry.group == group).map(|entry| entry.event_id).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn c42_rows_of_one_aggregate_go_by_sequence() {
    let bench = fifo();
    assert!(bench.relay(&[("a1", "A", 1), ("b5", "B", 5), ("a0", "A", 0), ("b4", "B", 4)]).await.is_empty());
    assert_eq!(
        (bench.of("A"), bench.of("B")),
        (vec!["a0".into(), "a1".into()], vec!["b4".into(), "b5".into()])
    );
}

#[tokio::test(start_paused = true)]
async fn waves_fill_batches_across_aggregates_and_hold_one_row_of_each() {
    let bench = fifo();
    let ids: Vec<(String, String, u64)> =
        (0..30_u64).map(|n| (format!("e{n}"), format!("A{}", n % 10), n)).collect();
    let rows: Vec<Row<'_>> = ids.iter().map(|(id, aggregate, n)| (&**id, &**aggregate, *n)).collect();
    assert!(bench.relay(&rows).await.is_empty());
    assert_eq!(bench.publisher.calls(), [10, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn c43_behind_a_failure_nothing_of_its_aggregate_goes_out_and_the_rest_does() {
    let bench = fifo();
    bench.publisher.refuse("a2", PublishError::NotNow("throttled".into()), 100);
    let rows = [("a1", "A", 1), ("a2", "A", 2), ("b1", "B", 1), ("a3", "A", 3), ("b2", "B", 2)];
    assert_eq!(bench.relay(&rows).await, ["seq-a2"]);
    assert_eq!((bench.of("A"), bench.of("B")), (vec!["a1".into()], vec!["b1".into(), "b2".into()]));
    assert_eq!(bench.left(), ["a2", "a3"]);

    let calm = Bench { publisher: MemoryPublisher::default(), ..bench };
    assert_eq!(calm.left(), ["a2", "a3"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_is_tried_again_in_the_invocation_and_keeps_the_order() {
    let bench = fifo();
    bench.publisher.refuse("a1", PublishError::NotNow("throttled".into()), 2);
    assert!(bench.relay(&[("a1", "A", 1), ("a2", "A", 2), ("b1", "B", 1)]).await.is_empty());
    assert_eq!(bench.of("A"), ["a1", "a2"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c35_a_row_that_is_too_large_is_quarantined_and_the_shard_moves() {
    for fifo_route in [false, true] {
        let topic = if fifo_route { TOPIC } else { "arn:aws:sns:r:1:orders" };
        let bench = bench(&format!(r#"{{"Order": ["{topic}"]}}"#));
        bench.publisher.refuse("e3", PublishError::Refused("InvalidParameter: too long".into()), 100);
        let large = "x".repeat(300 * 1024);
        let mut records: Vec<Value> = ["e1", "e2"].map(|id| bench.record((id, "A", 1))).to_vec();
        records.push(bench.record_with("e3", "A", 1, &large));
        records.extend(["e4", "e5"].map(|id| bench.record((id, "A", 1))));
        assert!(bench.deliver(&records).await.is_empty(), "the checkpoint advances");
        assert_eq!(bench.accepted(), ["e1", "e2", "e4", "e5"]);
        assert!(bench.left().is_empty());
        let cases = bench.memory.items("quarantine");
        assert_eq!(cases.len(), 1);
        let case = quarantine::read(&cases[0], &[]).unwrap();
        assert_eq!((case.body, case.destinations), (large, vec![topic.to_owned()]));
        assert!(case.detail.contains("307200 bytes") && case.detail.contains("too long"), "{}", case.detail);
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_moved_to_the_quarantine_stays_and_holds_its_aggregate() {
    let bench = fifo();
    bench.publisher.refuse("a1", PublishError::Refused("no".into()), 100);
    for _ in 0..10_000 {
        bench.store.on_transact(Fault::Throttled);
    }
    assert_eq!(bench.relay(&[("a1", "A", 1), ("a2", "A", 2), ("b1", "B", 1)]).await, ["seq-a1"]);
    assert_eq!(bench.accepted(), ["b1"]);
    assert_eq!(bench.left(), ["a1", "a2"]);
}

#[tokio::test(start_paused = true)]
async fn one_destination_refuses_and_the_other_has_it_only_the_first_is_owed() {
    let bench = bench(r#"{"Order": ["https://standard", "https://queue.fifo"]}"#);
    bench.publisher.refuse_at("a1", Some("https://queue.fifo"), PublishError::Refused("no".into()), 100);
    assert!(bench.relay(&[("a1", "A", 1), ("a2", "A", 2)]).await.is_empty());
    let case = quarantine::read(&bench.memory.items("quarantine")[0], &[]).unwrap();
    assert_eq!(case.destinations, ["https://queue.fifo"]);
    assert_eq!(bench.accepted(), ["a1", "a2", "a2"]);
}

/// A refusal may be over when the row comes again, as after a permission that was put right.
#[tokio::test(start_paused = true)]
async fn behind_a_row_that_is_refused_in_order_and_owed_elsewhere_nothing_of_its_aggregate_goes_out() {
    let bench = bench(&format!(r#"{{"Order": ["{TOPIC}", "https://q"]}}"#));
    bench.publisher.refuse_at("a1", Some(TOPIC), PublishError::Refused("denied".into()), 1);
    bench.publisher.refuse_at("a1", Some("https://q"), PublishError::NotNow("throttled".into()), 4);
    let in_order = || {
        let accepted = bench.publisher.accepted().into_iter();
        let here = accepted.filter(|(to, _)| to.name() == TOPIC);
        here.map(|(_, entry)| entry.event_id).collect::<Vec<_>>()
    };
    let records: Vec<_> =
        [("a1", "A", 1), ("a2", "A", 2), ("b1", "B", 1)].map(|row| bench.record(row)).into();
    assert_eq!(bench.deliver(&records).await, ["seq-a1"]);
    assert_eq!(in_order(), ["b1"]);
    assert!(bench.deliver(&records).await.is_empty());
    assert_eq!(in_order(), ["b1", "a1", "a2"]);
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_warm_relay_does_not_publish_again_what_has_been_accepted() {
    let bench = fifo();
    bench.publisher.refuse("a2", PublishError::NotNow("throttled".into()), 4);
    let records: Vec<Value> = [("a1", "A", 1), ("a2", "A", 2)].map(|row| bench.record(row)).to_vec();
    assert_eq!(bench.deliver(&records).await, ["seq-a2"]);
    // Lambda sends the failed record and all after it; here even the one before it comes once more.
    assert!(bench.deliver(&records).await.is_empty());
    assert_eq!(bench.accepted(), ["a1", "a2"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_record_whose_row_is_gone_is_not_published() {
    let bench = fifo();
    let mut late = bench.record(("a1", "A", 1));
    late["dynamodb"]["NewImage"]["created_at"] = json!({"N": "1799999600000"});
    bench.memory.put_item("outbox", item([("pk", text("Order#A")), ("sk", text("other"))])).unwrap();
    let present = late.clone();
    assert!(bench.deliver(&[present]).await.is_empty());
    assert_eq!(bench.accepted(), ["a1"], "a late record whose row is there is published");
    let cold = Bench { relay: fifo_over(&bench), ..bench };
    assert!(cold.deliver(&[late]).await.is_empty());
    assert_eq!(cold.accepted(), ["a1"], "and one whose row is gone is not");
}

/// Another instance of the relay over the same tables: it remembers nothing.
fn fifo_over(bench: &Bench) -> Relay {
    let routes = format!(r#"{{"Order": ["{TOPIC}"]}}"#);
    let store: Arc<dyn oncebox::store::Store> = Arc::new(bench.store.clone());
    Relay::new(store, Arc::new(bench.publisher.clone()), "outbox", routes.parse().unwrap())
        .with_time(Arc::new(bench.clock), Arc::new(CountedIds::default()))
}
