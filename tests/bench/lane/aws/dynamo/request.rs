//! What the contestants send. A field that is not known here ends the run, since passing it over would answer another
//! question.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::value::Item;

/// One write, by itself or in a transaction.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Write {
    pub(super) table_name: String,
    pub(super) item: Item,
    pub(super) key: Item,
    pub(super) condition_expression: Option<String>,
    pub(super) update_expression: Option<String>,
    pub(super) expression_attribute_names: HashMap<String, String>,
    pub(super) expression_attribute_values: Item,
    pub(super) return_values: Option<String>,
    pub(super) return_values_on_condition_check_failure: Option<String>,
    return_consumed_capacity: IgnoredAny,
    return_item_collection_metrics: IgnoredAny,
}

impl Write {
    pub(super) fn put(table_name: String, item: Item) -> Self {
        Self { table_name, item, ..Self::default() }
    }

    pub(super) fn delete(table_name: String, key: Item) -> Self {
        Self { table_name, key, ..Self::default() }
    }

    /// Whether a false condition is to be answered with the item.
    pub(super) fn shows_old(&self) -> bool {
        self.return_values_on_condition_check_failure.as_deref() == Some("ALL_OLD")
    }
}

/// What a write does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Put,
    Update,
    Delete,
    Check,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
enum Action {
    Put(Write),
    Update(Write),
    Delete(Write),
    ConditionCheck(Write),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Transact {
    transact_items: Vec<Action>,
    #[serde(default, rename = "ClientRequestToken")]
    _token: IgnoredAny,
    #[serde(default, rename = "ReturnConsumedCapacity")]
    _capacity: IgnoredAny,
    #[serde(default, rename = "ReturnItemCollectionMetrics")]
    _metrics: IgnoredAny,
}

impl Transact {
    pub(super) fn writes(self) -> Vec<(Kind, Write)> {
        let writes = self.transact_items.into_iter().map(|action| match action {
            Action::Put(write) => (Kind::Put, write),
            Action::Update(write) => (Kind::Update, write),
            Action::Delete(write) => (Kind::Delete, write),
            Action::ConditionCheck(write) => (Kind::Check, write),
        });
        writes.collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Get {
    pub(super) table_name: String,
    pub(super) key: Item,
    #[serde(default, rename = "ConsistentRead")]
    _consistent: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct BatchGet {
    pub(super) request_items: HashMap<String, Keys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Keys {
    pub(super) keys: Vec<Item>,
    #[serde(default, rename = "ConsistentRead")]
    _consistent: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct BatchWrite {
    pub(super) request_items: HashMap<String, Vec<BatchAction>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum BatchAction {
    PutRequest {
        #[serde(rename = "Item")]
        item: Item,
    },
    DeleteRequest {
        #[serde(rename = "Key")]
        key: Item,
    },
}
