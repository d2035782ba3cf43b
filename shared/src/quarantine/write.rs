use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem, Update};
use jiff::Timestamp;

use super::Case;
use super::row::{MAX_PART, cut, names, part_key, parts};
use crate::store::{Item, Store, TransactError, WriteError};

/// Bytes of the detail that are kept, and of each shorter text. With a body of 350 KB, an item may have 400 KB.
const MAX_DETAIL: usize = 16_384;
const MAX_TEXT: usize = 2048;

/// Writes cases to the quarantine table.
#[derive(Debug, Clone)]
pub struct Quarantine {
    pub(super) store: Arc<dyn Store>,
    pub(super) table: Arc<str>,
}

/// A case that could not be kept. Whoever has it must not let go of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuarantineError {
    /// The case cannot be written as it is.
    #[error("the case does not fit the quarantine table")]
    Unfit(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// DynamoDB did not confirm the write.
    #[error("the quarantine table did not confirm the write")]
    Write(#[source] WriteError),
    /// DynamoDB did not confirm the write of a split body.
    #[error("the quarantine table did not confirm the write of a large body")]
    Transact(#[source] TransactError),
}

impl Quarantine {
    /// Writes to `table`: string keys `pk` and `sk`, and an index `by_owner` on `owner` and `last_failed_at`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, table: impl Into<Arc<str>>) -> Self {
        Self { store, table: table.into() }
    }

    /// The writes that keep `case`: one update, and a put for each part of a body over 350 KB. A repeat overwrites
    /// what it has written before, and keeps the time of the first failure.
    ///
    /// # Errors
    /// Only if the SDK refuses to build a complete action, which it does not.
    pub fn actions(&self, case: &Case, now: Timestamp) -> Result<Vec<TransactWriteItem>, BuildError> {
        let update = self.update(case, now)?;
        let mut actions = vec![TransactWriteItem::builder().update(update).build()];
        if case.body.len() > MAX_PART {
            for (number, part) in parts(&case.body).into_iter().enumerate() {
                let put = Put::builder()
                    .table_name(&*self.table)
                    .item(names::PK, text(case.subject()))
                    .item(names::SK, text(part_key(&case.version(), number)))
                    .item(names::BODY, text(part))
                    .build()?;
                actions.push(TransactWriteItem::builder().put(put).build());
            }
        }
        Ok(actions)
    }

    pub(super) fn update(&self, case: &Case, now: Timestamp) -> Result<Update, BuildError> {
        let mut fields = Fields::default();
        for (name, value) in attributes(case) {
            fields.set(name, value);
        }
        fields.set(names::LAST_FAILED_AT, number(now.as_millisecond()));
        if case.body.len() > MAX_PART {
            fields.set(names::PARTS, number(parts(&case.body).len()));
        } else {
            fields.set(names::BODY, text(&*case.body));
        }
        let first = "#first = if_not_exists(#first, :first)";
        fields.names.insert("#first".to_owned(), names::FIRST_FAILED_AT.to_owned());
        fields.values.insert(":first".to_owned(), number(now.as_millisecond()));
        Update::builder()
            .table_name(&*self.table)
            .key(names::PK, text(case.subject()))
            .key(names::SK, text(case.version()))
            .update_expression(format!("SET {}, {first}", fields.assignments.join(", ")))
            .set_expression_attribute_names(Some(fields.names))
            .set_expression_attribute_values(Some(fields.values))
            .build()
    }
}

/// The parts of an update expression; every name is aliased, since some are reserved words.
#[derive(Default)]
struct Fields {
    assignments: Vec<String>,
    names: HashMap<String, String>,
    values: Item,
}

impl Fields {
    fn set(&mut self, name: &str, value: AttributeValue) {
        let index = self.assignments.len();
        self.assignments.push(format!("#n{index} = :v{index}"));
        self.names.insert(format!("#n{index}"), name.to_owned());
        self.values.insert(format!(":v{index}"), value);
    }
}

fn attributes(case: &Case) -> Vec<(&'static str, AttributeValue)> {
    let mut all = vec![
        (names::OWNER, short(&case.owner)),
        (names::SOURCE, short(&case.source)),
        (names::MESSAGE_ID, short(&case.message_id)),
        (names::EVENT_TYPE, short(&case.event_type)),
        (names::AGGREGATE_ID, short(&case.aggregate_id)),
        (names::REASON, text(case.reason.as_str())),
        (names::DETAIL, text(cut(&case.detail, MAX_DETAIL))),
        (names::ATTEMPTS, number(case.attempts)),
        (
            names::DESTINATIONS,
            AttributeValue::L(case.destinations.iter().map(|name| text(&**name)).collect()),
        ),
    ];
    all.extend(case.event_key.as_ref().map(|key| (names::EVENT_KEY, text(key.as_str()))));
    all.extend(case.group.as_deref().map(|group| (names::GROUP, short(group))));
    all.extend(case.traceparent.as_deref().map(|trace| (names::TRACEPARENT, short(trace))));
    all
}

/// A text from outside may have any length, and must not make the item too large to be kept. The body has it whole.
fn short(value: &str) -> AttributeValue {
    text(cut(value, MAX_TEXT))
}

fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
