//! Reserves stock for an order, releases it if the order is not paid, and says whether it could reserve: a consumer that is a producer too. The inbox key, the
//! reservation and the event it leads to are one transaction.

mod domain;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Update};
use domain::Decision;
use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::{Effects, OnFailed, Reads};
use oncebox::event::{Emit, Message};
use oncebox::outbox::{Outbox, Routes};
use oncebox::store::{Item, Store};
use order_events::{OrderLine, OrderPlaced, PaymentDeclined, StockRejected, StockReserved};

/// The name in the inbox key.
pub const CONSUMER: &str = "inventory";

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What every consumer is told.
    pub consumer: consumer::Config,
    /// `OUTBOX_TABLE`.
    pub outbox_table: String,
    /// `STOCK_TABLE`.
    pub stock_table: String,
    /// `ROUTES`, the relay's: what it could not publish is refused when it is written.
    pub routes: Routes,
    /// `EVENT_SOURCE`: CloudEvents `source` of the emitted events.
    pub event_source: String,
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let config = Self {
            consumer: consumer::Config::read(&mut reader),
            outbox_table: reader.text("OUTBOX_TABLE"),
            stock_table: reader.text("STOCK_TABLE"),
            routes: reader.required("ROUTES").unwrap_or_default(),
            event_source: reader.text("EVENT_SOURCE"),
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
    let outbox = Outbox::new(Arc::clone(&store), config.outbox_table.as_str(), config.event_source.as_str())
        .routes(config.routes.clone());
    Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .outbox(outbox)
        .state(Arc::new(config))
        .on(reserve)
        .on(release)
        .build()
}

#[derive(serde::Deserialize)]
struct Stock {
    available: u64,
}

async fn reserve(
    event: Message<OrderPlaced>,
    reads: Reads,
    config: Arc<Config>,
) -> Result<Effects, HandlerError> {
    let line = event.line.clone();
    let stock: Option<Stock> = reads.get_as(&config.stock_table, key(&line.sku)).await?;
    let sequence = event.next_sequence();
    match domain::decide(stock.map(|stock| stock.available), line.quantity) {
        Decision::Reserve => {
            let take = take(&config.stock_table, &line)?;
            // A condition that fails means that others were faster: the default is to read and decide again.
            Ok(Effects::new().update(take).emit(Emit::new(&StockReserved { line }).sequence(sequence)))
        }
        Decision::Reject(reason) => {
            Ok(Effects::new().emit(Emit::new(&StockRejected { line, reason }).sequence(sequence)))
        }
    }
}

/// What was set aside for an order that is not paid.
async fn release(
    event: Message<PaymentDeclined>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Effects, HandlerError> {
    let put_back = Update::builder()
        .table_name(&config.stock_table)
        .set_key(Some(key(&event.line.sku)))
        .update_expression("ADD available :quantity, entries :one")
        .condition_expression("attribute_exists(sku)")
        .expression_attribute_values(":quantity", AttributeValue::N(event.line.quantity.to_string()))
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .build()?;
    let gone = OnFailed::Permanent("the article is not kept any more".to_owned());
    Ok(Effects::new().update(put_back).on_failed(gone))
}

fn key(sku: &str) -> Item {
    Item::from([("sku".to_owned(), AttributeValue::S(sku.to_owned()))])
}

fn take(table: &str, line: &OrderLine) -> Result<Update, BuildError> {
    Update::builder()
        .table_name(table)
        .set_key(Some(key(&line.sku)))
        .update_expression("ADD available :minus, entries :one")
        .condition_expression("available >= :quantity")
        .expression_attribute_values(":minus", AttributeValue::N((-i64::from(line.quantity)).to_string()))
        .expression_attribute_values(":quantity", AttributeValue::N(line.quantity.to_string()))
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .build()
}
