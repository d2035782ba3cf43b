//! Writes rows in transactions, some of which fail.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::{ConditionCheck, TransactWriteItem};
use oncebox::outbox::Row;
use oncebox::store::Store;
use oncebox::testing::{Fault, ScriptedStore, text};
use oncebox::time::Clock;

use crate::scenario::{Fate, Numbering, TransactionSpec};
use crate::world::{World, Written};

pub(crate) async fn produce(world: &World<'_>) {
    let mut sequences = vec![0_u64; world.scenario.aggregates.len()];
    let mut number = 0_usize;
    for (transaction, spec) in world.scenario.transactions.iter().enumerate() {
        tokio::time::sleep(Duration::from_millis(spec.wait)).await;
        let written = rows(world, transaction, spec, &mut sequences, &mut number);
        if commit(world, transaction, spec.fate, &written).await {
            for (written, spec) in written.iter().zip(&spec.rows) {
                world.publisher.committed(&written.row.sk, &written.row.body);
                let destinations = world.routes.of(&written.row.route, &written.row.event_type).unwrap();
                if let Some(bad) = spec.bad {
                    world.publisher.always(&written.row.sk, destinations, bad);
                }
            }
            world.written.lock().unwrap().extend(written);
        }
    }
}

fn rows(
    world: &World<'_>,
    transaction: usize,
    spec: &TransactionSpec,
    sequences: &mut [u64],
    number: &mut usize,
) -> Vec<Written> {
    let now = world.clock.now().as_millisecond();
    let mut all = Vec::new();
    for spec in &spec.rows {
        let aggregate = spec.aggregate.index(world.scenario.aggregates.len());
        let of = world.scenario.aggregates[aggregate];
        *number += 1;
        sequences[aggregate] += 1;
        let sequence = match of.numbering {
            Numbering::All => Some(sequences[aggregate]),
            Numbering::Every2nd => Some(sequences[aggregate]).filter(|sequence| sequence % 2 == 0),
            Numbering::None => None,
        };
        let created_at = now - i64::try_from(spec.late).unwrap();
        let id = format!("{created_at}-{number:03}");
        let row = Row {
            pk: format!("Thing#{aggregate}"),
            body: format!("body of {id}"),
            sk: id,
            route: format!("r{}", of.route),
            event_type: if spec.second_type { "Second" } else { "First" }.to_owned(),
            sequence,
            region: None,
            created_at,
        };
        all.push(Written { row, aggregate, transaction, late: spec.late });
    }
    all
}

/// Whether the rows are in the table.
async fn commit(world: &World<'_>, transaction: usize, fate: Fate, written: &[Written]) -> bool {
    let mut actions: Vec<TransactWriteItem> = Vec::new();
    for written in written {
        actions.push(TransactWriteItem::builder().put(written.row.put("outbox").unwrap()).build());
    }
    if fate == Fate::Cancelled {
        let check = ConditionCheck::builder()
            .table_name("outbox")
            .key("pk", text("nothing"))
            .key("sk", text("here"))
            .condition_expression("attribute_exists(pk)")
            .build();
        actions.push(TransactWriteItem::builder().condition_check(check.unwrap()).build());
    }
    let store = ScriptedStore::new(Arc::new(world.memory.clone()));
    match fate {
        Fate::LostAnswer => drop(store.on_transact(Fault::LostAnswer)),
        Fate::NotTaken => drop(store.on_transact(Fault::Throttled)),
        Fate::Committed | Fate::Cancelled => {}
    }
    let token = format!("producer-{transaction}");
    let mut answer = store.transact(actions.clone(), &token).await;
    if fate == Fate::LostAnswer {
        assert!(answer.is_err());
        answer = store.transact(actions, &token).await;
    }
    let committed = matches!(fate, Fate::Committed | Fate::LostAnswer);
    assert_eq!(answer.is_ok(), committed, "{answer:?}");
    committed
}
