use std::collections::BTreeMap;
use std::ops::Bound;

use aws_sdk_dynamodb::types::AttributeValue;

use super::index::Index;
use super::refusal::Refusal;
use super::stream::{Change, StreamEntry};
use crate::store::Item;

/// A primary key: partition, and sort where the table has one.
pub(crate) type Key = (String, Option<String>);

/// One declared table: its schema, its items in key order, its stream.
#[derive(Debug)]
pub(crate) struct Table {
    partition: String,
    sort: Option<String>,
    items: BTreeMap<Key, Item>,
    pub(crate) stream: Vec<StreamEntry>,
    indexes: BTreeMap<String, Index>,
}

impl Table {
    pub(crate) fn new(partition: &str, sort: Option<&str>) -> Self {
        Self {
            partition: partition.to_owned(),
            sort: sort.map(str::to_owned),
            items: BTreeMap::new(),
            stream: Vec::new(),
            indexes: BTreeMap::new(),
        }
    }

    pub(crate) fn add_index(&mut self, name: &str, index: Index) {
        self.indexes.insert(name.to_owned(), index);
    }

    pub(crate) fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.get(name)
    }

    pub(crate) fn is_partition(&self, name: &str) -> bool {
        self.partition == name
    }

    /// The attributes of `item` that make up its key.
    pub(crate) fn key_part(&self, item: &Item) -> Item {
        item.iter()
            .filter(|(name, _)| self.is_key_attribute(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Items behind a key, in key order.
    pub(crate) fn after(&self, key: Option<&Key>) -> impl Iterator<Item = (&Key, &Item)> {
        let from = key.map_or(Bound::Unbounded, Bound::Excluded);
        self.items.range((from, Bound::Unbounded))
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Item> {
        self.items.get(key)
    }

    /// The attributes of the key, for an update that creates its item.
    pub(crate) fn key_item(&self, key: &Key) -> Item {
        let mut item = Item::from([(self.partition.clone(), AttributeValue::S(key.0.clone()))]);
        if let (Some(name), Some(value)) = (&self.sort, &key.1) {
            item.insert(name.clone(), AttributeValue::S(value.clone()));
        }
        item
    }

    pub(crate) fn is_key_attribute(&self, name: &str) -> bool {
        self.partition == name || self.sort.as_deref() == Some(name)
    }

    /// The key in `item`, which holds the key's attributes and, unless `alone`, others.
    pub(crate) fn key_of(&self, item: &Item, alone: bool) -> Result<Key, BadKey> {
        let expected = 1 + usize::from(self.sort.is_some());
        if alone && item.len() != expected {
            return Err(BadKey::Mismatch);
        }
        let part = |name: &String| match item.get(name) {
            Some(AttributeValue::S(text)) if text.is_empty() => Err(BadKey::Empty),
            Some(AttributeValue::S(text)) => Ok(text.clone()),
            _ => Err(BadKey::Mismatch),
        };
        Ok((part(&self.partition)?, self.sort.as_ref().map(part).transpose()?))
    }

    /// Puts `new` in the key's place, or takes away what is there, and logs the change if there is one.
    pub(crate) fn write(&mut self, key: &Key, new: Option<Item>, sequence: u128, at_ms: i64) {
        let old = match &new {
            Some(item) => self.items.insert(key.clone(), item.clone()),
            None => self.items.remove(key),
        };
        if old != new
            && let Some(change) = Change::between(old.is_some(), new.is_some())
        {
            self.stream.push(StreamEntry {
                sequence: sequence.to_string(),
                change,
                at_ms,
                keys: self.key_item(key),
                new_image: new,
                old_image: old,
            });
        }
    }
}

/// What is wrong with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadKey {
    /// An empty string: DynamoDB refuses the whole call.
    Empty,
    /// Attributes missing, too many or of another type: a transaction reports the position.
    Mismatch,
}

impl From<BadKey> for Refusal {
    fn from(bad: BadKey) -> Self {
        match bad {
            BadKey::Empty => Self::invalid("a key attribute is an empty string"),
            BadKey::Mismatch => Self::invalid("the provided key element does not match the schema"),
        }
    }
}
