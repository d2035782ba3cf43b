//! HTTP effects: every crash point against every behaviour of a provider, with the provider's ledger checked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bench;
mod engine;
mod http;
mod matrix;
mod mortal;
mod world;
