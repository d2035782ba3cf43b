//! The whole system on the emulator: real functions under the Lambda Runtime API, the real template.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod consumers;
mod keep;
mod keys;
mod orders;
mod projection;
mod start;
