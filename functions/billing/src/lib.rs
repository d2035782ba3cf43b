//! Charges an account when an order is placed, and credits it back when the order is rejected.
//!
//! The balance changes by a relative update, which is not idempotent by nature: this is the handler that ran twice. The
//! inbox key in the same transaction is what makes it run once.

mod domain;
#[cfg(feature = "fault-injection")]
mod sabotage;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Update};
use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::{Effects, OnFailed, Reads};
use oncebox::event::Message;
use oncebox::store::Store;
use order_events::{OrderLine, OrderPlaced, PaymentDeclined, StockRejected};

#[cfg(feature = "fault-injection")]
pub use sabotage::sabotage;

/// The chapter on testing uses this function, and its examples run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
struct Testing;

/// The name in the inbox key.
pub const CONSUMER: &str = "billing";

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What every consumer is told.
    pub consumer: consumer::Config,
    /// `ACCOUNTS_TABLE`.
    pub accounts_table: String,
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let config = Self {
            consumer: consumer::Config::read(&mut reader),
            accounts_table: reader.text("ACCOUNTS_TABLE"),
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
    let builder = Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .state(Arc::new(config))
        .on(charge)
        .on(credit_back)
        .on(credit_declined);
    #[cfg(feature = "fault-injection")]
    let builder = builder.sabotage(sabotage());
    builder.build()
}

async fn charge(
    event: Message<OrderPlaced>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Effects, HandlerError> {
    let delta = domain::charge(event.line.amount_cents)?;
    Ok(post(&config.accounts_table, &event.line.account_id, delta)?)
}

async fn credit_back(
    event: Message<StockRejected>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Effects, HandlerError> {
    credit(&event.line, &config)
}

async fn credit_declined(
    event: Message<PaymentDeclined>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Effects, HandlerError> {
    credit(&event.line, &config)
}

fn credit(line: &OrderLine, config: &Config) -> Result<Effects, HandlerError> {
    let delta = domain::credit(line.amount_cents)?;
    Ok(post(&config.accounts_table, &line.account_id, delta)?)
}

/// Adds `delta` to a balance. `entries` counts the postings, so that a lost one and a double one cannot cancel out.
fn post(table: &str, account: &str, delta: i64) -> Result<Effects, BuildError> {
    let update = Update::builder()
        .table_name(table)
        .key("account_id", AttributeValue::S(account.to_owned()))
        .update_expression("ADD balance_cents :delta, entries :one")
        .condition_expression("attribute_exists(account_id)")
        .expression_attribute_values(":delta", AttributeValue::N(delta.to_string()))
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .build()?;
    Ok(Effects::new().update(update).on_failed(OnFailed::Permanent("the account does not exist".to_owned())))
}
