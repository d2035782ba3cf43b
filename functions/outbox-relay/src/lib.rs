//! Publishes the outbox table's stream to SNS and SQS.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use oncebox::config::{ConfigError, Reader};
use oncebox::inbox::Days;
use oncebox::quarantine::Quarantine;
use oncebox::relay::{AfterPublish, Publisher, Relay, Routes};
use oncebox::store::Store;

/// What the function is told by its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `OUTBOX_TABLE`.
    pub outbox_table: String,
    /// `QUARANTINE_TABLE`.
    pub quarantine_table: String,
    /// `ROUTES`: a JSON object from route to a list of topic ARNs and queue URLs.
    pub routes: Routes,
    /// `OUTBOX_KEEP_DAYS`, default 0: for how long published rows are kept; 0 deletes them.
    pub keep: Days,
}

impl Config {
    /// Reads all of it.
    ///
    /// # Errors
    /// Names every setting that is missing or bad.
    pub fn read(mut reader: Reader) -> Result<Self, ConfigError> {
        let config = Self {
            outbox_table: reader.text("OUTBOX_TABLE"),
            quarantine_table: reader.text("QUARANTINE_TABLE"),
            routes: reader.required("ROUTES").unwrap_or_default(),
            keep: reader.or("OUTBOX_KEEP_DAYS", Days::default()),
        };
        reader.finish(config)
    }
}

/// The relay, ready to serve.
pub fn relay(config: Config, store: Arc<dyn Store>, publisher: Arc<dyn Publisher>) -> Relay {
    let quarantine = Quarantine::new(Arc::clone(&store), config.quarantine_table);
    Relay::new(store, publisher, config.outbox_table, config.routes)
        .quarantine(quarantine)
        .after_publish(AfterPublish::keep_for(config.keep))
}
