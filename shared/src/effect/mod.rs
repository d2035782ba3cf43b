//! What a handler returns: effects for the engine to commit.

mod effects;
mod outcome;
mod reads;
mod upsert;

pub use effects::{Effects, OnFailed};
pub use outcome::{Outcome, Work};
pub use reads::{ReadError, Reads};
pub(crate) use upsert::Settled;
pub use upsert::Upsert;
