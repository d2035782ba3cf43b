//! The consumer's half: the inbox key that is written in the same transaction as the effect.
//!
//! Most consumers never touch this module: the engine in `consumer` uses it. A team that has its own
//! `TransactWriteItems` takes [`InboxKey::action`] and [`InboxKey::verdict`] alone.

mod days;
mod key;
mod request;
mod retention;
mod verdict;

pub use days::{Days, NotDays};
pub use key::{InboxKey, names};
pub use request::{IdempotencyKey, NotAKey, Repeat, RequestKey, ResponseTooLarge};
pub use retention::{Retention, WindowTooShort};
pub use verdict::Verdict;
