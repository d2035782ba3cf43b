//! The faults that people hit, each as a test named after its number, and others of the same kind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bench;
mod consumer_bodies;
mod consumer_isolation;
mod consumer_records;
mod consumer_responses;
mod deadlines;
mod handler_shapes;
mod hostile;
mod identity;
mod keep;
mod low_layer;
mod natural;
mod no_payload;
mod packing;
mod producer;
mod quarantine;
mod redrive;
mod relay;
mod relay_order;
mod remote_edges;
mod retention;
mod sweeper;
mod telemetry;
mod transaction;
mod visibility;
mod warm_up;
mod write_checks;
