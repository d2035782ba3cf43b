//! What a handler returns: effects for the engine to commit.
//!
//! # When the inbox, when natural idempotency
//!
//! [`Effects`] is right for every handler: the inbox key makes anything idempotent that fits in one transaction. Where
//! the effect is one write to one item, that item can remember its event itself, and the inbox row is saved.
//!
//! | The effect of an event is | Return | Out of order | Remembered | Writes |
//! |---|---|---|---|---|
//! | several items, a relative change, a condition of its own, or events to emit | [`Effects`] | the handler's business | for the inbox window | a transaction: 2 WRU for each KB of the inbox row and of each item |
//! | one new item whose key follows from the event | [`Insert::once`] | no matter | as long as the item lives | 1 WRU for each KB |
//! | the whole new state of one item, with a version | [`Upsert::if_newer`] | the older one is stale, and dropped | as long as the item lives | 1 WRU for each KB |
//! | a part of one item's state, or a change of it, with a sequence without holes | [`Upsert::next`] | the later one waits | as long as the item lives | 1 WRU for each KB |
//!
//! What a false condition means:
//!
//! | The item has | [`Insert::once`] | [`Upsert::if_newer`] | [`Upsert::next`] |
//! |---|---|---|---|
//! | this event | duplicate | duplicate | duplicate |
//! | this event's id, but other content | permanent | duplicate | duplicate |
//! | a newer version | | stale | stale |
//! | the same version from another event | | permanent | permanent |
//! | an older version | | applied | applied if it is the one before, else transient |
//! | no version | | applied | applied if the sequence is 1, else transient |
//! | a version, but no event's id | | permanent | permanent |
//! | another event's insert, or nobody's | permanent | | |
//!
//! "Duplicate" is "applied" if an attempt of the same call may have been the one that wrote: its answer got lost. All
//! three can be sent again for that reason.
//!
//! None of the three is measured by the inbox window: an event of any age is applied if its item says so.
//!
//! An item that one handler inserts may be upserted by others, with `if_newer` from then on. With `next`, the event that
//! creates the item has to be its sequence 1.

mod effects;
mod expression;
mod insert;
pub mod names;
mod next;
mod outcome;
mod reads;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(test)]
mod samples;
mod single;
mod stored;
mod upsert;
mod values;

pub use effects::{Effects, OnFailed};
pub use insert::Insert;
pub use next::UpsertNext;
pub use outcome::Outcome;
pub(crate) use outcome::Work;
pub(crate) use outcome::sealed::IntoWork;
pub use reads::{ReadError, Reads};
pub(crate) use single::{Settled, Single};
pub use upsert::Upsert;
