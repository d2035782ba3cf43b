//! What lies between a table's stream and a function: an event source mapping as AWS documents it.
//!
//! The emulator's own mapping takes a reported failure for a success, so that a record reported as failed is gone. This one
//! keeps the documented rules instead, each in one place and with the page that states it. Where the pages say nothing, the
//! reading is taken that is harder on the function, and the comment says so.
//!
//! Pages of the [Lambda developer guide](https://docs.aws.amazon.com/lambda/latest/dg/), read in November 2026:
//! `with-ddb` (shards, order, batches), `services-ddb-params` (settings and bounds), `services-ddb-batchfailurereporting`
//! (answers), `services-dynamodb-errors` (retries, what is given up), `invocation-eventfiltering` (filters).

mod answer;
mod discard;
mod filter;
mod lane;
mod mapping;
mod record;
mod source;

pub use answer::Invocation;
pub use filter::{Filter, FilterError};
pub use mapping::Mapping;
pub use record::{StreamRecord, simulate_shards};
pub use source::{StreamError, TableStream};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oncebox::time::Clock;
use serde_json::Value;

use self::lane::Lane;

/// A stream's records on their way to a function.
///
/// The function is anything that takes the event and says how its invocation went; it is invoked for one batch of a lane at
/// a time, and for several lanes at once.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use oncebox::testing::PausedClock;
/// use oncebox_tests::poller::{Invocation, Mapping, Poller, StreamRecord};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
/// let function = async |_event| Invocation::Answered(json!({ "batchItemFailures": [] }));
/// let mut poller = Poller::new(Mapping::default(), function, Arc::new(PausedClock::start()));
/// let record = json!({ "eventName": "INSERT", "dynamodb": {
///     "SequenceNumber": "1", "ApproximateCreationDateTime": 1_800_000_000, "Keys": { "pk": { "S": "a" } } } });
/// poller.take(StreamRecord::read("shard-1", record));
/// assert!(poller.run(Duration::from_secs(60)).await);
/// assert!(poller.discarded().is_empty());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Poller<F> {
    mapping: Mapping,
    function: F,
    clock: Arc<dyn Clock>,
    lanes: BTreeMap<(String, usize), Lane>,
}

impl<F: AsyncFn(Value) -> Invocation> Poller<F> {
    /// A mapping that has read nothing yet.
    pub fn new(mapping: Mapping, function: F, clock: Arc<dyn Clock>) -> Self {
        Self { mapping, function, clock, lanes: BTreeMap::new() }
    }

    /// Takes in records of the stream, each shard's in its order. Those that no filter lets through are done with.
    pub fn take(&mut self, records: impl IntoIterator<Item = StreamRecord>) {
        for record in records {
            if self.mapping.lets_through(&record.json) {
                let lane = record.lane(self.mapping.parallelization_factor);
                self.lanes.entry((record.shard.clone(), lane)).or_default().waiting.push_back(record);
            }
        }
    }

    /// Invokes the function until every record is done with or given up; answers whether that was within `limit`.
    ///
    /// A batch that is out with the function when the time is up counts as not invoked: it comes again with the next run.
    #[must_use = "false means that records are left"]
    pub async fn run(&mut self, limit: Duration) -> bool {
        let Self { mapping, function, clock, lanes } = self;
        let lanes = lanes.values_mut().map(|lane| lane.run(mapping, &*function, clock.as_ref()));
        tokio::time::timeout(limit, futures::future::join_all(lanes)).await.is_ok()
    }

    /// What went to the on-failure destination, a lane after the other.
    #[must_use]
    pub fn discarded(&self) -> Vec<Value> {
        self.lanes.values().flat_map(|lane| lane.discarded.iter().cloned()).collect()
    }

    /// How many records the stream no longer kept when their turn came.
    #[must_use]
    pub fn trimmed(&self) -> usize {
        self.lanes.values().map(|lane| lane.trimmed).sum()
    }
}

impl<F> fmt::Debug for Poller<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Poller");
        shown.field("mapping", &self.mapping).field("lanes", &self.lanes.keys()).finish_non_exhaustive()
    }
}
