//! The connection that is opened at the start: it helps, and never stands in the way.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Reads, Upsert};
use oncebox::event::Message;
use oncebox::relay::{Relay, Routes};
use oncebox::testing::{GetFault, MemoryPublisher, Operation, SqsBatch, item, text};
use oncebox::time::Clock;

use crate::bench::{Bench, Paid, body, listed};
use crate::telemetry::capture::Capture;

const NOT_READ: &str = "the table could not be read at the start";

#[tokio::test(start_paused = true)]
async fn it_is_one_read_of_the_own_table() {
    let (capture, _guard) = Capture::start("info");
    let bench = Bench::new();
    bench.consumer.warm_up().await;
    let store = Arc::new(bench.store.clone());
    let routes = r#"{"Order": ["https://a"]}"#.parse::<Routes>().unwrap();
    Relay::new(store, Arc::new(MemoryPublisher::default()), "outbox", routes).warm_up().await;
    let calls: Vec<_> = bench.store.calls().into_iter().map(|call| (call.operation, call.table)).collect();
    assert_eq!(calls, [(Operation::Get, "inbox".to_owned()), (Operation::Get, "outbox".to_owned())]);
    assert!(capture.text().is_empty());
}

async fn replaced(event: Message<Paid>, _reads: Reads) -> Result<Upsert, HandlerError> {
    let sequence = event.sequence().ok_or_else(|| HandlerError::permanent("no sequence"))?;
    Ok(Upsert::if_newer("accounts", item([("id", text(&event.account))]), sequence))
}

#[tokio::test(start_paused = true)]
async fn without_an_inbox_there_is_nothing_to_read() {
    let bench = Bench::new();
    let builder = Consumer::builder("none", Arc::new(bench.store.clone()));
    let consumer = builder.on(replaced).build().unwrap();
    consumer.warm_up().await;
    assert!(bench.store.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_and_events_are_handled_as_ever() {
    let (capture, _guard) = Capture::start("info");
    let bench = Bench::new();
    bench.store.on_get(GetFault::Throttled);
    bench.consumer.warm_up().await;
    let lines = capture.lines(NOT_READ);
    assert!(lines.len() == 1 && lines[0]["table"] == "inbox" && lines[0]["level"] == "WARN", "{lines:?}");
    let batch = SqsBatch::standard("q").record("1", &body(1, "a", "ok"));
    let answer = bench.consumer.handle(&batch.to_json(), bench.clock.deadline_in(10_000)).await.unwrap();
    assert!(listed(&answer).is_empty() && bench.paid("a") == "1");
}

#[tokio::test(start_paused = true)]
async fn a_table_that_does_not_answer_costs_a_second_of_the_start() {
    let (capture, _guard) = Capture::start("info");
    let bench = Bench::new();
    bench.store.before_get(std::future::pending::<()>);
    let began = bench.clock.now();
    bench.consumer.warm_up().await;
    assert_eq!(Duration::try_from(bench.clock.now().duration_since(began)).unwrap(), Duration::from_secs(1));
    assert_eq!(capture.lines(NOT_READ).len(), 1);
}
