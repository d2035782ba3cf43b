use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::Reader;
use crate::inbox::Retention;

/// What every consumer function is told by its environment, read in one place.
///
/// # Examples
/// ```
/// use oncebox::config::Reader;
/// use oncebox::consumer::Config;
///
/// let mut reader = Reader::new(|name| match name {
///     "INBOX_TABLE" | "QUARANTINE_TABLE" | "QUEUE_URL" => Some("x".to_owned()),
///     "MAX_RECEIVE_COUNT" => Some("0".to_owned()),
///     _ => None,
/// });
/// let config = Config::read(&mut reader);
/// assert!(reader.finish(config).is_err_and(|error| error.to_string().contains("MAX_RECEIVE_COUNT")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `INBOX_TABLE`. A consumer whose effects are all naturally idempotent has none.
    pub inbox_table: Option<String>,
    /// `QUARANTINE_TABLE`.
    pub quarantine_table: String,
    /// `QUEUE_URL`, for changing the visibility of what has to come again.
    pub queue_url: String,
    /// `MAX_RECEIVE_COUNT`: the redrive policy's. A record that fails for a passing reason on its last receive is
    /// quarantined with its error, instead of falling on the dead letter queue without one.
    pub max_receive_count: Option<NonZeroU32>,
    /// All windows; see there for the names.
    pub retention: Retention,
    /// `RETRY_DELAY`, default `on`: whether the visibility of what has to come again is set.
    pub retry_delay: bool,
    /// `PACKING`, default `off`: whether records share transactions.
    pub packing: bool,
    /// `VERSION_GRACE_SECONDS`, default 3600: how long an unknown schema version of a handled type is taken for a
    /// rollout under way, before it is malformed.
    pub version_grace: Duration,
}

impl Config {
    /// Reads the settings of a consumer with an inbox, and reports what is missing or bad to `reader`.
    #[must_use]
    pub fn read(reader: &mut Reader) -> Self {
        let inbox_table = Some(reader.text("INBOX_TABLE"));
        Self { inbox_table, ..Self::without_inbox(reader) }
    }

    /// Reads the settings of a consumer whose effects are all naturally idempotent.
    #[must_use]
    pub fn without_inbox(reader: &mut Reader) -> Self {
        Self {
            inbox_table: None,
            quarantine_table: reader.text("QUARANTINE_TABLE"),
            queue_url: reader.text("QUEUE_URL"),
            max_receive_count: reader.required("MAX_RECEIVE_COUNT"),
            retention: Retention::read(reader),
            retry_delay: reader.switch("RETRY_DELAY", true),
            packing: reader.switch("PACKING", false),
            version_grace: Duration::from_secs(reader.or("VERSION_GRACE_SECONDS", 3600)),
        }
    }
}
