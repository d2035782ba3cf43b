//! What is measured, in time by criterion and in instructions by `counts`: single steps, and invocations as a whole.
//!
//! Nothing here differs between two runs: ids count up, the clock stands still, no thread is started, and what would be
//! a call to AWS answers at once.

mod consumer;
mod inputs;
mod instant;
mod outbox;
mod relay;

use std::sync::OnceLock;
use std::time::Duration;

use oncebox::telemetry::{JsonLines, filter};
use oncebox::testing::TestClock;
use oncebox::time::{Clock, Deadline};
use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Does one round of work, on the inputs of this number.
pub(crate) type Rounds = Box<dyn FnMut(usize)>;

/// One thing to measure.
pub(crate) struct Work {
    /// Its name in the baseline.
    pub(crate) name: &'static str,
    /// Makes the inputs of so many rounds. Each round checks what it has done, so that work which is not done is not
    /// measured.
    pub(crate) prepare: fn(usize) -> Rounds,
}

/// All of it.
pub(crate) const ALL: &[Work] = &[
    Work { name: "parse-sqs-10", prepare: |_| consumer::parse(10) },
    Work { name: "parse-sqs-1000", prepare: |_| consumer::parse(1000) },
    Work { name: "parse-stream-100", prepare: |_| relay::parse(100) },
    Work { name: "envelope-10", prepare: |_| outbox::commit(10) },
    Work { name: "lanes-100", prepare: |rounds| consumer::lanes(100, rounds) },
    Work { name: "pack-100", prepare: |_| consumer::packs(100) },
    Work { name: "plan-relay-100", prepare: |rounds| relay::plan(100, rounds) },
    Work { name: "plan-relay-fifo-100", prepare: |rounds| relay::plan_fifo(100, rounds) },
    Work { name: "consumer-10", prepare: |_| consumer::handle(10, false) },
    Work { name: "consumer-packed-100", prepare: |_| consumer::handle(100, true) },
    Work { name: "relay-100", prepare: |rounds| relay::handle(100, rounds) },
];

/// Logs as a function does, to nowhere. Once in a process.
pub(crate) fn log_to_nowhere() {
    let lines = JsonLines::new(|line: &str| assert!(!line.is_empty()));
    let _ = tracing_subscriber::registry().with(filter("info")).with(lines).try_init();
}

/// A runtime whose time stands still while there is something to do.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts")
    })
}

fn deadline() -> Deadline {
    Deadline::after(TestClock::default().now(), Duration::from_secs(30))
}
