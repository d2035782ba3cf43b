//! The stream poller of the harness: each rule against a function that fails on command, and the real relay behind it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod function;
mod relay;
mod rules;
mod sources;
