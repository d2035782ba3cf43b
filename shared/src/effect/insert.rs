use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::types::{AttributeValue, Put};

use super::names;
use super::single::{Guarded, Settled, Write};
use super::stored::text;
use crate::event::Envelope;
use crate::store::Item;
use crate::telemetry::Hidden;

/// One insert that is the whole effect: the business key is the inbox key, with one conditional `PutItem` and no inbox
/// row.
///
/// The item keeps the event's key in `inserted_by` and its body's hash in `body_hash` ([`names`](super::names)). The
/// same event again is a duplicate; the same id with another content, another event's item and an item that no event
/// inserted are permanent. Nothing that is there is ever overwritten.
///
/// So the business key must follow from the event: a handler that mints a key inserts anew with each delivery. Use it
/// where "there is one" is the effect, such as a ledger entry by its own id; not where a later event may insert the
/// same key.
///
/// The guard lasts as long as the item and these two attributes. Other code may update the item (an
/// [`Upsert`](super::Upsert) too), but not replace it; an item that was deleted, by TTL too, is inserted again if its
/// event comes back.
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::AttributeValue;
/// use oncebox::effect::Insert;
///
/// #[derive(serde::Serialize)]
/// struct Entry<'a> {
///     payment_id: &'a str,
///     cents: u64,
/// }
///
/// let entry = serde_dynamo::to_item(Entry { payment_id: "p-1", cents: 250 })?;
/// let insert = Insert::once("ledger", ["payment_id"], entry);
/// # drop(insert);
/// # Ok::<(), serde_dynamo::Error>(())
/// ```
#[must_use = "an insert happens only when the handler returns it"]
pub struct Insert {
    table: String,
    key: Vec<String>,
    item: Item,
}

impl Insert {
    /// Inserts `item` if nothing has its key. `key` names the table's key attributes: the partition key, and the sort
    /// key where there is one.
    ///
    /// The item must have them, and must not have `inserted_by` or `body_hash`; otherwise the event is permanent, before
    /// any call.
    pub fn once<K>(table: impl Into<String>, key: K, item: Item) -> Self
    where
        K: IntoIterator,
        K::Item: Into<String>,
    {
        Self { table: table.into(), key: key.into_iter().map(Into::into).collect(), item }
    }

    fn check(&self) -> Result<(), String> {
        let table = &self.table;
        if self.key.is_empty() {
            return Err(format!("the insert into table {table:?} names no key attribute"));
        }
        if let Some(name) = self.key.iter().find(|name| !self.item.contains_key(*name)) {
            return Err(format!("the item for table {table:?} has no {name:?}, which is named as its key"));
        }
        let of_guard = [names::INSERTED_BY, names::BODY_HASH];
        match of_guard.into_iter().find(|name| self.item.contains_key(*name)) {
            Some(name) => {
                Err(format!("the item for table {table:?} has {name:?}, which an insert keeps for itself"))
            }
            None => Ok(()),
        }
    }
}

impl Guarded for Insert {
    fn write(&self, event: &Envelope) -> Result<Write, String> {
        self.check()?;
        let mut item = self.item.clone();
        let key = event.key().as_str().to_owned();
        item.insert(names::INSERTED_BY.to_owned(), AttributeValue::S(key));
        item.insert(names::BODY_HASH.to_owned(), AttributeValue::S(event.body_hash().as_str().to_owned()));
        // All of them, so that a name too many cannot make the condition true over an item that is there.
        let condition: Vec<_> =
            (0..self.key.len()).map(|at| format!("attribute_not_exists(#k{at})")).collect();
        let aliases: HashMap<_, _> =
            self.key.iter().enumerate().map(|(at, name)| (format!("#k{at}"), name.clone())).collect();
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition.join(" AND "))
            .set_expression_attribute_names(Some(aliases));
        put.build().map(Write::Put).map_err(|error| error.to_string())
    }

    fn settle(&self, old: Option<&Item>, event: &Envelope) -> Settled {
        let table = &self.table;
        if old.is_none() {
            return Settled::Unexplained;
        }
        let Some(by) = text(old, names::INSERTED_BY) else {
            return Settled::Permanent(format!(
                "an item that no event inserted has this key in table {table:?}"
            ));
        };
        if by != event.key().as_str() {
            return Settled::Permanent(format!(
                "another event has inserted the item with this key in table {table:?}"
            ));
        }
        match text(old, names::BODY_HASH) {
            Some(hash) if hash != event.body_hash().as_str() => Settled::Permanent(format!(
                "another event with this id, but other content, has inserted the item in table {table:?}"
            )),
            _ => Settled::Ours,
        }
    }
}

impl fmt::Debug for Insert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insert")
            .field("table", &self.table)
            .field("key", &self.key)
            .field("item", &Hidden::attributes(&self.item))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::samples::{event, event_with, key, key_of, text};

    fn item(by: &str, hash: &str) -> Item {
        let mut item = key();
        item.insert(names::INSERTED_BY.to_owned(), text(&key_of(by)));
        item.insert(names::BODY_HASH.to_owned(), text(hash));
        item
    }

    #[test]
    fn who_has_inserted_decides() {
        let insert = Insert::once("ledger", ["pk"], key());
        let settle = |old: Option<&Item>| insert.settle(old, &event("a"));
        let hash = event("a").body_hash();
        assert_eq!(settle(Some(&item("a", hash.as_str()))), Settled::Ours);
        for (old, why) in [
            (item("a", event_with("a", "[1]").body_hash().as_str()), "other content"),
            (item("b", hash.as_str()), "another event has inserted"),
            (key(), "no event inserted"),
        ] {
            let settled = settle(Some(&old));
            assert!(
                matches!(&settled, Settled::Permanent(said) if said.contains(why) && said.contains("ledger"))
            );
        }
        assert_eq!(settle(None), Settled::Unexplained);
        let mut without_hash = item("a", "");
        without_hash.remove(names::BODY_HASH);
        assert_eq!(settle(Some(&without_hash)), Settled::Ours, "it cannot contradict");
    }

    #[test]
    fn an_item_that_cannot_be_inserted_once_is_refused() {
        let refused = |key: &[&str], item: Item| {
            Insert::once("ledger", key.iter().copied(), item).write(&event("a")).unwrap_err()
        };
        assert!(refused(&[], key()).contains("no key attribute"));
        assert!(refused(&["pk", "sk"], key()).contains("\"sk\""));
        for kept in [names::INSERTED_BY, names::BODY_HASH] {
            let mut item = key();
            item.insert(kept.to_owned(), text("a payload"));
            let why = refused(&["pk"], item);
            assert!(why.contains(kept) && !why.contains("payload"), "{why}");
        }
    }

    #[test]
    fn every_named_key_attribute_must_be_absent() {
        let mut item = key();
        item.insert("sk".to_owned(), text("1"));
        let written = Insert::once("ledger", ["pk", "sk"], item).write(&event("a")).unwrap();
        let Write::Put(put) = written else { panic!("{written:?}") };
        assert_eq!(
            put.condition_expression.as_deref(),
            Some("attribute_not_exists(#k0) AND attribute_not_exists(#k1)")
        );
    }
}
