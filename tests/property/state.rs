//! What is stored, read back for the checks.

use std::collections::{HashMap, HashSet};

use oncebox::quarantine::{self, Case};
use oncebox::store::Item;
use oncebox::testing::{Change, MemoryStore};

/// Everything that the consumers have written so far.
pub(crate) struct State {
    /// Event key to body hash.
    pub(crate) inbox: HashMap<String, String>,
    /// Effect name to how often it happened.
    pub(crate) counts: HashMap<String, u64>,
    pub(crate) accounts: HashMap<String, u64>,
    pub(crate) moved: HashMap<String, u64>,
    /// Last sequence, and how many there were.
    pub(crate) counted: HashMap<String, (u64, u64)>,
    /// Effect names in the order of their commits.
    pub(crate) order: Vec<String>,
    /// The causes of emitted events.
    pub(crate) causes: Vec<String>,
    pub(crate) cases: Vec<Case>,
}

impl State {
    pub(crate) fn read(memory: &MemoryStore) -> Result<Self, String> {
        let inserted = memory.stream("counts");
        let inserted = inserted.iter().filter(|entry| entry.change == Change::Insert);
        Ok(Self {
            inbox: pairs(memory, "inbox", |row| (text(row, "pk"), text(row, "body_hash"))),
            counts: pairs(memory, "counts", |row| (text(row, "id"), number(row, "n"))),
            accounts: pairs(memory, "accounts", |row| (text(row, "id"), number(row, "n"))),
            moved: pairs(memory, "moved", |row| (text(row, "id"), number(row, "version"))),
            counted: pairs(memory, "counted", |row| {
                (text(row, "id"), (number(row, "version"), number(row, "n")))
            }),
            order: inserted.map(|entry| text(&entry.keys, "id")).collect(),
            causes: memory.items("outbox").iter().map(cause).collect(),
            cases: cases(memory.items("quarantine"))?,
        })
    }

    /// The bodies in quarantine.
    pub(crate) fn quarantined(&self) -> HashSet<&str> {
        self.cases.iter().map(|case| case.body.as_str()).collect()
    }
}

/// Puts the rows of the quarantine table together.
pub(crate) fn cases(rows: Vec<Item>) -> Result<Vec<Case>, String> {
    let (cases, parts): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.contains_key("owner"));
    let of = |row: &Item| {
        let own: Vec<Item> = parts.iter().filter(|part| part["pk"] == row["pk"]).cloned().collect();
        quarantine::read(row, &own).map_err(|error| format!("a quarantine row cannot be read: {error}"))
    };
    cases.iter().map(of).collect()
}

fn cause(row: &Item) -> String {
    let body: serde_json::Value = serde_json::from_str(&text(row, "body")).unwrap();
    body["causationid"].as_str().unwrap().to_owned()
}

fn pairs<V>(memory: &MemoryStore, table: &str, read: impl Fn(&Item) -> (String, V)) -> HashMap<String, V> {
    memory.items(table).iter().map(read).collect()
}

fn text(item: &Item, name: &str) -> String {
    item[name].as_s().unwrap().clone()
}

fn number(item: &Item, name: &str) -> u64 {
    item[name].as_n().unwrap().parse().unwrap()
}
