use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};

use crate::store::Item;

/// Actions a transaction may have. Source: DynamoDB quotas, "Transactions".
pub(crate) const MAX_ACTIONS: usize = 100;
/// Bytes a transaction may have in all. Source: the same.
pub(crate) const MAX_TRANSACTION_BYTES: usize = 4 * 1024 * 1024;
/// Bytes an item may have. Source: DynamoDB quotas, "Items".
const MAX_ITEM_BYTES: usize = 400 * 1024;

/// A transaction that DynamoDB would refuse, found before the call. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Nothing to write.
    #[error("the transaction has no action and no event")]
    Empty,
    /// More than 100 actions.
    #[error(
        "{actions} actions ({business} business writes, {events} events{inbox}) are more than the 100 that DynamoDB takes in one transaction; emit fewer, or one event that lists them"
    )]
    Actions {
        /// All of them.
        actions: usize,
        /// Business writes.
        business: usize,
        /// Outbox rows.
        events: usize,
        /// `", 1 inbox key"`, or empty for a producer.
        inbox: &'static str,
    },
    /// Two actions on one item.
    #[error(
        "actions {first} and {second} are on one item of table {table:?}, and DynamoDB takes one action an item; put both changes into one update, a condition too"
    )]
    SameItem {
        /// Position of the first, from 0.
        first: usize,
        /// Position of the second.
        second: usize,
        /// Their table.
        table: String,
    },
    /// More than 4 MB.
    #[error(
        "about {bytes} bytes in {actions} actions are more than the {MAX_TRANSACTION_BYTES} that DynamoDB takes in one transaction; put large data elsewhere and emit a reference to it"
    )]
    Transaction {
        /// Estimated bytes.
        bytes: usize,
        /// Actions.
        actions: usize,
    },
    /// An item over 400 KB.
    #[error(
        "the item of action {index} on table {table:?} has about {bytes} bytes, more than the {MAX_ITEM_BYTES} that an item may have; put large data elsewhere and store a reference to it"
    )]
    Item {
        /// Position of the action, from 0.
        index: usize,
        /// Its table.
        table: String,
        /// Estimated bytes.
        bytes: usize,
    },
}

/// Checks what can be counted before the call. `inbox` is true for a consumer's transaction, whose first action is
/// the inbox key; the last `events` actions are outbox rows.
pub(crate) fn check(actions: &[TransactWriteItem], events: usize, inbox: bool) -> Result<(), LimitError> {
    if actions.is_empty() {
        return Err(LimitError::Empty);
    }
    if actions.len() > MAX_ACTIONS {
        return Err(LimitError::Actions {
            actions: actions.len(),
            business: actions.len().saturating_sub(events + usize::from(inbox)),
            events,
            inbox: if inbox { ", 1 inbox key" } else { "" },
        });
    }
    same_item(actions)?;
    let mut total = 0_usize;
    for (index, action) in actions.iter().enumerate() {
        let bytes = action_bytes(action);
        total = total.saturating_add(bytes);
        if let Some(put) = &action.put
            && bytes > MAX_ITEM_BYTES
        {
            return Err(LimitError::Item { index, table: put.table_name.clone(), bytes });
        }
    }
    if total > MAX_TRANSACTION_BYTES {
        return Err(LimitError::Transaction { bytes: total, actions: actions.len() });
    }
    Ok(())
}

/// DynamoDB refuses two actions on one item. A put states no key, so two puts can be told to be on one item only where
/// another action on their table names the key's attributes.
fn same_item(actions: &[TransactWriteItem]) -> Result<(), LimitError> {
    let places: Vec<(usize, &str, &Item, bool)> = actions.iter().enumerate().filter_map(place_of).collect();
    for (position, (second, table, item, keyed)) in places.iter().enumerate() {
        for (first, other_table, other, other_keyed) in places.iter().take(position) {
            let same = table == other_table
                && match (keyed, other_keyed) {
                    (true, _) => within(item, other),
                    (false, true) => within(other, item),
                    (false, false) => {
                        let key = places.iter().find(|(_, known, _, keyed)| *keyed && known == table);
                        match key {
                            Some((_, _, key, _)) => key.keys().all(|name| item.get(name) == other.get(name)),
                            None => item == other,
                        }
                    }
                };
            if same {
                return Err(LimitError::SameItem {
                    first: *first,
                    second: *second,
                    table: (*table).to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn place_of((index, action): (usize, &TransactWriteItem)) -> Option<(usize, &str, &Item, bool)> {
    None.or_else(|| action.put.as_ref().map(|put| (index, &*put.table_name, &put.item, false)))
        .or_else(|| action.update.as_ref().map(|update| (index, &*update.table_name, &update.key, true)))
        .or_else(|| action.delete.as_ref().map(|delete| (index, &*delete.table_name, &delete.key, true)))
        .or_else(|| {
            action.condition_check.as_ref().map(|check| (index, &*check.table_name, &check.key, true))
        })
}

fn within(key: &Item, item: &Item) -> bool {
    key.iter().all(|(name, value)| item.get(name) == Some(value))
}

/// Item sizes as DynamoDB counts them ("DynamoDB item sizes and formats"): names and values in UTF-8.
pub(crate) fn action_bytes(action: &TransactWriteItem) -> usize {
    let mut bytes = 0;
    if let Some(put) = &action.put {
        bytes += item_bytes(&put.item);
    }
    if let Some(update) = &action.update {
        bytes += item_bytes(&update.key);
        bytes += update.expression_attribute_values.as_ref().map_or(0, item_bytes);
    }
    if let Some(delete) = &action.delete {
        bytes += item_bytes(&delete.key);
    }
    if let Some(check) = &action.condition_check {
        bytes += item_bytes(&check.key);
    }
    bytes
}

fn item_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        // About one byte for two digits, plus one; a bound from above.
        AttributeValue::N(number) => number.len() / 2 + 2,
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Ns(numbers) => numbers.iter().map(|number| number.len() / 2 + 2).sum(),
        AttributeValue::Bs(blobs) => blobs.iter().map(|blob| blob.as_ref().len()).sum(),
        AttributeValue::L(values) => 3 + values.iter().map(|value| value_bytes(value) + 1).sum::<usize>(),
        AttributeValue::M(values) => 3 + item_bytes(values) + values.len(),
        _ => 1,
    }
}
