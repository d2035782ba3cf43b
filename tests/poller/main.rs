//! The harness's stand-in for an event source mapping, against a function that fails on command; then the relay behind it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bench;
mod filters;
mod limits;
mod order;
mod rules;
