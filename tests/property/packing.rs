//! Packed and unpacked, the same messages come to the same end.

use oncebox::quarantine::Case;
use oncebox::store::Item;

use crate::checks::Check;
use crate::queue::{Answer, Queue};
use crate::scenario::{Scenario, Weather};
use crate::state::State;
use crate::verdicts::{self, Counts};
use crate::world::World;

/// What one delivery came to.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// The listed identifiers; `None` for an invocation that failed.
    listed: Option<Vec<String>>,
    verdicts: Counts,
    tables: Vec<(&'static str, Vec<Item>)>,
    /// Aggregate, type and data of the outbox rows; their ids are made up.
    emitted: Vec<String>,
    cases: Vec<Case>,
}

pub(crate) fn same_end(scenario: &Scenario) -> Check {
    let calm = Scenario { weather: Weather::default(), racing: false, ..scenario.clone() };
    let unpacked = run(&Scenario { packing: false, ..calm.clone() })?;
    let packed = run(&Scenario { packing: true, ..calm })?;
    for (delivery, (unpacked, packed)) in unpacked.iter().zip(&packed).enumerate() {
        if unpacked != packed {
            return Err(format!("delivery {delivery}\nunpacked {unpacked:#?}\npacked {packed:#?}"));
        }
    }
    Ok(())
}

fn run(scenario: &Scenario) -> Result<Vec<Outcome>, String> {
    fastrand::seed(1);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let world = World::new(scenario);
        let mut queue = Queue::new(scenario);
        let mut outcomes = Vec::new();
        for _ in 0..4 {
            let Some(batch) = queue.batch() else { break };
            let deadline = world.clock.deadline_in(60_000);
            let answers: [Answer; 1] = [world.consumers[0].handle(&batch.json, deadline).await];
            queue.settle(&batch, &answers);
            outcomes.push(outcome(&world, &answers[0])?);
        }
        Ok(outcomes)
    })
}

fn outcome(world: &World, answer: &Answer) -> Result<Outcome, String> {
    let listed = answer.as_ref().ok().map(|answer| {
        answer.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
    });
    let mut said = verdicts::take();
    let verdicts = said.pop().filter(|_| said.is_empty()).ok_or("not one last line")?;
    verdicts::check(&verdicts)?;
    let state = State::read(&world.memory)?;
    // Times differ by how long handlers wait for each other.
    let timeless = |mut item: Item| {
        item.remove("processed_at");
        item.remove("expires_at");
        item
    };
    let tables = ["inbox", "counts", "accounts", "moved"]
        .map(|table| (table, world.memory.items(table).into_iter().map(timeless).collect()));
    let mut emitted: Vec<String> = world.memory.items("outbox").iter().map(content).collect();
    emitted.sort();
    Ok(Outcome { listed, verdicts, tables: tables.into(), emitted, cases: state.cases })
}

fn content(row: &Item) -> String {
    let body: serde_json::Value = serde_json::from_str(row["body"].as_s().unwrap()).unwrap();
    format!("{:?} {} {} {}", row["pk"], body["type"], body["causationid"], body["data"])
}
