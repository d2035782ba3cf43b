use std::str::FromStr;

use oncebox::config::{ConfigError, Reader};
use oncebox::inbox::Days;
use oncebox::outbox::Routes;

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `OUTBOX_TABLE`.
    pub outbox_table: String,
    /// `ORDERS_TABLE`.
    pub orders_table: String,
    /// `ORDER_STATUS_TABLE`.
    pub order_status_table: String,
    /// `ROUTES`, the relay's: what it could not publish is refused when it is written.
    pub routes: Routes,
    /// `EVENT_SOURCE`: CloudEvents `source` of the events.
    pub event_source: String,
    /// `IDEMPOTENCY_KEY`: what becomes of the header, default `optional`.
    pub idempotency: Idempotency,
    /// `INBOX_TABLE`, where keys are kept; needed unless `IDEMPOTENCY_KEY` is `off`.
    pub inbox_table: String,
    /// `IDEMPOTENCY_WINDOW_DAYS`, default 30: for how long a key is remembered, at least 1.
    pub idempotency_window: Days,
}

/// What becomes of the header `Idempotency-Key`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Idempotency {
    /// It is not looked at.
    Off,
    /// A request that has one is carried out once.
    #[default]
    Optional,
    /// A request without one is refused.
    Required,
}

impl FromStr for Idempotency {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            "optional" => Ok(Self::Optional),
            "required" => Ok(Self::Required),
            _ => Err("it is none of off, optional and required"),
        }
    }
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let idempotency = reader.or("IDEMPOTENCY_KEY", Idempotency::default());
        let idempotency_window = reader.or("IDEMPOTENCY_WINDOW_DAYS", Days::new(30));
        if idempotency_window == Days::new(0) {
            reader
                .report("IDEMPOTENCY_WINDOW_DAYS", "cannot be used: a key has to be kept for a day at least");
        }
        let config = Self {
            inbox_table: if idempotency == Idempotency::Off {
                String::new()
            } else {
                reader.text("INBOX_TABLE")
            },
            idempotency,
            idempotency_window,
            outbox_table: reader.text("OUTBOX_TABLE"),
            orders_table: reader.text("ORDERS_TABLE"),
            order_status_table: reader.text("ORDER_STATUS_TABLE"),
            routes: reader.required("ROUTES").unwrap_or_default(),
            event_source: reader.text("EVENT_SOURCE"),
        };
        reader.finish(config)
    }
}
