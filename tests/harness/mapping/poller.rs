use std::sync::Arc;

use futures::future::join_all;
use oncebox::time::Clock;
use serde_json::{Value, json};

use super::lane::Lane;
use super::{Mapping, OnFailure, Record};

/// An event source mapping at work: it takes records in, calls a function with them, and does with its answers what Lambda
/// does.
///
/// A function is any closure from the event's JSON to the answer's; its error is a function error, whether it failed, ran
/// out of time or was killed.
#[derive(Debug)]
pub struct Poller {
    mapping: Mapping,
    clock: Arc<dyn Clock>,
    /// Shard by shard, each with as many as are processed at once.
    lanes: Vec<Lane>,
    lost: Vec<OnFailure>,
}

/// What one turn did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turn {
    /// Invocations.
    pub invocations: usize,
    /// Invocations after which records come again or are discarded.
    pub failures: usize,
}

/// Records that are still there after so many turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{records} records are still to be processed after {turns} turns")]
pub struct NotIdle {
    /// Turns that were made.
    pub turns: usize,
    /// Records that are left.
    pub records: usize,
}

impl Poller {
    /// A mapping that starts at the first record it is given, as with `TRIM_HORIZON`.
    #[must_use]
    pub fn new(mapping: Mapping, clock: Arc<dyn Clock>) -> Self {
        let shards = 0..mapping.shards;
        let lanes = shards.flat_map(|shard| (0..mapping.parallelization).map(move |_| Lane::new(shard)));
        Self { lanes: lanes.collect(), mapping, clock, lost: Vec::new() }
    }

    /// Takes records in, in the order of the stream. Those that no filter matches are passed over
    /// (`invocation-eventfiltering.html`: "the streams iterator advances past this record").
    pub fn offer(&mut self, records: impl IntoIterator<Item = Record>) {
        let Mapping { shards, parallelization, ref filters, .. } = self.mapping;
        for record in records {
            if !filters.is_empty() && !filters.iter().any(|filter| filter.matches(&record.json)) {
                continue;
            }
            let lane = record.shard(shards) * parallelization + record.lane(parallelization);
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.push(record);
            }
        }
    }

    /// One invocation for each shard that has records, at once; with a `ParallelizationFactor`, as many for each.
    pub async fn turn(&mut self, function: &impl AsyncFn(String) -> Result<String, String>) -> Turn {
        let mut calls = Vec::new();
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let batch = lane.batch(&self.mapping, self.clock.as_ref(), &mut self.lost);
            if !batch.is_empty() {
                calls.push((place, batch));
            }
        }
        let answers = join_all(calls.iter().map(|(_, batch)| function(event(batch)))).await;
        let mut turn = Turn::default();
        for ((place, batch), answer) in calls.iter().zip(answers) {
            let Some(lane) = self.lanes.get_mut(*place) else { continue };
            turn.invocations += 1;
            turn.failures += usize::from(!lane.answered(batch, &answer, &self.mapping, &mut self.lost));
        }
        turn
    }

    /// Turns until no record is left, with a [pause](Mapping::pause) after each that had a failure. Answers the number of
    /// invocations.
    ///
    /// # Errors
    /// [`NotIdle`] when records are left after so many turns.
    pub async fn settle(
        &mut self,
        function: &impl AsyncFn(String) -> Result<String, String>,
        turns: usize,
    ) -> Result<usize, NotIdle> {
        let mut invocations = 0;
        for _ in 0..turns {
            if self.waiting() == 0 {
                return Ok(invocations);
            }
            let turn = self.turn(function).await;
            invocations += turn.invocations;
            if turn.failures > 0 {
                tokio::time::sleep(self.mapping.pause).await;
            }
        }
        match self.waiting() {
            0 => Ok(invocations),
            records => Err(NotIdle { turns, records }),
        }
    }

    /// Records that are not done with.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// What went to the on-failure destination.
    #[must_use]
    pub fn lost(&self) -> &[OnFailure] {
        &self.lost
    }
}

fn event(batch: &[Record]) -> String {
    let records: Vec<&Value> = batch.iter().map(|record| &record.json).collect();
    json!({ "Records": records }).to_string()
}
