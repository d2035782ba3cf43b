//! Secondary indexes and pages. An index is computed when it is read, so that it never lags.

use std::cmp::Ordering;

use aws_sdk_dynamodb::types::AttributeValue;

use super::decimal::Decimal;
use super::refusal::Refusal;
use super::table::{Key, Table};
use super::value::canonical_item;
use crate::store::{Item, PAGE, Page, Pages};

/// A global secondary index: the attributes of its key. Items that lack one of them are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    partition: String,
    sort: Option<String>,
}

/// An item's place in an index: partition, sort value, and what tells equal ones apart.
type Place = (String, Sort, Key);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    None,
    Number(Decimal),
    Text(String),
}

impl Index {
    pub(crate) fn new(partition: &str, sort: Option<&str>) -> Self {
        Self { partition: partition.to_owned(), sort: sort.map(str::to_owned) }
    }

    fn place(&self, item: &Item, key: &Key) -> Option<Place> {
        let partition = item.get(&self.partition)?.as_s().ok()?.clone();
        let sort = match self.sort.as_ref().map(|name| item.get(name)) {
            None => Sort::None,
            Some(Some(AttributeValue::S(text))) => Sort::Text(text.clone()),
            Some(Some(AttributeValue::N(text))) => Sort::Number(Decimal::parse(text).ok()?),
            Some(_) => return None,
        };
        Some((partition, sort, key.clone()))
    }

    /// The attributes of the index's key and of the table's.
    fn position(&self, table: &Table, item: &Item, key: &Key) -> Item {
        let mut position = table.key_item(key);
        for name in [Some(&self.partition), self.sort.as_ref()].into_iter().flatten() {
            position.extend(item.get(name).map(|value| (name.clone(), value.clone())));
        }
        position
    }

    fn page(&self, table: &Table, only: Option<&str>, start: Option<&Item>) -> Result<Page, Refusal> {
        let after = match start {
            None => None,
            Some(start) => {
                let key = table.key_of(&table.key_part(start), true)?;
                let place = self.place(start, &key);
                Some(place.ok_or_else(|| Refusal::invalid("the exclusive start key is not in the index"))?)
            }
        };
        let places = table.after(None).filter_map(|(key, item)| Some((self.place(item, key)?, key, item)));
        let mut rest: Vec<_> = places
            .filter(|(place, ..)| only.is_none_or(|value| place.0 == value))
            .filter(|(place, ..)| after.as_ref().is_none_or(|after| place.cmp(after) == Ordering::Greater))
            .collect();
        rest.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let more = rest.len() > PAGE;
        rest.truncate(PAGE);
        let next = rest.last().filter(|_| more).map(|(_, key, item)| self.position(table, item, key));
        Ok(Page { items: rest.into_iter().map(|(.., item)| item.clone()).collect(), next })
    }
}

/// One page. `start` is the last position of the page before.
pub(crate) fn page(table: &Table, of: Pages<'_>, start: Option<&Item>) -> Result<Page, Refusal> {
    let start = start.map(canonical_item).transpose()?;
    let index = |name: &str| {
        table.index(name).ok_or_else(|| Refusal::invalid(format!("the table has no index {name:?}")))
    };
    match of {
        Pages::Table(_) => primary(table, None, start.as_ref()),
        Pages::Index { index: name, .. } => index(name)?.page(table, None, start.as_ref()),
        Pages::Partition { index: Some(name), key, value, .. } => {
            let index = index(name)?;
            if index.partition != key {
                return Err(Refusal::invalid("query condition missed key schema element"));
            }
            index.page(table, Some(value), start.as_ref())
        }
        Pages::Partition { index: None, key, value, .. } => {
            if !table.is_partition(key) {
                return Err(Refusal::invalid("query condition missed key schema element"));
            }
            primary(table, Some(value), start.as_ref())
        }
    }
}

fn primary(table: &Table, only: Option<&str>, start: Option<&Item>) -> Result<Page, Refusal> {
    let after = start.map(|start| table.key_of(start, true)).transpose()?;
    let rest = table.after(after.as_ref()).filter(|(key, _)| only.is_none_or(|value| key.0 == value));
    let mut found: Vec<_> = rest.take(PAGE + 1).collect();
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|(key, _)| table.key_item(key));
    Ok(Page { items: found.into_iter().map(|(_, item)| item.clone()).collect(), next })
}
