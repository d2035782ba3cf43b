//! Tests of handlers and producers, written as given, when and then.
//!
//! A test states what is there, builds the consumer as the function's own code does, lets messages come in, and looks
//! at what became of them. It runs the real engine on [`MemoryStore`](super::MemoryStore), with faults where the test
//! wants them, on paused time: no AWS, no waiting, no network. Tests are plain `#[test]` functions; the kit has its
//! own runtime.
//!
//! ```
//! use std::borrow::Cow;
//! use std::sync::Arc;
//!
//! use aws_sdk_dynamodb::types::Update;
//! use oncebox::consumer::{BuildError, Consumer, HandlerError, Visibility};
//! use oncebox::effect::{Effects, OnFailed, Reads};
//! use oncebox::event::{Event, Message};
//! use oncebox::quarantine::{Quarantine, Reason};
//! use oncebox::store::Store;
//! use oncebox::testing::kit::Given;
//! use oncebox::testing::{Fault, item, number, text};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Paid {
//!     account: String,
//!     cents: i64,
//! }
//!
//! impl Event for Paid {
//!     const TYPE: &'static str = "Paid";
//!     const AGGREGATE_TYPE: &'static str = "Account";
//!
//!     fn aggregate_id(&self) -> Cow<'_, str> {
//!         Cow::Borrowed(&self.account)
//!     }
//! }
//!
//! async fn book(event: Message<Paid>, _reads: Reads) -> Result<Effects, HandlerError> {
//!     let update = Update::builder()
//!         .table_name("accounts")
//!         .key("id", text(&event.account))
//!         .update_expression("ADD cents :cents")
//!         .condition_expression("attribute_exists(id)")
//!         .expression_attribute_values(":cents", number(event.cents))
//!         .build()?;
//!     Ok(Effects::new().update(update).on_failed(OnFailed::Permanent("no such account".into())))
//! }
//!
//! fn consumer(store: Arc<dyn Store>) -> Result<Consumer<()>, BuildError> {
//!     let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
//!     Consumer::builder("booking", store).inbox("inbox").quarantine(quarantine).on(book).build()
//! }
//!
//! // In a crate of yours this is the body of a #[test].
//! Given::new()
//!     .table("accounts", "id")
//!     .item("accounts", item([("id", text("a-1")), ("cents", number(100))]))
//!     .consumer(|kit| consumer(kit.store()))
//!     .with_fault(Fault::LostAnswer)
//!     .when(&Paid { account: "a-1".into(), cents: 20 })
//!     .then_applied()
//!     .redelivered()
//!     .then_duplicate()
//!     .then_item("accounts", "a-1", |account| assert_eq!(account["cents"], number(120)))
//!     .when(&Paid { account: "nobody".into(), cents: 20 })
//!     .then_quarantined(Reason::Permanent, "no such account");
//! ```

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "these are assertions of tests, which fail by panicking"
)]

#[cfg(feature = "consumer")]
mod deliver;
mod given;
#[cfg(feature = "consumer")]
mod incoming;
mod key;
mod parts;
mod producer;
mod scenario;
mod state;
mod story;
#[cfg(test)]
mod tests;
#[cfg(feature = "consumer")]
mod verdicts;
#[cfg(feature = "consumer")]
mod visibility;

pub use given::Given;
#[cfg(feature = "consumer")]
pub use incoming::Incoming;
pub use key::TableKey;
pub use parts::Kit;
pub use producer::Called;
pub use scenario::Scenario;
#[cfg(feature = "consumer")]
pub use visibility::MemoryVisibility;
