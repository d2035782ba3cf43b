use std::sync::Arc;
use std::time::Duration;

use oncebox::event::{Emit, Event};
use oncebox::inbox::Days;
use oncebox::outbox::{Outbox, Transaction};
use oncebox::quarantine::Quarantine;
use oncebox::relay::{AfterPublish, Relay, Sweeper};
use oncebox::store::Item;
use oncebox::testing::MemoryPublisher;
use oncebox::time::{Clock, Deadline, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::world::{World, count, each};

const WEEK: AfterPublish = AfterPublish::Keep { window: Days::new(7) };
const TOPIC: &str = r#"{"Order": ["arn:aws:sns:r:1:orders"]}"#;
const BOTH: &str = r#"{"Order": ["arn:aws:sns:r:1:orders", "arn:aws:sns:r:1:orders.fifo"]}"#;

/// About 600 bytes of row.
#[derive(Serialize, Deserialize)]
struct Placed {
    order: String,
    note: String,
}

impl Event for Placed {
    const TYPE: &'static str = "OrderPlaced";
    const AGGREGATE_TYPE: &'static str = "Order";

    fn aggregate_id(&self) -> std::borrow::Cow<'_, str> {
        self.order.as_str().into()
    }
}

fn deadline() -> Deadline {
    Deadline::after(SystemClock.now(), Duration::from_secs(300))
}

/// Commits events, 50 in a transaction; answers the write units of the outbox rows.
async fn write(world: &World, events: u32, aggregates: u32) -> f64 {
    let outbox = Outbox::new(Arc::clone(&world.store), "outbox", "/shop");
    let numbers: Vec<u32> = (0..events).collect();
    for numbers in numbers.chunks(50) {
        let placed =
            numbers.iter().map(|n| Placed { order: format!("o-{}", n % aggregates), note: "x".repeat(100) });
        let transaction = placed.fold(Transaction::new(), |all, placed| all.emit(Emit::new(&placed)));
        outbox.commit(transaction).await.unwrap();
    }
    world.meter.take().units["outbox"]
}

async fn records(world: &World) -> String {
    let mut records = Vec::new();
    let mut start = None;
    loop {
        let page = world.store.scan("outbox", start).await.unwrap();
        records.extend(page.items.iter().map(|item| {
            json!({"eventName": "INSERT", "awsRegion": "r",
                "dynamodb": {"SequenceNumber": item["sk"].as_s().unwrap(), "NewImage": image(item)}})
        }));
        start = page.next;
        if start.is_none() {
            let _ = world.meter.take();
            return json!({ "Records": records }).to_string();
        }
    }
}

fn image(item: &Item) -> serde_json::Value {
    item.iter()
        .map(|(name, value)| {
            let value = match value.as_s() {
                Ok(text) => json!({ "S": text }),
                Err(_) => json!({ "N": value.as_n().unwrap() }),
            };
            (name.clone(), value)
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Lines: batch, route, mode, calls to publish, calls to DynamoDB, write units at the commit, write units after it.
pub(crate) async fn table() -> Vec<String> {
    let mut lines = Vec::new();
    for (what, routes, one_aggregate) in [
        ("topic", TOPIC, false),
        ("topic and FIFO topic", BOTH, false),
        ("the same, one aggregate", BOTH, true),
    ] {
        for (mode, after) in [("Delete", AfterPublish::Delete), ("Keep", WEEK)] {
            for events in [1, 10, 100] {
                if one_aggregate && events == 1 {
                    continue;
                }
                let world = World::new(after == WEEK).await;
                let written = write(&world, events, if one_aggregate { 1 } else { events }).await;
                let publisher = MemoryPublisher::default();
                let relay = Relay::new(
                    Arc::clone(&world.store),
                    Arc::new(publisher.clone()),
                    "outbox",
                    routes.parse().unwrap(),
                )
                .after_publish(after);
                let batch = records(&world).await;
                let answer = relay.handle(&batch, deadline()).await.unwrap();
                assert!(answer.batch_item_failures.is_empty());
                let consumed = world.meter.take();
                let calls = consumed.calls.values().sum::<usize>();
                lines.push(format!(
                    "| {what} | {mode} | {events} | {} | {} | {} | {} |",
                    each(count(publisher.calls().len()), events),
                    each(count(calls), events),
                    each(written, events),
                    each(consumed.units["outbox"], events),
                ));
            }
        }
    }
    lines
}

/// Lines: mode, published rows kept, rows owed, read calls, read units.
pub(crate) async fn sweeps() -> Vec<String> {
    let mut lines = Vec::new();
    for (mode, after, published) in
        [("Delete", AfterPublish::Delete, 500), ("Keep", WEEK, 0), ("Keep", WEEK, 500)]
    {
        let world = World::new(after == WEEK).await;
        let publisher = MemoryPublisher::default();
        let sweeper = || {
            let quarantine = Quarantine::new(Arc::clone(&world.store), "quarantine");
            Sweeper::new(
                Arc::clone(&world.store),
                Arc::new(publisher.clone()),
                "outbox",
                TOPIC.parse().unwrap(),
                quarantine,
            )
            .after_publish(after)
            .grace(Duration::ZERO)
        };
        if published > 0 {
            write(&world, published, published).await;
            let batch = records(&world).await;
            let relay = Relay::new(
                Arc::clone(&world.store),
                Arc::new(publisher.clone()),
                "outbox",
                TOPIC.parse().unwrap(),
            );
            relay.after_publish(after).handle(&batch, deadline()).await.unwrap();
        }
        let _ = world.meter.take();
        let swept = sweeper().sweep(deadline()).await.unwrap();
        assert_eq!((swept.seen, swept.complete), (0, true));
        let consumed = world.meter.take();
        lines.push(format!(
            "| {mode} | {published} | {} | {} |",
            consumed.calls.values().sum::<usize>(),
            each(consumed.units.get("outbox").copied().unwrap_or_default(), 1),
        ));
    }
    lines
}
