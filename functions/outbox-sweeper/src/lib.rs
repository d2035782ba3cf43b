//! Publishes outbox rows that the stream has missed, on a schedule.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use oncebox::config::{ConfigError, Reader};
use oncebox::inbox::Days;
use oncebox::quarantine::Quarantine;
use oncebox::relay::{AfterPublish, Publisher, Routes, Sweeper};
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
    /// `SWEEP_GRACE_SECONDS`, default 300: how old a row must be.
    pub grace: Duration,
    /// `SWEEP_MAX_ATTEMPTS`, default 100: claims after which a row is quarantined.
    pub max_attempts: u32,
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
            grace: Duration::from_secs(reader.or("SWEEP_GRACE_SECONDS", 300)),
            max_attempts: reader.or("SWEEP_MAX_ATTEMPTS", 100),
        };
        reader.finish(config)
    }
}

/// The sweeper, ready to serve.
pub fn sweeper(config: Config, store: Arc<dyn Store>, publisher: Arc<dyn Publisher>) -> Sweeper {
    let quarantine = Quarantine::new(Arc::clone(&store), config.quarantine_table);
    Sweeper::new(store, publisher, config.outbox_table, config.routes, quarantine)
        .grace(config.grace)
        .max_attempts(config.max_attempts)
        .after_publish(AfterPublish::keep_for(config.keep))
}
