//! The producer's half: business writes and outbox rows in one transaction.

mod commit;
pub(crate) mod limits;
mod row;
mod transaction;

pub use commit::{CommitError, Committed, Outbox};
pub use limits::LimitError;
pub use row::{Row, RowError, SCHEMA, names};
pub use transaction::Transaction;
