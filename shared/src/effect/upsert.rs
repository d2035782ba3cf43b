use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Update};

use crate::event::EventKey;
use crate::store::Item;

/// Attribute that holds the version of the last applied event.
const VERSION: &str = "version";
/// Attribute that holds the key of the event which wrote that version.
const EVENT_ID: &str = "event_id";

/// An absolute write guarded by a version: naturally idempotent, one conditional `UpdateItem`, no inbox row.
///
/// The item keeps the version in `version` and the event's key in `event_id`, so that the same event again is a
/// duplicate, an older one is stale, and another event with the same version is permanent.
///
/// Only for absolute values ("status is RESERVED"). A relative change (`ADD`) needs [`Effects`](super::Effects).
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::AttributeValue;
/// use oncebox::effect::Upsert;
///
/// let key = [("order_id".to_owned(), AttributeValue::S("o-1".into()))];
/// let upsert = Upsert::if_newer("order_status", key.into(), 2).set("status", AttributeValue::S("RESERVED".into()));
/// # drop(upsert);
/// ```
#[derive(Debug)]
#[must_use = "an upsert happens only when the handler returns it"]
pub struct Upsert {
    table: String,
    key: Item,
    version: u64,
    values: Vec<(String, AttributeValue)>,
}

/// What an upsert that did not write means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Duplicate,
    Stale,
    Conflict {
        version: u64,
    },
    /// The condition failed and nothing was there to explain it: somebody removed the item in between.
    Vanished,
}

impl Upsert {
    /// Writes when the item is absent or its version is older than `version`.
    pub fn if_newer(table: impl Into<String>, key: Item, version: u64) -> Self {
        Self { table: table.into(), key, version, values: Vec::new() }
    }

    /// Sets an attribute. `version`, `event_id` and the key's attributes are not for setting: DynamoDB refuses a
    /// write that sets one attribute twice, and the event becomes permanent.
    pub fn set(mut self, name: impl Into<String>, value: AttributeValue) -> Self {
        self.values.push((name.into(), value));
        self
    }

    /// The table.
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    pub(crate) fn update(&self, event: &EventKey) -> Result<Update, aws_sdk_dynamodb::error::BuildError> {
        let mut names = HashMap::from([
            ("#version".to_owned(), VERSION.to_owned()),
            ("#event".to_owned(), EVENT_ID.to_owned()),
        ]);
        let mut values = HashMap::from([
            (":version".to_owned(), AttributeValue::N(self.version.to_string())),
            (":event".to_owned(), AttributeValue::S(event.as_str().to_owned())),
        ]);
        let mut set = "SET #version = :version, #event = :event".to_owned();
        for (index, (name, value)) in self.values.iter().enumerate() {
            set.push_str(&format!(", #v{index} = :v{index}"));
            names.insert(format!("#v{index}"), name.clone());
            values.insert(format!(":v{index}"), value.clone());
        }
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(self.key.clone()))
            .update_expression(set)
            .condition_expression("attribute_not_exists(#version) OR #version < :version")
            .set_expression_attribute_names(Some(names))
            .set_expression_attribute_values(Some(values))
            .build()
    }

    /// Reads the item that stood in the way.
    pub(crate) fn settle(&self, old: Option<&Item>, event: &EventKey) -> Settled {
        let Some(stored) = old.and_then(|item| item.get(VERSION)).and_then(number) else {
            return Settled::Vanished;
        };
        let same_event = old
            .and_then(|item| item.get(EVENT_ID))
            .and_then(|value| value.as_s().ok())
            .is_some_and(|id| id == event.as_str());
        if same_event {
            Settled::Duplicate
        } else if stored > self.version {
            Settled::Stale
        } else if stored == self.version {
            Settled::Conflict { version: stored }
        } else {
            Settled::Vanished
        }
    }
}

fn number(value: &AttributeValue) -> Option<u64> {
    value.as_n().ok().and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> EventKey {
        EventKey::of("/test", id)
    }

    fn stored(version: u64, event: &str) -> Item {
        Item::from([
            (VERSION.to_owned(), AttributeValue::N(version.to_string())),
            (EVENT_ID.to_owned(), AttributeValue::S(key(event).as_str().to_owned())),
        ])
    }

    #[test]
    fn what_stands_in_the_way_decides() {
        let upsert = Upsert::if_newer("t", Item::new(), 2);
        assert_eq!(upsert.settle(Some(&stored(3, "c")), &key("b")), Settled::Stale);
        assert_eq!(upsert.settle(Some(&stored(2, "b")), &key("b")), Settled::Duplicate);
        assert_eq!(upsert.settle(Some(&stored(2, "x")), &key("b")), Settled::Conflict { version: 2 });
        assert_eq!(upsert.settle(None, &key("b")), Settled::Vanished);
        assert_eq!(upsert.settle(Some(&Item::new()), &key("b")), Settled::Vanished);
    }
}
