//! The producer's half: business writes and outbox rows in one transaction.

mod commit;
pub(crate) mod deliverable;
pub(crate) mod limits;
mod route;
mod row;
mod transaction;

pub use commit::{CommitError, Committed, Outbox};
pub use limits::LimitError;
pub use route::{Destination, Kind, RouteError, Routes};
pub use row::{Row, RowError, SCHEMA, names};
#[cfg(feature = "relay")]
pub(crate) use row::{is_published, key, number};
pub use transaction::Transaction;
