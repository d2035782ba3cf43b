//! Whatever comes, in whatever order, however often, with whatever answers lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;

use oncebox::testing::{SqsBatch, WriteFault};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

use super::world::{Sent, World};
use super::{insert, next, upsert};

/// Of each of the three properties: 10,000 in all.
const CASES: u32 = 3_334;

/// How a set of events comes in.
#[derive(Debug, Clone)]
struct Plan {
    /// Messages in the order in which the queue hands them out first; some are there twice.
    messages: Vec<Sent>,
    batch: usize,
    concurrency: usize,
    /// Little time, so that a lost answer may stay lost.
    hurried: bool,
    faults: Vec<WriteFault>,
}

/// What became of the messages.
struct Done {
    /// Verdicts of each event, in the order in which they were given.
    verdicts: BTreeMap<String, Vec<String>>,
    /// Whether each write was seen by the call that made it: nothing overtook it, and no answer stayed lost.
    exact: bool,
}

fn plans(events: impl Strategy<Value = Vec<Sent>>) -> impl Strategy<Value = Plan> {
    let messages = events.prop_flat_map(|events| {
        let copies = prop::collection::vec(prop_oneof![2 => Just(1_usize), 1 => Just(2)], events.len());
        copies.prop_flat_map(move |copies| {
            let repeated = events.iter().zip(copies).flat_map(|(event, copies)| vec![*event; copies]);
            Just(repeated.collect::<Vec<_>>()).prop_shuffle()
        })
    });
    let fault = prop_oneof![
        3 => Just(WriteFault::Pass),
        3 => Just(WriteFault::LostAnswer),
        2 => Just(WriteFault::Throttled),
        1 => Just(WriteFault::Unknown),
    ];
    let faults = prop::collection::vec(fault, 0..6);
    let concurrency = prop_oneof![Just(1_usize), Just(10)];
    (messages, 1..=6_usize, concurrency, prop::bool::weighted(0.2), faults).prop_map(
        |(messages, batch, concurrency, hurried, faults)| Plan {
            messages,
            batch,
            concurrency,
            hurried,
            faults,
        },
    )
}

/// One or two things with up to three events each, some of a type without a handler.
fn sequences() -> impl Strategy<Value = Vec<Sent>> {
    let types = prop::collection::vec(prop_oneof![3 => Just("Moved"), 1 => Just("Ignored")], 1..=3);
    prop::collection::vec(types, 1..=2).prop_map(|things| {
        let events = (1..).zip(things).flat_map(|(thing, types)| {
            (1..)
                .zip(types)
                .map(move |(sequence, event_type)| Sent { event_type, ..Sent::moved(thing, sequence) })
        });
        events.collect()
    })
}

/// One or two things, each of which one to three events want to insert.
fn rivals() -> impl Strategy<Value = Vec<Sent>> {
    prop::collection::vec(1..=3_u64, 1..=2).prop_map(|things| {
        let events = (1..).zip(things).flat_map(|(thing, rivals)| {
            (0..rivals).map(move |variant| Sent { variant, ..Sent::moved(thing, 1) })
        });
        events.collect()
    })
}

/// Delivers until the queue is empty.
async fn run(world: &World, plan: &Plan) -> Done {
    let within_ms = if plan.hurried { 230 } else { 10_000 };
    let mut queue: VecDeque<(String, Sent, u32)> =
        plan.messages.iter().enumerate().map(|(number, event)| (format!("m{number}"), *event, 1)).collect();
    let mut rounds = 0;
    while !queue.is_empty() {
        rounds += 1;
        assert!(rounds < 500, "the queue does not become quiet: {queue:?}");
        let taken: Vec<_> = queue.drain(..plan.batch.min(queue.len())).collect();
        let batch = taken.iter().fold(SqsBatch::standard("q"), |batch, (id, event, count)| {
            batch.received(id, &event.body(), *count)
        });
        let failed: BTreeSet<_> = world.deliver(&batch, within_ms).await.into_iter().collect();
        let again = taken.into_iter().filter(|(id, ..)| failed.contains(id));
        queue.extend(again.map(|(id, event, count)| (id, event, count + 1)));
    }
    let mut verdicts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for logged in world.logged() {
        verdicts.entry(logged.event_id).or_default().push(logged.verdict);
    }
    let unknown = plan.faults.iter().any(|fault| matches!(fault, WriteFault::Unknown));
    Done { verdicts, exact: plan.concurrency == 1 && !plan.hurried && !unknown }
}

impl Done {
    fn count(&self, event: &Sent, verdict: &str) -> usize {
        self.verdicts.get(&event.id()).map_or(0, |all| all.iter().filter(|one| *one == verdict).count())
    }

    /// Each message ends in one of these verdicts, once; before that it may be transient.
    fn each_ends_in(&self, plan: &Plan, allowed: &[&str]) -> TestCaseResult {
        for event in plan.events() {
            let copies = plan.messages.iter().filter(|message| **message == event).count();
            let ended: usize = allowed.iter().map(|verdict| self.count(&event, verdict)).sum();
            prop_assert_eq!(ended, copies, "{:?}", &event);
            let all = self.verdicts.get(&event.id()).map_or(0, Vec::len);
            prop_assert_eq!(all - ended, self.count(&event, "transient"), "{:?}", &event);
        }
        Ok(())
    }
}

impl Plan {
    fn events(&self) -> BTreeSet<Sent> {
        self.messages.iter().copied().collect()
    }

    fn things(&self) -> BTreeSet<u64> {
        self.messages.iter().map(|event| event.thing).collect()
    }
}

fn holds<P: Debug>(plans: impl Strategy<Value = P>, check: impl AsyncFn(P) -> TestCaseResult) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&plans, |plan| runtime.block_on(check(plan)))
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// Every event is handled, and the newest one is what stays.
#[test]
fn if_newer_ends_at_the_highest_version() {
    let all_handled = sequences().prop_map(|mut events| {
        events.iter_mut().for_each(|event| event.event_type = "Moved");
        events
    });
    holds(plans(all_handled), async |plan| {
        let world = World::new(|builder| builder.on(upsert::newer).concurrency(plan.concurrency));
        for fault in plan.faults.iter().cloned() {
            world.store.on_update(fault);
        }
        let done = run(&world, &plan).await;
        done.each_ends_in(&plan, &["applied", "duplicate", "stale"])?;
        for thing in plan.things() {
            let newest = plan.events().into_iter().rfind(|event| event.thing == thing).unwrap();
            prop_assert_eq!(world.number(thing, "version"), newest.sequence);
            prop_assert_eq!(world.number(thing, "amount"), newest.amount());
            let versions = versions(&world, thing);
            prop_assert!(versions.is_sorted_by(|one, next| one < next), "{:?}", versions);
            for event in plan.events().into_iter().filter(|event| done.exact && event.thing == thing) {
                let written = usize::from(versions.contains(&event.sequence));
                prop_assert_eq!(done.count(&event, "applied"), written, "{:?}", event);
            }
        }
        Ok(())
    });
}

/// Each event once and in order, whether it has a handler or not.
#[test]
fn next_applies_each_event_once_and_in_order() {
    holds(plans(sequences()), async |plan| {
        let world = World::new(|builder| next::handlers(builder).concurrency(plan.concurrency));
        for fault in plan.faults.iter().cloned() {
            world.store.on_update(fault);
        }
        let done = run(&world, &plan).await;
        done.each_ends_in(&plan, &["applied", "duplicate", "stale", "unhandled"])?;
        for thing in plan.things() {
            let events: Vec<_> = plan.events().into_iter().filter(|event| event.thing == thing).collect();
            let expected: Vec<_> = events.iter().map(|event| event.sequence).collect();
            prop_assert_eq!(versions(&world, thing), expected);
            let handled: Vec<_> = events.iter().filter(|event| event.event_type == "Moved").collect();
            let sum: u64 = handled.iter().map(|event| event.amount()).sum();
            prop_assert_eq!(if sum == 0 { 0 } else { world.number(thing, "sum") }, sum);
            for event in &events {
                let is_handled = event.event_type == "Moved";
                prop_assert_eq!(done.count(event, "unhandled") == 0, is_handled);
                if done.exact {
                    prop_assert_eq!(done.count(event, "applied"), usize::from(is_handled), "{:?}", event);
                }
            }
        }
        Ok(())
    });
}

/// One insert for each key; whoever wanted it too is permanent.
#[test]
fn once_inserts_exactly_once() {
    holds(plans(rivals()), async |plan| {
        let world = World::new(|builder| builder.on(insert::once).concurrency(plan.concurrency));
        for fault in plan.faults.iter().cloned() {
            world.store.on_put(fault);
        }
        let done = run(&world, &plan).await;
        for thing in plan.things() {
            prop_assert_eq!(world.history(thing).len(), 1);
            let stored = world.thing(thing).unwrap();
            let (winners, losers): (Vec<_>, Vec<_>) = plan
                .events()
                .into_iter()
                .filter(|event| event.thing == thing)
                .partition(|event| stored["inserted_by"].as_s() == Ok(&event.key()));
            prop_assert_eq!(winners.len(), 1);
            prop_assert_eq!(world.number(thing, "amount"), winners[0].amount());
            for winner in winners {
                prop_assert_eq!(done.count(&winner, "permanent"), 0);
                if done.exact {
                    prop_assert_eq!(done.count(&winner, "applied"), 1);
                }
            }
            for loser in losers {
                prop_assert_eq!(done.count(&loser, "applied") + done.count(&loser, "duplicate"), 0);
            }
        }
        done.each_ends_in(&plan, &["applied", "duplicate", "permanent"])
    });
}

/// The versions that the item has had, in the order of its writes.
fn versions(world: &World, thing: u64) -> Vec<u64> {
    let images = world.history(thing).into_iter().filter_map(|entry| entry.new_image);
    images.map(|image| image["version"].as_n().unwrap().parse().unwrap()).collect()
}
