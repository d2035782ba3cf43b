use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use super::expression::{Attributes, Condition, UpdateExpression};
use super::refusal::Refusal;
use super::table::{BadKey, Key, Table};
use super::value::{MAX_ITEM_BYTES, canonical_item, item_bytes};
use crate::store::{CancelCode, CancelReason, Item};

/// One write, or check, as far as it can be read without the table.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) table: String,
    /// The key's attributes; of a put, the whole item.
    target: Item,
    kind: Kind,
    condition: Option<Condition>,
    all_old: bool,
    bytes: usize,
}

#[derive(Debug)]
enum Kind {
    Check,
    Put,
    Delete,
    Update(UpdateExpression),
}

/// Why an action did not come to a result.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Its condition was false; the item that was there.
    Condition(Option<Item>),
    /// What it makes of the item is not valid, or not evaluated by the twin.
    Refused(Refusal),
}

type Names = Option<HashMap<String, String>>;
type Values = Option<HashMap<String, AttributeValue>>;

impl Action {
    /// Reads one member of a transaction.
    pub(crate) fn read(item: TransactWriteItem) -> Result<Self, Refusal> {
        match (item.condition_check, item.put, item.delete, item.update) {
            (Some(check), None, None, None) => Self::new(
                check.table_name,
                &check.key,
                |_| Ok(Kind::Check),
                Some(check.condition_expression),
                (check.expression_attribute_names, check.expression_attribute_values),
                check.return_values_on_condition_check_failure,
            ),
            (None, Some(put), None, None) => Self::put(put),
            (None, None, Some(delete), None) => Self::new(
                delete.table_name,
                &delete.key,
                |_| Ok(Kind::Delete),
                delete.condition_expression,
                (delete.expression_attribute_names, delete.expression_attribute_values),
                delete.return_values_on_condition_check_failure,
            ),
            (None, None, None, Some(update)) => Self::update(update),
            _ => Err(Refusal::invalid(
                "a transaction's item takes exactly one of Check, Put, Update or Delete",
            )),
        }
    }

    /// Reads a put, of a transaction or single.
    pub(crate) fn put(put: Put) -> Result<Self, Refusal> {
        Self::new(
            put.table_name,
            &put.item,
            |_| Ok(Kind::Put),
            put.condition_expression,
            (put.expression_attribute_names, put.expression_attribute_values),
            put.return_values_on_condition_check_failure,
        )
    }

    /// Reads an update, of a transaction or single.
    pub(crate) fn update(update: Update) -> Result<Self, Refusal> {
        Self::new(
            update.table_name,
            &update.key,
            |attributes| Ok(Kind::Update(UpdateExpression::parse(&update.update_expression, attributes)?)),
            update.condition_expression,
            (update.expression_attribute_names, update.expression_attribute_values),
            update.return_values_on_condition_check_failure,
        )
    }

    /// An unconditional put.
    pub(crate) fn replace(table: &str, item: &Item) -> Result<Self, Refusal> {
        Self::new(table.to_owned(), item, |_| Ok(Kind::Put), None, (None, None), None)
    }

    fn new(
        table: String,
        target: &Item,
        kind: impl FnOnce(&mut Attributes) -> Result<Kind, Refusal>,
        condition: Option<String>,
        (names, values): (Names, Values),
        on_failure: Option<ReturnValuesOnConditionCheckFailure>,
    ) -> Result<Self, Refusal> {
        let target = canonical_item(target)?;
        let mut attributes = Attributes::new(names, values)?;
        let kind = kind(&mut attributes)?;
        let condition = condition.map(|text| Condition::parse(&text, &mut attributes)).transpose()?;
        attributes.all_used()?;
        let all_old = match on_failure {
            None | Some(ReturnValuesOnConditionCheckFailure::None) => false,
            Some(ReturnValuesOnConditionCheckFailure::AllOld) => true,
            Some(other) => return Err(Refusal::invalid(format!("unknown return values: {other:?}"))),
        };
        let bytes = item_bytes(&target);
        if matches!(kind, Kind::Put) && bytes > MAX_ITEM_BYTES {
            return Err(Refusal::invalid("item size has exceeded the maximum allowed size"));
        }
        Ok(Self { table, target, kind, condition, all_old, bytes: bytes + attributes.value_bytes() })
    }

    /// Bytes that count towards the limit of a transaction.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn key(&self, table: &Table) -> Result<Key, BadKey> {
        table.key_of(&self.target, !matches!(self.kind, Kind::Put))
    }

    /// What the key's place holds afterwards; `None` in it for nothing, and no value at all for a check.
    pub(crate) fn outcome(&self, table: &Table, key: &Key) -> Result<Option<Option<Item>>, Halt> {
        let stored = table.get(key);
        if let Some(condition) = &self.condition {
            let absent = Item::new();
            if !condition.holds(stored.unwrap_or(&absent)).map_err(Halt::Refused)? {
                return Err(Halt::Condition(stored.cloned()));
            }
        }
        match &self.kind {
            Kind::Check => Ok(None),
            Kind::Put => Ok(Some(Some(self.target.clone()))),
            Kind::Delete => Ok(Some(None)),
            Kind::Update(update) => {
                updated(update, table, key, stored).map(|item| Some(Some(item))).map_err(Halt::Refused)
            }
        }
    }

    /// How a transaction words the halt at this action's position; an error if the call as a whole is refused.
    pub(crate) fn reason(&self, halt: Halt) -> Result<CancelReason, Refusal> {
        match halt {
            Halt::Condition(old) => Ok(CancelReason {
                code: CancelCode::ConditionalCheckFailed,
                item: old.filter(|_| self.all_old),
            }),
            Halt::Refused(refusal) if refusal.is_invalid() => {
                Ok(CancelReason::new(CancelCode::ValidationError))
            }
            Halt::Refused(refusal) => Err(refusal),
        }
    }
}

fn updated(
    update: &UpdateExpression,
    table: &Table,
    key: &Key,
    stored: Option<&Item>,
) -> Result<Item, Refusal> {
    if let Some(name) = update.roots().find(|name| table.is_key_attribute(name)) {
        return Err(Refusal::invalid(format!("cannot update attribute {name}: it is part of the key")));
    }
    let before = stored.cloned().unwrap_or_else(|| table.key_item(key));
    let after = canonical_item(&update.apply(&before)?)?;
    if item_bytes(&after) > MAX_ITEM_BYTES {
        return Err(Refusal::invalid("item size to update has exceeded the maximum allowed size"));
    }
    Ok(after)
}
