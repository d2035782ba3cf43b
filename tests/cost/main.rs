//! What a batch costs in calls and write units: counted on an emulator that answers its `ConsumedCapacity`, and compared
//! with the tables of docs/cost.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of it is test code"
)]

mod consumer;
mod relay;
mod world;

const DOC: &str = include_str!("../../docs/cost.md");

/// The table of docs/cost.md below `<!-- measured: NAME -->` must be what was measured.
fn documented(name: &str, measured: &[String]) {
    let mark = format!("<!-- measured: {name} -->\n");
    let rest = DOC.split_once(&mark).map(|(_, rest)| rest).unwrap_or_default();
    let table: Vec<&str> = rest.lines().take_while(|line| line.starts_with('|')).skip(2).collect();
    assert_eq!(table, measured, "docs/cost.md, table {name:?}; it has to say\n{}\n", measured.join("\n"));
}

#[tokio::test]
async fn the_relay_costs_what_is_documented() {
    documented("relay", &relay::table().await);
}

#[tokio::test]
async fn a_sweep_costs_what_is_documented() {
    documented("sweep", &relay::sweeps().await);
}

#[tokio::test]
async fn a_consumer_costs_what_is_documented() {
    documented("consumer", &consumer::table().await);
}
