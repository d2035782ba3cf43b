//! What tests need in place of DynamoDB (feature `test-util`).
//!
//! [`MemoryStore`] behaves like DynamoDB as far as the crate depends on it, and is held to the same contract suite
//! as the real store. [`ScriptedStore`] stands in front of any store and answers with lost answers, conflicts and
//! throttles where a test wants them. [`TestClock`] is time that a test moves.

mod clock;
mod items;
mod memory;
mod script;

pub use clock::TestClock;
pub use items::{item, number, text};
pub use memory::{Change, MemoryStore, StreamEntry};
pub use script::{Call, DeleteFault, Fault, GetFault, Operation, ScriptedStore, UpdateFault};
