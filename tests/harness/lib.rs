//! What the tests stand on: emulators, the clients that talk to them, tables.

mod client;
mod dynoxide;
mod error;
mod ministack;
mod stack;
mod tables;

pub use client::{dynamo_client, sqs_client};
pub use dynoxide::Dynoxide;
pub use error::StartError;
pub use ministack::MiniStack;
pub use stack::{Stack, built, http_event, wait_for};
pub use tables::{TableSpec, create_table};
