//! What cannot succeed is kept here with everything a person needs to decide, instead of blocking others or being
//! dropped.
//!
//! A case never expires by itself: it stays until a person has settled it.

mod case;
mod cases;
#[cfg(any(feature = "consumer", feature = "relay"))]
mod keep;
mod row;
mod write;

pub use case::{Case, Reason};
pub use cases::{CaseKey, Cases, SettleError, StoredCase};
#[cfg(feature = "remote")]
pub(crate) use row::cut;
pub use row::{ReadError, names, read};
pub use write::{Quarantine, QuarantineError};
