use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, Update};
use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, Reads, Upsert};
use oncebox::event::{Event, Message};
use oncebox::quarantine::Quarantine;
use oncebox::testing::SqsBatch;
use oncebox::time::{Clock, Deadline, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::world::{World, count, each};

#[derive(Serialize, Deserialize)]
struct Paid {
    account: String,
}

impl Event for Paid {
    const TYPE: &'static str = "Paid";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> std::borrow::Cow<'_, str> {
        self.account.as_str().into()
    }
}

fn id(account: &str) -> AttributeValue {
    AttributeValue::S(account.to_owned())
}

async fn post(event: Message<Paid>, _reads: Reads) -> Result<Effects, HandlerError> {
    let update = Update::builder().table_name("accounts").key("id", id(&event.account));
    let update = update.update_expression("ADD balance :amount");
    Ok(Effects::new()
        .update(update.expression_attribute_values(":amount", AttributeValue::N("5".into())).build()?))
}

async fn project(event: Message<Paid>, _reads: Reads) -> Result<Upsert, HandlerError> {
    Ok(Upsert::if_newer("accounts", [("id".to_owned(), id(&event.account))].into(), 1)
        .set("status", AttributeValue::S("paid".into())))
}

/// Lines: effect, first or duplicate, batch, calls, write units.
pub(crate) async fn table() -> Vec<String> {
    let mut lines = Vec::new();
    for (what, packing, natural) in [
        ("inbox and an update", false, false),
        ("the same, packed", true, false),
        ("`Upsert::if_newer`", false, true),
    ] {
        for events in [1, 10, 100] {
            let world = World::new(false).await;
            let quarantine = Quarantine::new(Arc::clone(&world.store), "quarantine");
            let builder = Consumer::builder("billing", Arc::clone(&world.store))
                .quarantine(quarantine)
                .packing(packing);
            let consumer = if natural { builder.on(project) } else { builder.inbox("inbox").on(post) };
            let consumer = consumer.build().unwrap();
            let batch = (0..events).fold(SqsBatch::standard("billing"), |batch, n| {
                let body = json!({"specversion": "1.0", "id": uuid(n), "source": "/shop", "type": "Paid",
                    "subject": format!("a-{n}"), "sequence": 1, "data": {"account": format!("a-{n}")}});
                batch.record(&format!("m-{n}"), &body.to_string())
            });
            for delivery in ["first", "again"] {
                let deadline = Deadline::after(SystemClock.now(), Duration::from_secs(300));
                let answer = consumer.handle(&batch.to_json(), deadline).await.unwrap();
                assert!(answer.batch_item_failures.is_empty());
                let consumed = world.meter.take();
                assert!(!consumed.units.contains_key("quarantine"), "{consumed:?}");
                let units = consumed.units.values().sum::<f64>();
                // What a false condition consumes, the emulator does not say.
                let units = if delivery == "first" { each(units, events) } else { "–".to_owned() };
                let calls = each(count(consumed.calls.values().sum()), events);
                lines.push(format!("| {what} | {delivery} | {events} | {calls} | {units} |"));
            }
        }
    }
    lines
}

fn uuid(n: u32) -> String {
    format!("0190a3e4-7b1c-4def-8a00-{n:012}")
}
