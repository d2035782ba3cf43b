//! Properties of the consumer: thousands of random batches, handlers, failures and deadlines through the engine on the
//! in-memory store.
//!
//! The same cases are drawn in every run. `PROPERTY_SEED=<number>` draws others, `PROPERTY_CASES=<number>` more or fewer
//! of them for each kind of queue. A failing case is made smaller and printed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod checks;
mod ends;
mod play;
mod queue;
mod scenario;
mod state;
mod store;
mod verdicts;
mod world;

use std::panic;
use std::sync::Once;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::checks::Check;
use crate::scenario::{Scenario, scenarios};

/// What handlers panic with; it is not printed.
pub(crate) const ON_PURPOSE: &str = "told to panic";

/// For each of the four kinds of queue.
const CASES: u32 = 2500;
/// Cases that are run packed and unpacked.
const PAIRS: u32 = 500;
/// Cases that are run on an emulator too, in real time.
const EMULATED: u32 = 25;

fn run(kind: u8, cases: u32, scenarios: impl Strategy<Value = Scenario>, holds: fn(&Scenario) -> Check) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some(ON_PURPOSE) {
                loud(info);
            }
        }));
    });
    let _listening = verdicts::listen();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut seed = [0_u8; 16];
    seed[..8].copy_from_slice(&number("PROPERTY_SEED").unwrap_or(1).to_le_bytes());
    seed[8] = kind;
    let cases = number("PROPERTY_CASES").map_or(cases, |cases| u32::try_from(cases).unwrap());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::XorShift, &seed));
    let outcome = runner.run(&scenarios, |scenario| holds(&scenario).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, scenario)) => panic!("{reason}\n{scenario:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn standard_queue() {
    run(0, CASES, scenarios(false, false), play::play);
}

#[test]
fn fifo_queue() {
    run(1, CASES, scenarios(true, false), play::play);
}

#[test]
fn standard_queue_packed() {
    run(2, CASES, scenarios(false, true), play::play);
}

#[test]
fn fifo_queue_packed() {
    run(3, CASES, scenarios(true, true), play::play);
}

#[test]
fn packed_and_unpacked_come_to_the_same_end() {
    let either = prop_oneof![3 => scenarios(false, false), 1 => scenarios(true, false)];
    run(4, PAIRS, either, ends::packed_and_unpacked);
}

#[test]
fn the_memory_store_and_an_emulator_come_to_the_same_end() {
    let any = prop_oneof![scenarios(false, false), scenarios(true, false), scenarios(false, true)];
    run(5, EMULATED, any, ends::memory_and_emulator);
}
