use jiff::Timestamp;

use crate::outbox::{Row, names};
use crate::store::{Item, Pages};

/// Which kept rows are replayed: those that meet all that is asked.
///
/// # Examples
/// ```
/// use oncebox::relay::Selection;
///
/// let one_order = Selection::all().aggregate("Order", "o-1");
/// let one_event = one_order.clone().event("0190b3a4-7e1c-7000-8000-000000000001");
/// let a_day = Selection::all()
///     .event_type("OrderPlaced")
///     .from("2027-01-15T00:00:00Z".parse()?)
///     .until("2027-01-16T00:00:00Z".parse()?);
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pk: Option<String>,
    event: Option<String>,
    event_type: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Selection {
    /// Every kept row. Without an [aggregate](Self::aggregate), the whole table is read, whatever else is asked.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only rows of one aggregate; only its partition is read.
    #[must_use]
    pub fn aggregate(mut self, aggregate_type: &str, aggregate_id: &str) -> Self {
        self.pk = Some(format!("{aggregate_type}#{aggregate_id}"));
        self
    }

    /// Only the event with this id; with an aggregate a single read.
    #[must_use]
    pub fn event(mut self, id: impl Into<String>) -> Self {
        self.event = Some(id.into());
        self
    }

    /// Only events of this type.
    #[must_use]
    pub fn event_type(mut self, event_type: impl Into<String>) -> Self {
        self.event_type = Some(event_type.into());
        self
    }

    /// Only rows written at `time` or later.
    #[must_use]
    pub fn from(mut self, time: Timestamp) -> Self {
        self.from = Some(time);
        self
    }

    /// Only rows written before `time`.
    #[must_use]
    pub fn until(mut self, time: Timestamp) -> Self {
        self.until = Some(time);
        self
    }

    pub(super) fn pages<'a>(&'a self, table: &'a str) -> Pages<'a> {
        match &self.pk {
            Some(value) => Pages::Partition { table, index: None, key: names::PK, value },
            None => Pages::Table(table),
        }
    }

    /// The key of the one row that is asked for, where that is known.
    pub(super) fn single(&self) -> Option<Item> {
        let (pk, sk) = (self.pk.as_ref()?, self.event.as_ref()?);
        Some(crate::outbox::key(pk, sk))
    }

    pub(super) fn takes(&self, row: &Row) -> bool {
        let written = Timestamp::from_millisecond(row.created_at).unwrap_or_default();
        self.pk.as_ref().is_none_or(|pk| *pk == row.pk)
            && self.event.as_ref().is_none_or(|id| *id == row.sk)
            && self.event_type.as_ref().is_none_or(|name| *name == row.event_type)
            && self.from.is_none_or(|from| written >= from)
            && self.until.is_none_or(|until| written < until)
    }
}
