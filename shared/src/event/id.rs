use std::borrow::Cow;
use std::fmt;

use uuid::{Uuid, Variant};

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
/// An id that is a UUID (RFC 9562, any version) stands alone, in its normal spelling, so that `{…}`, upper case and
/// `urn:uuid:` are one event. Any other id is only unique within its source (CloudEvents 1.0, "id"), hence
/// `{source}#{id}`, with `%` and `#` in the source written as `%25` and `%23`; where that is longer than 512 bytes, `sha256:` and its hash, since a DynamoDB key is bounded (2048 bytes, less what stands beside
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
        match Uuid::try_parse(id).ok().filter(is_unique) {
            Some(uuid) => Self(uuid.hyphenated().to_string()),
            None => Self(bounded(format!("{}#{id}", without_hash(source)))),
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

/// Whether somebody made it to be unique: RFC 9562 has versions 1 to 8. Other 32 digits are a counter or the like.
fn is_unique(uuid: &Uuid) -> bool {
    uuid.get_variant() == Variant::RFC4122 && (1..=8).contains(&uuid.get_version_num())
}

/// The source with its `#` escaped, so that the first one in a key parts source and id: `a#b` with `c` is not `a` with
/// `b#c`.
pub(crate) fn without_hash(source: &str) -> Cow<'_, str> {
    if source.contains(['#', '%']) {
        Cow::Owned(source.replace('%', "%25").replace('#', "%23"))
    } else {
        Cow::Borrowed(source)
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
