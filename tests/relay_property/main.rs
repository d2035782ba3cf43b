//! Properties of relay and sweeper: thousands of random outboxes, streams, failures and deaths over the in-memory store,
//! each played until nothing moves any more.
//!
//! The same cases are drawn in every run. `PROPERTY_SEED=<number>` draws others, `PROPERTY_CASES=<number>` more or fewer
//! of them for each kind of world. A failing case is made smaller and printed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod checks;
mod mapping;
mod play;
mod producer;
mod publisher;
mod scenario;
mod store;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::scenario::{Kind, scenarios};

/// For each of the four kinds of world.
const CASES: u32 = 2500;

fn run(number: u8, kind: Kind) {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut seed = [0_u8; 16];
    seed[..8].copy_from_slice(&setting("PROPERTY_SEED").unwrap_or(1).to_le_bytes());
    seed[8] = number;
    let cases = setting("PROPERTY_CASES").map_or(CASES, |cases| u32::try_from(cases).unwrap());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::XorShift, &seed));
    let outcome = runner.run(&scenarios(kind), |scenario| play::play(&scenario).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, scenario)) => panic!("{reason}\n{scenario:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn stream_and_sweepers() {
    run(0, Kind { stream: true, keep: false });
}

#[test]
fn stream_and_sweepers_keeping_rows() {
    run(1, Kind { stream: true, keep: true });
}

#[test]
fn sweepers_alone() {
    run(2, Kind { stream: false, keep: false });
}

#[test]
fn sweepers_alone_keeping_rows() {
    run(3, Kind { stream: false, keep: true });
}
