//! What Lambda does between a DynamoDB stream and a function, as its documentation has it, since emulators do not.
//!
//! Each rule names its page of the AWS Lambda developer guide, under `https://docs.aws.amazon.com/lambda/latest/dg/`.
//! Where the guide is silent, the comment says so and what is assumed here.

mod answer;
mod emulator;
mod filter;
mod lane;
mod on_failure;
mod poller;
mod record;

use std::time::Duration;

pub use emulator::EmulatorStream;
pub use filter::{Filter, FilterError};
pub use on_failure::{Condition, OnFailure};
pub use poller::{NotIdle, Poller, Turn};
pub use record::{Record, RecordError};

/// The settings of an event source mapping of a DynamoDB stream, with Lambda's defaults.
///
/// Defaults and bounds: `services-ddb-params.html`.
#[derive(Debug, Clone)]
#[must_use]
pub struct Mapping {
    pub(crate) batch_size: usize,
    pub(crate) retries: Option<u32>,
    pub(crate) max_age: Option<Duration>,
    pub(crate) bisect: bool,
    pub(crate) report_failures: bool,
    pub(crate) parallelization: usize,
    pub(crate) filters: Vec<Filter>,
    pub(crate) shards: usize,
    pub(crate) pause: Duration,
}

impl Default for Mapping {
    fn default() -> Self {
        Self {
            batch_size: 100,
            retries: None,
            max_age: None,
            bisect: false,
            report_failures: false,
            parallelization: 1,
            filters: Vec::new(),
            shards: 1,
            pause: Duration::from_secs(1),
        }
    }
}

impl Mapping {
    /// `BatchSize`: the most records of one invocation, from 1 to 10,000, default 100. Lambda calls as soon as there are
    /// any, so a batch may have fewer (`services-dynamodb-eventsourcemapping.html`).
    pub fn batch_size(mut self, records: usize) -> Self {
        self.batch_size = records.clamp(1, 10_000);
        self
    }

    /// `MaximumRetryAttempts`, from 0 to 10,000; default -1, here `None`: for ever. Then the batch is discarded and the
    /// shard goes on (`services-ddb-params.html`, `services-dynamodb-errors.html`).
    ///
    /// The guide does not say whether the count starts again when the checkpoint moves. It does not here, so that a batch
    /// is given up early rather than late.
    pub fn retries(mut self, attempts: u32) -> Self {
        self.retries = Some(attempts.min(10_000));
        self
    }

    /// `MaximumRecordAgeInSeconds`; default -1, here none. Older records are discarded without being sent
    /// (`services-ddb-params.html`, `services-dynamodb-errors.html`).
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// `BisectBatchOnFunctionError`: a batch whose invocation fails is tried again in two halves, one after the other, and
    /// that does not count as a retry (`services-dynamodb-errors.html`). A partial answer cuts the batch at its sequence
    /// number instead (`services-ddb-batchfailurereporting.html`).
    pub fn bisect(mut self) -> Self {
        self.bisect = true;
        self
    }

    /// `FunctionResponseTypes: [ReportBatchItemFailures]`. Without it the answer is not looked at
    /// (`services-ddb-batchfailurereporting.html`).
    pub fn report_failures(mut self) -> Self {
        self.report_failures = true;
        self
    }

    /// `ParallelizationFactor`, from 1 to 10, default 1: batches of one shard that are processed at once. Order is kept
    /// "at the item (partition and sort key) level" only (`with-ddb.html`). An outbox row is an item of its own, so with
    /// more than 1 the rows of one aggregate may overtake each other, here as there.
    pub fn parallelization(mut self, factor: usize) -> Self {
        self.parallelization = factor.clamp(1, 10);
        self
    }

    /// `FilterCriteria`: records that match none of the filters are passed over and not sent (`invocation-eventfiltering.html`).
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filters.push(filter);
        self
    }

    /// Shards of the stream, at least 1. Records of one partition key are in one shard; emulators have a single one.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards.max(1);
        self
    }

    /// How long is waited after a turn with a failure, default 1 s. The guide gives no figure.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}
