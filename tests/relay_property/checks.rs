//! What has to hold.

use std::collections::{HashMap, HashSet};

use oncebox::outbox::names;
use oncebox::quarantine::{self, Case};
use oncebox::store::Item;
use oncebox::testing::Change;

use crate::scenario::Numbering;
use crate::world::{World, Written};

pub(crate) type Check = Result<(), String>;

/// Whether no row is owed to anybody.
pub(crate) fn is_quiet(world: &World<'_>) -> bool {
    let kept = |item: &Item| world.scenario.kind.keep && item.contains_key(names::PUBLISHED_AT);
    world.memory.items("outbox").iter().all(kept)
}

pub(crate) fn at_last(world: &World<'_>) -> Check {
    let written = world.written.lock().unwrap().clone();
    let mut cases = HashMap::new();
    for item in world.memory.items("quarantine") {
        let case = quarantine::read(&item, &[]).map_err(|error| error.to_string())?;
        if let Some(other) = cases.insert(case.message_id.clone(), case) {
            return Err(format!("{} is in the quarantine twice", other.message_id));
        }
    }
    if let Some(wrong) = world.publisher.wrong().first() {
        return Err(wrong.clone());
    }
    no_ghosts(world)?;
    table(world, &written, &cases)?;
    accepted(world, &written, &cases)?;
    order(world, &written, &cases)
}

fn no_ghosts(world: &World<'_>) -> Check {
    for entry in world.memory.stream("outbox") {
        if entry.change != Change::Remove
            && entry.new_image.as_ref().is_some_and(|item| !item.contains_key(names::BODY))
        {
            return Err(format!("a ghost of {:?}", entry.keys));
        }
    }
    match *world.odd.lock().unwrap() {
        0 => Ok(()),
        odd => Err(format!("{odd} items were no rows")),
    }
}

/// Nothing is left, or everything is marked; what is quarantined is nowhere else.
fn table(world: &World<'_>, written: &[Written], cases: &HashMap<String, Case>) -> Check {
    let items = world.memory.items("outbox");
    if !world.scenario.kind.keep {
        return if items.is_empty() { Ok(()) } else { Err(format!("rows are left: {items:?}")) };
    }
    for Written { row, .. } in written {
        let item = items.iter().find(|item| item[names::SK].as_s() == Ok(&row.sk));
        match (item, cases.contains_key(&row.sk)) {
            (None, true) => {}
            (None, false) => return Err(format!("{} is not kept", row.sk)),
            (Some(_), true) => return Err(format!("{} is kept and in the quarantine", row.sk)),
            (Some(item), false) => {
                let marked =
                    [names::PUBLISHED_AT, names::EXPIRES_AT].iter().all(|name| item.contains_key(*name));
                if !marked || item.contains_key(names::PENDING) {
                    return Err(format!("{} is not marked: {item:?}", row.sk));
                }
            }
        }
    }
    if items.len() > written.len() { Err("more rows than were written".to_owned()) } else { Ok(()) }
}

/// Every committed event was accepted everywhere, or is in the quarantine for those that have not.
fn accepted(world: &World<'_>, written: &[Written], cases: &HashMap<String, Case>) -> Check {
    let accepted: HashSet<(String, String)> = world.publisher.accepted().into_iter().collect();
    for Written { row, .. } in written {
        let all = world.routes.of(&row.route, &row.event_type).unwrap();
        let names = || all.iter().map(|destination| destination.name().to_owned());
        let missing: Vec<String> =
            names().filter(|name| !accepted.contains(&(row.sk.clone(), name.clone()))).collect();
        let Some(case) = cases.get(&row.sk) else {
            if missing.is_empty() {
                continue;
            }
            return Err(format!("{} was lost: {missing:?} never accepted it", row.sk));
        };
        if let Some(name) = missing.iter().find(|name| !case.destinations.contains(name)) {
            return Err(format!("{} is still owed to {name}, which the quarantine does not say", row.sk));
        }
        let fits = !case.destinations.is_empty()
            && case.destinations.iter().all(|name| names().any(|other| other == *name))
            && case.body == row.body
            && !case.detail.is_empty();
        if !fits {
            return Err(format!("the case of {} is not about it: {case:?}", row.sk));
        }
    }
    match cases.keys().find(|id| written.iter().all(|written| written.row.sk != **id)) {
        Some(id) => Err(format!("{id} is in the quarantine and was never committed")),
        None => Ok(()),
    }
}

/// FIFO destinations accept an aggregate's events first in their order, unless a give-up or the quarantine was reported.
fn order(world: &World<'_>, written: &[Written], cases: &HashMap<String, Case>) -> Check {
    let mut first: HashMap<(String, String), usize> = HashMap::new();
    for (at, publication) in world.publisher.accepted().into_iter().enumerate() {
        first.entry(publication).or_insert(at);
    }
    let given_up = world.given_up.lock().unwrap();
    for aggregate in 0..world.scenario.aggregates.len() {
        let rows: Vec<&Written> = written.iter().filter(|row| row.aggregate == aggregate).collect();
        if rows.iter().any(|row| given_up.contains(&row.row.pk) || cases.contains_key(&row.row.sk)) {
            continue;
        }
        if !is_ordered(world, aggregate, &rows) {
            continue;
        }
        // The last publication at each destination, in the order of commits, which is that of the numbers.
        let mut last: HashMap<&str, (usize, &str)> = HashMap::new();
        for Written { row, .. } in rows {
            for to in world.routes.of(&row.route, &row.event_type).unwrap().iter().filter(|to| to.is_fifo()) {
                let at = first[&(row.sk.clone(), to.name().to_owned())];
                if let Some((before, id)) = last.insert(to.name(), (at, &row.sk))
                    && before > at
                {
                    return Err(format!("{} was published at {to} before {id}", row.sk));
                }
            }
        }
    }
    Ok(())
}

/// Whether the aggregate has an order that everybody can see: numbers, or ids. Late ids are none. Nor are numbers of rows
/// that sweepers need not wait for, since a sweep goes by ids and sees rows come while it does.
fn is_ordered(world: &World<'_>, aggregate: usize, rows: &[&Written]) -> bool {
    let bound = match world.scenario.aggregates[aggregate].numbering {
        Numbering::All => world.scenario.grace / 2,
        Numbering::None | Numbering::Every2nd => 0,
    };
    rows.iter().all(|row| row.late <= bound)
}
