use std::time::Duration;

use serde_json::Value;

use super::Filter;

/// The stream keeps a record for 24 hours, whatever the mapping would like (`services-ddb-params`).
pub(super) const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
/// A batch ends before its payload exceeds 6 MB (`with-ddb`, polling and batching streams).
pub(super) const MAX_PAYLOAD: usize = 6 * 1024 * 1024;
/// Lambda backs off between retries; the pages do not say how far.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The settings of an event source mapping; names and defaults as in `services-ddb-params`.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// `BatchSize`, 1 to 10,000; default 100.
    pub batch_size: usize,
    /// `BisectBatchOnFunctionError`, default off.
    pub bisect: bool,
    /// `ReportBatchItemFailures` among `FunctionResponseTypes`, default off: answers are not looked at then.
    pub report_failures: bool,
    /// `MaximumRetryAttempts`, 0 to 10,000; default none: until the record expires.
    pub max_retries: Option<u32>,
    /// `MaximumRecordAgeInSeconds`, up to 7 days; default none: until the record expires.
    pub max_age: Option<Duration>,
    /// `ParallelizationFactor`, 1 to 10; default 1.
    pub parallelization_factor: usize,
    /// `FilterCriteria`; a record passes if one of them matches. Default none: every record passes.
    pub filters: Vec<Filter>,
    /// `EventSourceArn`, quoted in on-failure records.
    pub stream_arn: String,
    /// `FunctionName`, as an ARN, quoted in on-failure records.
    pub function_arn: String,
    /// The first pause before a retry, which doubles up to a minute. No setting of AWS's; default 100 ms.
    pub pause: Duration,
}

impl Default for Mapping {
    fn default() -> Self {
        Self {
            batch_size: 100,
            bisect: false,
            report_failures: false,
            max_retries: None,
            max_age: None,
            parallelization_factor: 1,
            filters: Vec::new(),
            stream_arn: "arn:aws:dynamodb:eu-central-1:000000000000:table/outbox/stream/1".to_owned(),
            function_arn: "arn:aws:lambda:eu-central-1:000000000000:function:outbox-relay".to_owned(),
            pause: Duration::from_millis(100),
        }
    }
}

impl Mapping {
    pub(super) fn lets_through(&self, record: &Value) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(record))
    }

    /// How long to wait after so many failures in a row.
    pub(super) fn pause_after(&self, failures: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.pause.saturating_mul(doubled).min(LONGEST_PAUSE)
    }
}
