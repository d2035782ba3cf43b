use std::cmp::Ordering;

use aws_sdk_dynamodb::types::AttributeValue;

use super::names;
use super::single::Settled;
use crate::event::Envelope;
use crate::store::Item;

/// What an item says about the event that wrote its version.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stored<'a> {
    /// No version: the item is absent, or no event has written to it.
    Nothing,
    /// This version, written by the event with this key.
    Version(u64, &'a str),
    /// A version that cannot be compared, and why.
    Foreign(&'static str),
}

impl<'a> Stored<'a> {
    pub(super) fn read(item: Option<&'a Item>) -> Self {
        let Some(version) = item.and_then(|item| item.get(names::VERSION)) else { return Self::Nothing };
        let Some(event) = text(item, names::EVENT_ID) else {
            return Self::Foreign("has a version that no event wrote: it has no event_id");
        };
        match version.as_n().ok().and_then(|text| text.parse().ok()) {
            Some(version) => Self::Version(version, event),
            None => Self::Foreign("has a version that is no whole number"),
        }
    }

    /// What it means for `event`, which was to write `version` and did not.
    pub(super) fn settle(&self, table: &str, version: u64, event: &Envelope) -> Settled {
        let (stored, by) = match self {
            Self::Nothing => return Settled::Unexplained,
            Self::Foreign(why) => return Settled::Permanent(format!("the item in table {table:?} {why}")),
            Self::Version(stored, by) => (*stored, *by),
        };
        let same = by == event.key().as_str();
        match stored.cmp(&version) {
            Ordering::Less => Settled::Unexplained,
            Ordering::Equal if same => Settled::Ours,
            Ordering::Equal => Settled::Permanent(format!(
                "another event has written version {version} of the item in table {table:?}"
            )),
            Ordering::Greater if same => Settled::Duplicate,
            Ordering::Greater => Settled::Stale,
        }
    }
}

/// A string attribute.
pub(super) fn text<'a>(item: Option<&'a Item>, name: &str) -> Option<&'a str> {
    match item?.get(name)? {
        AttributeValue::S(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::samples::{event, key_of, versioned};

    #[test]
    fn what_stands_in_the_way_decides() {
        let settle = |item: &Item| Stored::read(Some(item)).settle("t", 2, &event("b"));
        assert_eq!(settle(&versioned(3, "c")), Settled::Stale);
        assert_eq!(settle(&versioned(3, "b")), Settled::Duplicate);
        assert_eq!(settle(&versioned(2, "b")), Settled::Ours);
        assert!(matches!(settle(&versioned(2, "x")), Settled::Permanent(why) if why.contains("version 2")));
        assert_eq!(settle(&versioned(1, "a")), Settled::Unexplained);
        assert_eq!(settle(&Item::new()), Settled::Unexplained);
        assert_eq!(Stored::read(None), Stored::Nothing);
    }

    #[test]
    fn a_version_of_somebody_else_is_not_compared() {
        let number = |text: &str| AttributeValue::N(text.to_owned());
        let mut item = versioned(1, "a");
        for odd in
            [number("1.5"), number("-1"), number("18446744073709551616"), AttributeValue::S("1".into())]
        {
            item.insert(names::VERSION.to_owned(), odd);
            assert!(
                matches!(Stored::read(Some(&item)), Stored::Foreign(why) if why.contains("whole number"))
            );
        }
        item.insert(names::VERSION.to_owned(), number("18446744073709551615"));
        assert_eq!(Stored::read(Some(&item)), Stored::Version(u64::MAX, &key_of("a")));
        item.remove(names::EVENT_ID);
        assert!(matches!(Stored::read(Some(&item)), Stored::Foreign(why) if why.contains("event_id")));
    }
}
