//! A consumer whose events hold something that must never be logged.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::Put;
use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::{Emit, Event, Message};
use oncebox::outbox::Outbox;
use oncebox::quarantine::Quarantine;
use oncebox::store::Store;
use oncebox::testing::{CountedIds, MemoryStore, PausedClock, SqsBatch, item, text};
use oncebox::time::Clock;
use serde::{Deserialize, Serialize};

/// Stands in every payload.
pub(crate) const SECRET: &str = "4111-SECRET-1111";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charged {
    pub(crate) order: String,
    pub(crate) mode: String,
    pub(crate) card: String,
}

impl Event for Charged {
    const TYPE: &'static str = "Charged";
    const AGGREGATE_TYPE: &'static str = "Order";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.order)
    }
}

pub(crate) struct Desk {
    pub(crate) memory: MemoryStore,
    pub(crate) clock: PausedClock,
    pub(crate) consumer: Consumer<()>,
}

impl Desk {
    pub(crate) fn new(packing: bool) -> Self {
        let clock = PausedClock::start();
        let memory = MemoryStore::new().with_clock(Arc::new(clock));
        let memory = ["inbox", "outbox", "quarantine"]
            .into_iter()
            .fold(memory, |memory, table| memory.table(table, "pk", Some("sk")))
            .table("cards", "id", None);
        Self::over(memory.clone(), Arc::new(memory), clock, packing)
    }

    /// The same over another store.
    pub(crate) fn over(
        memory: MemoryStore,
        store: Arc<dyn Store>,
        clock: PausedClock,
        packing: bool,
    ) -> Self {
        let consumer = Consumer::builder("desk", Arc::clone(&store))
            .inbox("inbox")
            .outbox(Outbox::new(Arc::clone(&store), "outbox", "/desk"))
            .quarantine(Quarantine::new(store, "quarantine"))
            .with_time(Arc::new(clock), Arc::new(CountedIds::default()))
            .packing(packing)
            .on(charge)
            .build()
            .unwrap();
        Self { memory, clock, consumer }
    }

    /// Delivers `batch`, and answers the listed identifiers.
    pub(crate) async fn deliver(&self, batch: &SqsBatch) -> Vec<String> {
        let answer = self.consumer.handle(&batch.to_json(), self.clock.deadline_in(10_000)).await.unwrap();
        crate::bench::listed(&answer)
    }

    /// The body of event `id`, 250 ms old, with a trace if there is one.
    pub(crate) fn body(&self, id: &str, mode: &str, traceparent: Option<&str>) -> String {
        let time = self.clock.now() - Duration::from_millis(250);
        serde_json::json!({
            "specversion": "1.0", "id": id, "source": "/test", "type": "Charged", "subject": "o-1",
            "time": time.to_string(), "traceparent": traceparent, "correlationid": "cart-7",
            "data": { "order": "o-1", "mode": mode, "card": SECRET },
        })
        .to_string()
    }
}

async fn charge(event: Message<Charged>, _reads: Reads) -> Result<Effects, HandlerError> {
    tracing::info!("charging");
    let put = |id: &str| {
        let put = Put::builder().table_name("cards").set_item(Some(item([("id", text(id))])));
        put.condition_expression("attribute_not_exists(id)").build()
    };
    let effects = Effects::new().put(put(event.id())?);
    match event.mode.as_str() {
        "emit" => Ok(effects.emit(Emit::new(&Charged { mode: "ok".into(), ..(*event).clone() }))),
        "slow" => {
            tokio::time::sleep(Duration::from_millis(40)).await;
            Ok(effects)
        }
        "json" => Err(serde_json::from_str::<u64>(&serde_json::to_string(&event.card)?).unwrap_err().into()),
        "time" => Err(event.card.parse::<jiff::Timestamp>().unwrap_err().into()),
        "permanent" => Err(HandlerError::permanent("the card is blocked")),
        "transient" => Err(HandlerError::transient("the terminal is busy")),
        "panic" => panic!("cannot charge {}", event.card),
        "oversized" => Ok(effects.put(put(&event.card.repeat(30_000))?)),
        "twice" => Ok(effects.put(put(event.id())?)),
        _ => Ok(effects),
    }
}
