use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;

use super::names;
use crate::store::Item;

/// The attributes that a handler changes, in its order.
#[derive(Default)]
pub(super) struct Values(Vec<(String, AttributeValue)>);

impl Values {
    pub(super) fn push(&mut self, name: impl Into<String>, value: AttributeValue) {
        self.0.push((name.into(), value));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, AttributeValue)> {
        self.0.iter()
    }
}

/// Their names; a value may be anything.
impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// Finds what DynamoDB would refuse for every event, and in fewer words.
///
/// # Errors
/// The reason. It names attributes, never their values.
pub(super) fn check(table: &str, key: &Item, values: &[&Values]) -> Result<(), String> {
    if key.is_empty() {
        return Err(format!("the upsert into table {table:?} has no key"));
    }
    let of_guard = |name: &str| name == names::VERSION || name == names::EVENT_ID;
    if let Some(name) = key.keys().find(|name| of_guard(name)) {
        return Err(format!("the key of table {table:?} has {name:?}, which an upsert keeps for itself"));
    }
    let all: Vec<&str> =
        values.iter().flat_map(|values| values.iter()).map(|(name, _)| name.as_str()).collect();
    for (index, name) in all.iter().enumerate() {
        let problem = if of_guard(name) {
            "is kept by the upsert itself"
        } else if key.contains_key(*name) {
            "is in the key"
        } else if all.iter().skip(index + 1).any(|other| other == name) {
            "is set twice"
        } else {
            continue;
        };
        return Err(format!("attribute {name:?} of the item in table {table:?} cannot be set: it {problem}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::samples::{key, text};

    fn values(names: &[&str]) -> Values {
        let mut values = Values::default();
        for name in names {
            values.push(*name, text("a payload"));
        }
        values
    }

    #[test]
    fn what_cannot_be_set_is_named_and_its_value_is_not() {
        for (set, added, said) in [
            (vec!["version"], vec![], "kept by the upsert"),
            (vec!["a", "event_id"], vec![], "kept by the upsert"),
            (vec![], vec!["version"], "kept by the upsert"),
            (vec!["pk"], vec![], "in the key"),
            (vec!["a", "b", "a"], vec![], "set twice"),
            (vec!["a"], vec!["a"], "set twice"),
        ] {
            let why = check("orders", &key(), &[&values(&set), &values(&added)]).unwrap_err();
            assert!(why.contains(said) && why.contains("orders") && !why.contains("payload"), "{why}");
        }
        assert_eq!(check("orders", &key(), &[&values(&["a", "b"]), &values(&["c"])]), Ok(()));
    }

    #[test]
    fn a_key_that_the_guard_needs_is_refused() {
        assert!(check("t", &Item::new(), &[]).unwrap_err().contains("no key"));
        let of_guard = Item::from([("event_id".to_owned(), text("1"))]);
        assert!(check("t", &of_guard, &[]).unwrap_err().contains("event_id"));
    }
}
