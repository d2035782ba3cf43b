use std::fmt;

use uuid::Uuid;

/// The id of an event that this system minted: a UUID v7 in lower case with hyphens.
///
/// It travels in the body and never changes, however often the event is published or delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(Uuid);

impl EventId {
    /// Wraps an id from [`Ids`](crate::time::Ids).
    #[must_use]
    pub fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The UUID.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// What a consumer remembers an event by.
///
/// An id that is a UUID stands alone, in its normal spelling, so that `{…}`, upper case and `urn:uuid:` are one
/// event. Any other id is only unique within its source (CloudEvents 1.0, "id"), hence `{source}#{id}`; where that is
/// longer than 512 bytes, `sha256:` and its hash, since a DynamoDB key is bounded (2048 bytes, less what stands beside
/// it).
///
/// # Examples
/// ```
/// use oncebox::event::EventKey;
///
/// let plain = EventKey::of("/orders", "0190a3e4-7b1c-7def-8a00-000000000001");
/// let loud = EventKey::of("/elsewhere", "0190A3E47B1C7DEF8A00000000000001");
/// assert_eq!(plain, loud);
/// assert_eq!(EventKey::of("/orders", "42").as_str(), "/orders#42");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventKey(String);

impl EventKey {
    /// The key of `id` from `source`.
    #[must_use]
    pub fn of(source: &str, id: &str) -> Self {
        match Uuid::try_parse(id) {
            Ok(uuid) => Self(uuid.hyphenated().to_string()),
            Err(_) => Self(bounded(format!("{source}#{id}"))),
        }
    }

    /// A key that was stored before.
    pub(crate) fn stored(key: String) -> Self {
        Self(key)
    }

    /// The key as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<EventId> for EventKey {
    fn from(id: EventId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `key`, or its hash where it is longer than a table key should be.
pub(crate) fn bounded(key: String) -> String {
    const MAX: usize = 512;
    if key.len() <= MAX {
        return key;
    }
    format!("sha256:{}", super::sha256_hex(&key))
}
