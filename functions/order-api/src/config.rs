use oncebox::config::{ConfigError, Reader};
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
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let config = Self {
            outbox_table: reader.text("OUTBOX_TABLE"),
            orders_table: reader.text("ORDERS_TABLE"),
            order_status_table: reader.text("ORDER_STATUS_TABLE"),
            routes: reader.required("ROUTES").unwrap_or_default(),
            event_source: reader.text("EVENT_SOURCE"),
        };
        reader.finish(config)
    }
}
