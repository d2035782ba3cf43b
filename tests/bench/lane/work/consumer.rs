//! SQS messages that each charge an account.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::json;

use super::Variant;
use super::event::{Event, Kind, scattered, uuid};
use crate::aws::{Item, Tables, Value};
use crate::child::Settings;
use crate::clock::now_millis;
use crate::options::Options;

/// Accounts of a run at least; with as many as a batch has messages, no batch has one twice.
const ACCOUNTS: usize = 1000;

/// What is right in the end.
pub(super) struct Expected {
    accounts_table: String,
    quarantine_table: String,
    /// Entries and balance, by account.
    accounts: BTreeMap<String, (i128, i128)>,
    /// Messages that cannot be applied.
    failing: HashSet<String>,
}

/// Makes the invocations, and opens the accounts.
pub(super) fn plan(
    options: &Options,
    settings: &Settings,
    tables: &mut Tables,
) -> Result<(Vec<Vec<u8>>, Expected), String> {
    let accounts_table = settings.get("ACCOUNTS_TABLE");
    let mut expected = Expected {
        accounts: BTreeMap::new(),
        quarantine_table: settings.get("QUARANTINE_TABLE"),
        accounts_table: accounts_table.clone(),
        failing: HashSet::new(),
    };
    let number_of_accounts = ACCOUNTS.max(options.batch);
    for number in 0..number_of_accounts {
        let account = account(number);
        tables.seed(&accounts_table, Item::from([("account_id".to_owned(), Value::S(account.clone()))]))?;
        expected.accounts.insert(account, (0, 0));
    }
    let now = now_millis();
    let distinct = match options.variant {
        Variant::Duplicates => options.warmup,
        Variant::First | Variant::Failing => options.warmup + options.invocations,
    };
    let mut batches = Vec::with_capacity(distinct);
    let mut number: u32 = 0;
    for _ in 0..distinct {
        let mut messages = Vec::with_capacity(options.batch);
        for _ in 0..options.batch {
            let fails = options.variant == Variant::Failing && number % 10 == 9;
            let account = match fails {
                true => format!("unknown-{number}"),
                false => account(number as usize % number_of_accounts),
            };
            let event = Event::new(number, now, &account);
            let message = Message { id: uuid(Kind::Message, number, now), body: event.body, number };
            if fails {
                expected.failing.insert(message.id.clone());
            } else if let Some((entries, balance)) = expected.accounts.get_mut(&account) {
                *entries += 1;
                *balance -= i128::from(event.amount_cents);
            }
            messages.push(message);
            number += 1;
        }
        batches.push(messages);
    }
    let mut invocations: Vec<_> = batches.iter().map(|batch| invocation(batch, now, 1)).collect();
    if options.variant == Variant::Duplicates {
        let again: Vec<_> = batches.iter().map(|batch| invocation(batch, now, 2)).collect();
        invocations.extend(again.into_iter().cycle().take(options.invocations));
    }
    Ok((invocations, expected))
}

fn account(number: usize) -> String {
    format!("account-{number:06}")
}

struct Message {
    id: String,
    body: String,
    number: u32,
}

/// The payload of one invocation, whose messages have been received `receives` times.
fn invocation(batch: &[Message], now: u64, receives: u32) -> Vec<u8> {
    let records: Vec<_> = batch.iter().map(|message| record(message, now, receives)).collect();
    json!({ "Records": records }).to_string().into_bytes()
}

fn record(message: &Message, now: u64, receives: u32) -> serde_json::Value {
    let attribute = |value: &str| json!({ "stringValue": value, "stringListValues": [], "binaryListValues": [], "dataType": "String" });
    let bits = scattered(message.number);
    json!({
        "messageId": message.id,
        "receiptHandle": format!("AQEB{}==", format!("{bits:016x}").repeat(11)),
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": receives.to_string(),
            "AWSTraceHeader": "Root=1-6b0d6540-4bf92f3577b34da6a3ce929d;Parent=00f067aa0ba902b7;Sampled=0",
            "SentTimestamp": now.to_string(),
            "SenderId": "AIDAIT2UOQQY3AUEKVGXU",
            "ApproximateFirstReceiveTimestamp": now.to_string(),
        },
        "messageAttributes": { "event_type": attribute("OrderPlaced"), "aggregate_type": attribute("Order") },
        "md5OfBody": format!("{bits:016x}{bits:016x}"),
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:billing",
        "awsRegion": "us-east-1",
    })
}

impl Expected {
    /// Every charge was made once, and what could not be charged is known to somebody. `reported` are the messages that
    /// come again.
    pub(super) fn verify(&self, tables: &Tables, reported: &[String]) -> Result<(), String> {
        let stored: HashMap<&str, (i128, i128)> = tables
            .rows(&self.accounts_table)
            .filter_map(|row| Some((text(row, "account_id")?, state(row))))
            .collect();
        for (account, expected) in &self.accounts {
            let found = stored.get(account.as_str()).copied().unwrap_or_default();
            if found != *expected {
                return Err(format!(
                    "{account} has {} entries and {} cents, expected {} and {}",
                    found.0, found.1, expected.0, expected.1
                ));
            }
        }
        if stored.len() != self.accounts.len() {
            return Err(format!("{} accounts instead of {}", stored.len(), self.accounts.len()));
        }
        if let Some(good) = reported.iter().find(|id| !self.failing.contains(*id)) {
            return Err(format!("message {good} was reported as failed, and it is not"));
        }
        let mut known: HashSet<&str> = reported.iter().map(String::as_str).collect();
        known.extend(tables.rows(&self.quarantine_table).filter_map(|row| text(row, "message_id")));
        match self.failing.iter().find(|id| !known.contains(id.as_str())) {
            Some(lost) => Err(format!("message {lost} failed, and was neither reported nor quarantined")),
            None => Ok(()),
        }
    }
}

fn text<'a>(row: &'a Item, name: &str) -> Option<&'a str> {
    match row.get(name)? {
        Value::S(text) => Some(text),
        _ => None,
    }
}

fn state(row: &Item) -> (i128, i128) {
    let whole = |name: &str| row.get(name).and_then(Value::whole).unwrap_or_default();
    (whole("entries"), whole("balance_cents"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        let line = format!("--work consumer --batch 10 --invocations 3 --warmup 2 {line} -- a");
        Options::parse(line.split_whitespace().map(Into::into)).unwrap()
    }

    fn planned(line: &str) -> (Vec<Vec<u8>>, Expected, Tables) {
        let settings = Settings::default();
        let mut tables = settings.tables();
        let (invocations, expected) = plan(&options(line), &settings, &mut tables).unwrap();
        (invocations, expected, tables)
    }

    /// The accounts as they should be, with `tamper` on top.
    fn done(expected: &Expected, tamper: impl Fn(&str, &mut (i128, i128))) -> Tables {
        let mut tables = Settings::default().tables();
        for (account, state) in &expected.accounts {
            let mut state = *state;
            tamper(account, &mut state);
            let row = json!({
                "account_id": { "S": account },
                "entries": { "N": state.0.to_string() },
                "balance_cents": { "N": state.1.to_string() },
            });
            tables.seed("accounts", serde_json::from_value(row).unwrap()).unwrap();
        }
        tables
    }

    fn messages(invocation: &[u8]) -> Vec<(String, String)> {
        let value: serde_json::Value = serde_json::from_slice(invocation).unwrap();
        let records = value["Records"].as_array().unwrap();
        let of = |record: &serde_json::Value| {
            let count = record["attributes"]["ApproximateReceiveCount"].as_str().unwrap();
            (record["messageId"].as_str().unwrap().to_owned(), count.to_owned())
        };
        records.iter().map(of).collect()
    }

    #[test]
    fn nothing_done_is_not_taken_for_done() {
        let (_, expected, tables) = planned("");
        assert!(expected.verify(&tables, &[]).unwrap_err().contains("0 entries"));
        assert_eq!(expected.verify(&done(&expected, |_, _| ()), &[]), Ok(()));
    }

    #[test]
    fn a_double_charge_and_a_false_report_are_found() {
        let (invocations, expected, _) = planned("");
        let double = |account: &str, state: &mut (i128, i128)| {
            if account == "account-000003" {
                *state = (state.0 * 2, state.1 * 2);
            }
        };
        let error = expected.verify(&done(&expected, double), &[]).unwrap_err();
        assert!(error.contains("account-000003 has 2 entries"), "{error}");
        let (good, _) = messages(&invocations[0])[0].clone();
        assert!(expected.verify(&done(&expected, |_, _| ()), &[good]).unwrap_err().contains("it is not"));
    }

    #[test]
    fn duplicates_come_after_their_first_delivery_and_count_once() {
        let (invocations, expected, _) = planned("--variant duplicates");
        let all: Vec<_> = invocations.iter().map(|invocation| messages(invocation)).collect();
        let ids = |place: usize| all[place].iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        assert_eq!(all.len(), 5);
        assert_eq!((ids(2), ids(3), ids(4)), (ids(0), ids(1), ids(0)));
        assert!(all[1].iter().all(|(_, count)| count == "1") && all[2].iter().all(|(_, count)| count == "2"));
        assert_eq!(expected.accounts.values().map(|(entries, _)| entries).sum::<i128>(), 20);
    }

    #[test]
    fn what_fails_must_be_reported_or_quarantined() {
        let (_, expected, _) = planned("--variant failing");
        assert_eq!(expected.failing.len(), 5);
        let mut tables = done(&expected, |_, _| ());
        assert!(expected.verify(&tables, &[]).unwrap_err().contains("neither"));
        let all: Vec<String> = expected.failing.iter().cloned().collect();
        assert_eq!(expected.verify(&tables, &all), Ok(()));
        let row = json!({ "pk": { "S": "a" }, "sk": { "S": "b" }, "message_id": { "S": all[0] } });
        tables.seed("quarantine", serde_json::from_value(row).unwrap()).unwrap();
        assert_eq!(expected.verify(&tables, &all[1..]), Ok(()));
        assert!(expected.verify(&tables, &all[2..]).unwrap_err().contains(&all[1]));
    }
}
