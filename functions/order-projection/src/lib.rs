//! Keeps the status of each order, from a FIFO queue with all events of the order: each is applied once and in order, with
//! one write guarded by the sequence and no inbox row. One that comes before its predecessor waits for it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::{Reads, Upsert, UpsertNext};
use oncebox::event::{Envelope, Event, Message};
use oncebox::store::{Item, Store};
use order_events::{OrderPlaced, PaymentCaptured, PaymentDeclined, StockRejected, StockReserved};

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
    let table = config.order_status_table.clone();
    Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .state(Arc::new(config))
        .on(placed)
        .on(reserved)
        .on(rejected)
        .on(captured)
        .on(declined)
        .on_unhandled(move |envelope| counted(envelope, &table))
        .build()
}

async fn placed(
    event: Message<OrderPlaced>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<UpsertNext, HandlerError> {
    status(&event, &config, "PLACED")
}

async fn reserved(
    event: Message<StockReserved>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<UpsertNext, HandlerError> {
    status(&event, &config, "RESERVED")
}

async fn rejected(
    event: Message<StockRejected>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<UpsertNext, HandlerError> {
    status(&event, &config, "REJECTED")
}

async fn captured(
    event: Message<PaymentCaptured>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<UpsertNext, HandlerError> {
    status(&event, &config, "PAID")
}

async fn declined(
    event: Message<PaymentDeclined>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<UpsertNext, HandlerError> {
    status(&event, &config, "DECLINED")
}

fn status<E: Event>(event: &Message<E>, config: &Config, status: &str) -> Result<UpsertNext, HandlerError> {
    let sequence = event.sequence().ok_or_else(|| HandlerError::permanent("the event has no sequence"))?;
    Ok(next(&config.order_status_table, &event.aggregate_id(), sequence)
        .set("status", AttributeValue::S(status.to_owned()))
        .set("updated_at", AttributeValue::N(event.now().as_millisecond().to_string())))
}

/// An event of an order that changes no status here still counts: without it, the ones behind it would wait for ever.
fn counted(envelope: &Envelope, table: &str) -> Option<UpsertNext> {
    let of_an_order = envelope.aggregate_type == OrderPlaced::AGGREGATE_TYPE;
    envelope.sequence.filter(|_| of_an_order).map(|sequence| next(table, &envelope.aggregate_id, sequence))
}

fn next(table: &str, order_id: &str, sequence: u64) -> UpsertNext {
    let key = Item::from([("order_id".to_owned(), AttributeValue::S(order_id.to_owned()))]);
    Upsert::next(table, key, sequence)
}
