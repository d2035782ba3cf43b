//! What tests need in place of DynamoDB (feature `test-util`).
//!
//! [`MemoryStore`] behaves like DynamoDB as far as the crate depends on it, and is held to the same contract suite
//! as the real store. [`ScriptedStore`] stands in front of any store and answers with lost answers, conflicts and
//! throttles where a test wants them. [`TestClock`] is time that a test moves. [`kit`] puts them together for tests of
//! handlers, written as given, when and then.

mod clock;
mod ids;
mod items;
pub mod kit;
mod memory;
mod paused;
#[cfg(feature = "relay")]
mod publisher;
mod script;
#[cfg(feature = "consumer")]
mod sqs;
#[cfg(feature = "remote")]
mod transport;

pub use clock::TestClock;
pub use ids::CountedIds;
pub use items::{item, number, text};
pub use memory::{Change, MemoryStore, StreamEntry};
pub use paused::PausedClock;
#[cfg(feature = "relay")]
pub use publisher::MemoryPublisher;
pub use script::{Call, DeleteFault, Fault, GetFault, Operation, PageFault, ScriptedStore, WriteFault};
#[cfg(feature = "consumer")]
pub use sqs::SqsBatch;
#[cfg(feature = "remote")]
pub use transport::{ScriptedTransport, Sends, Sent};
