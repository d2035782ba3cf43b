//! What a failed test shows of what happened.

use std::fmt::Write;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};

use crate::store::Item;
use crate::testing::{Call, Operation, StreamEntry};

/// Prints the story when the test's own assertion fails in between.
pub(super) struct OnPanic(pub(super) String);

impl Drop for OnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

pub(super) fn calls(story: &mut String, calls: &[Call]) {
    line(story, format_args!("{}", if calls.is_empty() { "no calls" } else { "calls:" }));
    for call in calls {
        let what = match call.operation {
            Operation::Transact => {
                let actions: Vec<String> = call.actions.iter().map(action).collect();
                format!("transaction of {}", actions.join(", "))
            }
            Operation::Get => format!("get from {}", call.table),
            Operation::Page => format!("page of {}", call.table),
            Operation::Put => format!("put into {}", call.table),
            Operation::Update => format!("update of {}", call.table),
            Operation::DeleteBatch => format!("{} deletes from {}", call.items, call.table),
        };
        line(story, format_args!("  {what}: {}", call.answer.as_deref().unwrap_or("not answered in time")));
    }
}

pub(super) fn changes(story: &mut String, table: &str, changes: &[StreamEntry]) {
    for entry in changes {
        let keys = attributes(&entry.keys);
        line(story, format_args!("changed: {} in {table}, {keys}", entry.change.event_name()));
    }
}

pub(super) fn line(story: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(story, "{line}");
}

fn action(action: &TransactWriteItem) -> String {
    let known = None
        .or_else(|| action.put.as_ref().map(|put| ("put into", &put.table_name)))
        .or_else(|| action.update.as_ref().map(|update| ("update of", &update.table_name)))
        .or_else(|| action.delete.as_ref().map(|delete| ("delete from", &delete.table_name)))
        .or_else(|| action.condition_check.as_ref().map(|check| ("check of", &check.table_name)));
    known.map_or_else(|| "no action".to_owned(), |(verb, table)| format!("{verb} {table}"))
}

fn attributes(item: &Item) -> String {
    let mut all: Vec<String> = item.iter().map(|(name, value)| format!("{name} {}", short(value))).collect();
    all.sort();
    all.join(", ")
}

fn short(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => format!("{text:?}"),
        AttributeValue::N(number) => number.clone(),
        other => format!("{other:?}"),
    }
}
