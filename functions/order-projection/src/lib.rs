//! Keeps the status of each order: an absolute write guarded by the order's version. Naturally idempotent, so it needs
//! no inbox; events may come late, twice or out of order.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::{Reads, Upsert};
use oncebox::event::{Event, Message};
use oncebox::store::{Item, Store};
use order_events::{OrderPlaced, StockRejected, StockReserved};

/// The name in logs.
pub const CONSUMER: &str = "order-projection";

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What every consumer is told.
    pub consumer: consumer::Config,
    /// `ORDER_STATUS_TABLE`.
    pub order_status_table: String,
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let config = Self {
            consumer: consumer::Config::without_inbox(&mut reader),
            order_status_table: reader.text("ORDER_STATUS_TABLE"),
        };
        reader.finish(config)
    }
}

/// The consumer, ready to serve.
///
/// # Errors
/// When it could not work as configured.
pub fn consumer(
    config: Config,
    store: Arc<dyn Store>,
    visibility: Arc<dyn Visibility>,
) -> Result<Consumer<Arc<Config>>, consumer::BuildError> {
    Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .state(Arc::new(config))
        .on(placed)
        .on(reserved)
        .on(rejected)
        .build()
}

async fn placed(
    event: Message<OrderPlaced>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Upsert, HandlerError> {
    status(&event, &config, "PLACED")
}

async fn reserved(
    event: Message<StockReserved>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Upsert, HandlerError> {
    status(&event, &config, "RESERVED")
}

async fn rejected(
    event: Message<StockRejected>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Upsert, HandlerError> {
    status(&event, &config, "REJECTED")
}

fn status<E: Event>(event: &Message<E>, config: &Config, status: &str) -> Result<Upsert, HandlerError> {
    let version = event.sequence().ok_or_else(|| HandlerError::permanent("the event has no sequence"))?;
    let order = AttributeValue::S(event.aggregate_id().into_owned());
    let key = Item::from([("order_id".to_owned(), order)]);
    Ok(Upsert::if_newer(&config.order_status_table, key, version)
        .set("status", AttributeValue::S(status.to_owned()))
        .set("updated_at", AttributeValue::N(event.now().as_millisecond().to_string())))
}
