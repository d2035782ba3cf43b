//! Mails a customer that an order is paid, over HTTP, through a provider that knows no idempotency key.
//!
//! After a crash or a lost answer nobody can know whether the mail went out. `ON_UNKNOWN` says what happens then: `quarantine`
//! keeps the event for a person, so that no mail is sent twice; `call-again` sends it once more, so that none is missing.

#[cfg(test)]
mod tests;

use std::str::FromStr;
use std::sync::Arc;

use oncebox::config::{ConfigError, Reader};
use oncebox::consumer::{self, Consumer, HandlerError, Visibility};
use oncebox::effect::Reads;
use oncebox::effect::remote::{self, OnUnknown, Remote, Request, Transport};
use oncebox::event::Message;
use oncebox::store::Store;
use order_events::PaymentCaptured;
use serde_json::json;

/// The name in the inbox key.
pub const CONSUMER: &str = "notification";
/// "Too many requests" and "unavailable": by these the provider says that it has sent nothing.
const NOT_DONE: [u16; 2] = [429, 503];

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What every consumer is told.
    pub consumer: consumer::Config,
    /// `REMOTE_TABLE`, `MAIL_URL`, `MAIL_TOKEN`, `MAIL_PLAIN_HTTP`: the provider.
    pub provider: remote::Config,
    /// `ON_UNKNOWN`, `quarantine` (default) or `call-again`: what happens when it is not known whether a mail was sent.
    pub on_unknown: OnUnknown,
}

/// `ON_UNKNOWN`.
struct Choice(OnUnknown);

impl FromStr for Choice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "quarantine" => Ok(Self(OnUnknown::Quarantine)),
            "call-again" => Ok(Self(OnUnknown::CallAgain)),
            _ => Err("it is neither quarantine nor call-again"),
        }
    }
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let Choice(on_unknown) = reader.or("ON_UNKNOWN", Choice(OnUnknown::Quarantine));
        let config = Self {
            consumer: consumer::Config::read(&mut reader),
            provider: remote::Config::read(&mut reader, "MAIL"),
            on_unknown,
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
    Consumer::builder(CONSUMER, store)
        .config(&config.consumer, visibility)
        .remote(config.provider.provider(transport))
        .state(Arc::new(config))
        .on(mail)
        .build()
}

async fn mail(
    event: Message<PaymentCaptured>,
    _reads: Reads,
    config: Arc<Config>,
) -> Result<Remote, HandlerError> {
    let message = json!({ "order_id": event.line.order_id, "to": event.line.account_id });
    let request = Request::post(format!("{}/messages", config.provider.url)).json(&message)?;
    Ok(Remote::unkeyed(request, config.on_unknown).not_done(NOT_DONE))
}
