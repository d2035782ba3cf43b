//! Captures the price of a reserved order at a payment provider, over HTTP, and says what came of it.
//!
//! The provider honours an idempotency key. Each attempt sends the event's id as the key and the same bytes, so that an order
//! is captured exactly once, whatever crashes in between. A declined payment is a result like another; it is not tried again.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::remote::{self, Remote, Reply, Request, Transport};
use oncebox::effect::{Effects, Reads};
use oncebox::event::{Emit, Message};
use oncebox::outbox::{Outbox, Routes};
use oncebox::store::Store;
use order_events::{PaymentCaptured, PaymentDeclined, StockReserved};
use serde::Deserialize;
use serde_json::json;

/// The name in the inbox key.
pub const CONSUMER: &str = "payment";
/// HTTP's "payment required": the provider's way to decline.
const DECLINED: u16 = 402;
/// Characters of a reason that are passed on.
const MAX_REASON: usize = 200;

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What every consumer is told.
    pub consumer: consumer::Config,
    /// `OUTBOX_TABLE`.
    pub outbox_table: String,
    /// `ROUTES`, the relay's: what it could not publish is refused when it is written.
    pub routes: Routes,
    /// `EVENT_SOURCE`: CloudEvents `source` of the emitted events.
    pub event_source: String,
    /// `REMOTE_TABLE`, `PAYMENT_URL`, `PAYMENT_TOKEN`, `PAYMENT_PLAIN_HTTP`: the provider.
    pub provider: remote::Config,
    /// `PAYMENT_KEY_LIFETIME_HOURS`, default 24: how long the provider remembers an idempotency key.
    pub key_lifetime: Duration,
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let hours: u64 = reader.or("PAYMENT_KEY_LIFETIME_HOURS", 24);
        let config = Self {
            consumer: consumer::Config::read(&mut reader),
            outbox_table: reader.text("OUTBOX_TABLE"),
            routes: reader.required("ROUTES").unwrap_or_default(),
            event_source: reader.text("EVENT_SOURCE"),
            provider: remote::Config::read(&mut reader, "PAYMENT"),
            key_lifetime: Duration::from_secs(hours.saturating_mul(3600)),
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
    transport: Arc<dyn Transport>,
) -> Result<Consumer<Arc<Config>>, consumer::BuildError> {
    let outbox = Outbox::new(Arc::clone(&store), config.outbox_table.as_str(), config.event_source.as_str())
        .routes(config.routes.clone());
    Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .outbox(outbox)
        .remote(config.provider.provider(transport))
        .state(Arc::new(config))
        .on(capture)
        .build()
}

/// What to call.
async fn capture(
    event: Message<StockReserved>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Remote, HandlerError> {
    let line = &event.line;
    let order = json!({
        "order_id": line.order_id,
        "account_id": line.account_id,
        "amount_cents": line.amount_cents,
    });
    let request = Request::post(format!("{}/captures", config.provider.url)).json(&order)?;
    let remote = Remote::keyed(request, config.key_lifetime).results([DECLINED]);
    Ok(remote.then(move |reply, _reads| told(event.clone(), reply)))
}

#[derive(Deserialize)]
struct Captured {
    id: String,
}

#[derive(Deserialize)]
struct Declined {
    reason: String,
}

/// What follows from the answer.
async fn told(event: Message<StockReserved>, reply: Reply) -> Result<Effects, HandlerError> {
    let (line, sequence) = (event.line.clone(), event.next_sequence());
    if reply.status() == DECLINED {
        let said = reply.json().unwrap_or(Declined { reason: "declined".to_owned() });
        let reason = said.reason.chars().take(MAX_REASON).collect();
        return Ok(Effects::new().emit(Emit::new(&PaymentDeclined { line, reason }).sequence(sequence)));
    }
    let Captured { id: capture_id } = reply.json()?;
    Ok(Effects::new().emit(Emit::new(&PaymentCaptured { line, capture_id }).sequence(sequence)))
}
