//! What the tests stand on: emulators, the clients that talk to them, tables.

mod capacity;
mod client;
mod dynoxide;
mod error;
mod late;
pub mod mapping;
mod ministack;
mod provider;
mod sample;
mod stack;
mod tables;

pub use capacity::{CapacityMeter, Consumed};
pub use client::{dynamo_client, sqs_client};
pub use dynoxide::Dynoxide;
pub use error::StartError;
pub use late::on_its_way;
pub use ministack::MiniStack;
pub use provider::{Behave, Behaviour, Entry, Ledger, MemoryProvider, ProviderStandIn, Work};
pub use sample::Paid;
pub use stack::{Stack, built, http_event, wait_for};
pub use tables::{IndexSpec, TableSpec, create_table};

// The cases of compile_fail are compiled against this crate alone, and name these through it.
pub use aws_sdk_dynamodb;
pub use oncebox;
