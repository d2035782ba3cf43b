//! The attribute names that naturally idempotent effects keep in the item that they write. They are stored in customers'
//! tables: a change is a migration.

/// The version, or sequence, of the last applied event ([`Upsert`](super::Upsert), [`UpsertNext`](super::UpsertNext)).
pub const VERSION: &str = "version";
/// The key of the event that wrote that version.
pub const EVENT_ID: &str = "event_id";
/// The key of the event that inserted the item ([`Insert`](super::Insert)). Not `event_id`, so that an item that was
/// inserted once can be upserted later, and still tells a redelivered insert.
pub const INSERTED_BY: &str = "inserted_by";
/// SHA-256 over that event's type and data ([`Insert`](super::Insert)).
pub const BODY_HASH: &str = "body_hash";
