use std::sync::Arc;

use oncebox::outbox::Row;
use oncebox::relay::{Relay, steps};
use oncebox::testing::{CountedIds, TestClock};

use super::inputs;
use super::instant::Instant;
use super::{Rounds, deadline, runtime};

/// One route whose calls are full by count, and one whose calls are full by bytes.
const ROUTES: &str = r#"{
    "Order": ["arn:aws:sns:us-east-1:123456789012:orders"],
    "Small": [{"to": "arn:aws:sns:us-east-1:123456789012:small", "max_bytes": 4096}],
    "Fifo": ["arn:aws:sns:us-east-1:123456789012:orders.fifo"]
}"#;

/// A batch from its text to its rows.
pub(super) fn parse(rows: usize) -> Rounds {
    let event = inputs::stream(0..rows, rows, &["Order"]);
    Box::new(move |_| assert_eq!(steps::rows(&event).len(), rows))
}

/// Rows of distinct aggregates into calls: a half of them 10 to a call, the other half as many as fit.
pub(super) fn plan(rows: usize, rounds: usize) -> Rounds {
    let calls = (rows / 2).div_ceil(10) + (rows / 2).div_ceil(6);
    send(rows, rows, &["Order", "Small"], calls, rounds)
}

/// Rows of a FIFO route, four of each aggregate: one wave after another.
pub(super) fn plan_fifo(rows: usize, rounds: usize) -> Rounds {
    let aggregates = rows / 4;
    send(rows, aggregates, &["Fifo"], 4 * aggregates.div_ceil(10), rounds)
}

fn send(rows: usize, aggregates: usize, routes: &[&str], calls: usize, rounds: usize) -> Rounds {
    let (relay, aws) = relay();
    let batches = batches(rows, aggregates, routes, rounds);
    let batches: Vec<Vec<Row>> = batches.iter().map(|event| steps::rows(event)).collect();
    Box::new(move |round| {
        let batch = batches.get(round).expect("a batch for each round");
        assert_eq!(runtime().block_on(steps::send(&relay, batch, deadline())), calls);
        assert_eq!(aws.take(), rows, "each is published once");
    })
}

/// A whole invocation: rows of distinct aggregates to a standard topic, and their deletes.
pub(super) fn handle(rows: usize, rounds: usize) -> Rounds {
    let (relay, aws) = relay();
    let batches = batches(rows, rows, &["Order"], rounds);
    Box::new(move |round| {
        let batch = batches.get(round).expect("a batch for each round");
        let answer = runtime().block_on(relay.handle(batch, deadline())).expect("an answer");
        assert!(answer.batch_item_failures.is_empty());
        assert_eq!(aws.take(), 2 * rows, "each is published and deleted");
    })
}

/// What a relay has published before, it does not publish again: each round has rows of its own.
fn batches(rows: usize, aggregates: usize, routes: &[&str], rounds: usize) -> Vec<String> {
    (0..rounds).map(|round| inputs::stream(round * rows..(round + 1) * rows, aggregates, routes)).collect()
}

fn relay() -> (Relay, Instant) {
    let aws = Instant::default();
    let relay =
        Relay::new(Arc::new(aws.clone()), Arc::new(aws.clone()), "outbox", ROUTES.parse().expect("routes"))
            .with_time(Arc::new(TestClock::default()), Arc::new(CountedIds::default()));
    (relay, aws)
}
