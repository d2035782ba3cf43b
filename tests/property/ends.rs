//! What a case comes to, for comparing two ways of running it: packed with unpacked, the in-memory store with an emulator.

use std::future::Future;
use std::sync::Arc;

use oncebox::quarantine::Case;
use oncebox::store::{DynamoStore, Item, Store};
use oncebox_tests::{Dynoxide, TableSpec, create_table, dynamo_client};
use tokio::runtime::{Builder, Runtime};

use crate::checks::Check;
use crate::queue::{Answer, Queue};
use crate::scenario::{Call, Cut, Mode, Read, Scenario, Weather, Write};
use crate::state;
use crate::verdicts::{self, Counts};
use crate::world::{self, TABLES, World};

/// What one delivery came to.
#[derive(Debug, PartialEq)]
struct End {
    /// The listed identifiers; `None` for an invocation that failed.
    listed: Option<Vec<String>>,
    verdicts: Counts,
    tables: Vec<(&'static str, Vec<Item>)>,
    /// Aggregate, type and data of the outbox rows; their ids are made up.
    emitted: Vec<String>,
    cases: Vec<Case>,
}

/// Packed and unpacked, the same messages come to the same end.
pub(crate) fn packed_and_unpacked(scenario: &Scenario) -> Check {
    let calm = Scenario { weather: Weather::default(), racing: false, ..scenario.clone() };
    let run = |packing| on_memory(&Scenario { packing, ..calm.clone() });
    same("unpacked", run(false)?, "packed", run(true)?)
}

/// On the in-memory store and on an emulator, the same messages and the same faults come to the same end. One record at
/// a time and nothing slow, so that the faults meet the same calls.
pub(crate) fn memory_and_emulator(scenario: &Scenario) -> Check {
    let mut brisk = Scenario { racing: false, concurrency: 1, ..scenario.clone() };
    if scenario.packing {
        // Who shares a transaction depends on how long calls take.
        brisk.weather = Weather::default();
    }
    for event in &mut brisk.events {
        if let Mode::Slow(_) = event.mode {
            event.mode = Mode::Slow(5);
        }
    }
    let Weather { transacts, gets, updates } = &mut brisk.weather;
    at_once(transacts, |cut| matches!(cut, Cut::Hangs), Cut::Unknown);
    at_once(gets, |read| matches!(read, Read::Hangs), Read::TimedOut);
    at_once(updates, |write| matches!(write, Write::Hangs), Write::Throttled);
    same("memory", on_memory(&brisk)?, "emulator", on_emulator(&brisk)?)
}

fn at_once<T: Copy>(calls: &mut [Call<T>], hangs: fn(T) -> bool, instead: T) {
    for call in calls {
        let answer = if hangs(call.answer) { instead } else { call.answer };
        *call = Call { before: 0, after: 0, answer };
    }
}

fn same(one: &str, left: Vec<End>, other: &str, right: Vec<End>) -> Check {
    for (delivery, (left, right)) in left.iter().zip(&right).enumerate() {
        if left != right {
            return Err(format!("delivery {delivery}\n{one} {left:#?}\n{other} {right:#?}"));
        }
    }
    if left.len() == right.len() { Ok(()) } else { Err("not as many deliveries".to_owned()) }
}

fn on_memory(scenario: &Scenario) -> Result<Vec<End>, String> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    play(&runtime, scenario, async { Arc::new(world::memory()) as Arc<dyn Store> })
}

fn on_emulator(scenario: &Scenario) -> Result<Vec<End>, String> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let emulator = Dynoxide::start().unwrap();
    let client = dynamo_client(&emulator.endpoint(), "000000000001");
    play(&runtime, scenario, async {
        for (name, partition_key, sort_key) in TABLES {
            create_table(&client, TableSpec { name, partition_key, sort_key, index: None }).await.unwrap();
        }
        Arc::new(DynamoStore::new(client)) as Arc<dyn Store>
    })
}

fn play(
    runtime: &Runtime,
    scenario: &Scenario,
    store: impl Future<Output = Arc<dyn Store>>,
) -> Result<Vec<End>, String> {
    fastrand::seed(1);
    runtime.block_on(async {
        let world = World::new(scenario, store.await);
        let mut queue = Queue::new(scenario);
        let mut ends = Vec::new();
        for _ in 0..4 {
            let Some(batch) = queue.batch() else { break };
            let deadline = world.clock.deadline_in(60_000);
            let answers: [Answer; 1] = [world.consumers[0].handle(&batch.json, deadline).await];
            queue.settle(&batch, &answers);
            ends.push(end(&world, &answers[0]).await?);
        }
        Ok(ends)
    })
}

async fn end(world: &World, answer: &Answer) -> Result<End, String> {
    let listed = answer.as_ref().ok().map(|answer| {
        answer.batch_item_failures.iter().map(|failure| failure.item_identifier.clone()).collect()
    });
    let mut said = verdicts::take();
    let verdicts = said.pop().filter(|_| said.is_empty()).ok_or("not one last line")?;
    verdicts::check(&verdicts)?;
    let mut tables = Vec::new();
    for table in ["inbox", "counts", "accounts", "moved", "counted"] {
        tables.push((table, items(world, table).await));
    }
    let mut emitted: Vec<String> = items(world, "outbox").await.iter().map(content).collect();
    emitted.sort();
    Ok(End { listed, verdicts, tables, emitted, cases: state::cases(items(world, "quarantine").await)? })
}

/// In key order, and without times, which differ by how long the ways take.
async fn items(world: &World, table: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut start = None;
    loop {
        let page = world.store.scan(table, start).await.unwrap();
        items.extend(page.items);
        start = page.next;
        if start.is_none() {
            break;
        }
    }
    for item in &mut items {
        item.remove("processed_at");
        item.remove("expires_at");
    }
    let key =
        |item: &Item| ["pk", "sk", "id"].map(|name| item.get(name).and_then(|key| key.as_s().ok().cloned()));
    items.sort_by_key(key);
    items
}

fn content(row: &Item) -> String {
    let body: serde_json::Value = serde_json::from_str(row["body"].as_s().unwrap()).unwrap();
    format!("{:?} {} {} {}", row["pk"], body["type"], body["causationid"], body["data"])
}
