use crate::store::Item;

/// One record of a table's stream, images as with `NEW_AND_OLD_IMAGES`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StreamEntry {
    /// Position in commit order, 21 decimal digits; unique over all tables of the store.
    pub sequence: String,
    /// What happened to the item.
    pub change: Change,
    /// The store's clock at the commit, epoch milliseconds.
    pub at_ms: i64,
    /// The item's key attributes.
    pub keys: Item,
    /// The item after the write; absent for a removal.
    pub new_image: Option<Item>,
    /// The item before the write; absent for an insertion.
    pub old_image: Option<Item>,
}

/// The kind of a [`StreamEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The item was not there before.
    Insert,
    /// The item was there and is different now.
    Modify,
    /// The item is gone.
    Remove,
}

impl Change {
    /// The `eventName` of the stream record: `INSERT`, `MODIFY` or `REMOVE`.
    #[must_use]
    pub fn event_name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }

    pub(super) fn between(before: bool, after: bool) -> Option<Self> {
        match (before, after) {
            (false, true) => Some(Self::Insert),
            (true, true) => Some(Self::Modify),
            (true, false) => Some(Self::Remove),
            (false, false) => None,
        }
    }
}
