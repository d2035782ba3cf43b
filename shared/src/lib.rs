//! Every event's effect happens exactly once on AWS Lambda.
//!
//! Delivery is at least once; the *effect* is exactly once. A producer writes its business change and the event in one
//! DynamoDB transaction ([`outbox`]); the relay drains the outbox table's stream to SNS and SQS with the event's id in
//! the body (`relay`); a consumer writes its inbox key and its effect in one transaction (`consumer`, [`inbox`]).
//!
//! # Features
//! * `outbox` (default): events, the producer's transaction, the inbox key. No Lambda runtime, no SNS or SQS client.
//! * `relay`: the outbox table's stream to SNS and SQS.
//! * `consumer`: SQS batches to effects.
//! * `remote`: calls over HTTP as effects; with `consumer`.
//! * `test-util`: an in-memory store and scripted failures.

pub mod config;
pub mod event;
pub mod inbox;
mod json;
pub mod outbox;
pub mod quarantine;
pub mod retry;
pub mod store;
pub mod time;
#[cfg(any(feature = "consumer", feature = "relay"))]
mod warm_up;

#[cfg(feature = "aws")]
pub mod aws;
#[cfg(feature = "consumer")]
pub mod consumer;
#[cfg(feature = "consumer")]
pub mod effect;
#[cfg(feature = "fault-injection")]
pub mod fault;
#[cfg(not(feature = "fault-injection"))]
mod fault;
#[cfg(feature = "relay")]
pub mod relay;
pub mod telemetry;
#[cfg(feature = "test-util")]
pub mod testing;
