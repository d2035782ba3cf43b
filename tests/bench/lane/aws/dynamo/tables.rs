use std::collections::{HashMap, HashSet};

use super::expression::{self, Scope};
use super::request::{Kind, Write};
use super::units::{self, Units};
use super::value::{Item, Value};

/// The tables' rows, by their keys, and what calls have used.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    tables: HashMap<String, Table>,
    units: Units,
}

#[derive(Debug)]
struct Table {
    key: &'static [&'static str],
    rows: HashMap<String, Item>,
}

/// What stopped a write: the item that is there, if it was asked for.
pub(super) type Failed = Option<Item>;

impl Tables {
    /// A table with the attributes of its primary key.
    pub(crate) fn create(&mut self, name: &str, key: &'static [&'static str]) {
        self.tables.insert(name.to_owned(), Table { key, rows: HashMap::new() });
    }

    /// Puts a row there without a call.
    ///
    /// # Errors
    /// When there is no such table, or the item has not its key.
    pub(crate) fn seed(&mut self, table: &str, item: Item) -> Result<(), String> {
        let key = self.key(table, &item)?;
        self.table(table)?.rows.insert(key, item);
        Ok(())
    }

    /// All rows of a table, in no order.
    pub(crate) fn rows(&self, table: &str) -> impl Iterator<Item = &Item> {
        self.tables.get(table).into_iter().flat_map(|table| table.rows.values())
    }

    /// What all calls so far have used.
    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Reads a row.
    pub(super) fn get(&mut self, table: &str, key: &Item) -> Result<Option<&Item>, String> {
        let bytes = self.find(table, key)?.map_or(0, units::bytes);
        self.units.has_read(bytes);
        self.find(table, key)
    }

    fn find(&self, table: &str, key: &Item) -> Result<Option<&Item>, String> {
        let key = self.key(table, key)?;
        Ok(self.tables.get(table).and_then(|table| table.rows.get(&key)))
    }

    /// Carries out one write, unless its condition is false.
    pub(super) fn write(&mut self, kind: Kind, write: Write) -> Result<Result<(), Failed>, String> {
        if write.return_values.as_deref().is_some_and(|what| what != "NONE") {
            return Err("ReturnValues are not known here".to_owned());
        }
        let checked = self.check(kind, &write)?;
        self.carry_out(kind, write, checked.is_ok(), false)?;
        Ok(checked)
    }

    /// Carries out all or nothing; the answer is by position.
    pub(super) fn transact(&mut self, writes: Vec<(Kind, Write)>) -> Result<Vec<Result<(), Failed>>, String> {
        let mut keys = HashSet::with_capacity(writes.len());
        let mut checked = Vec::with_capacity(writes.len());
        for (kind, write) in &writes {
            let key = self.key(&write.table_name, target(*kind, write))?;
            if !keys.insert((write.table_name.as_str(), key)) {
                return Err("a transaction has two actions on one item".to_owned());
            }
            checked.push(self.check(*kind, write)?);
        }
        let all_hold = checked.iter().all(Result::is_ok);
        for (kind, write) in writes {
            self.carry_out(kind, write, all_hold, true)?;
        }
        Ok(checked)
    }

    fn check(&self, kind: Kind, write: &Write) -> Result<Result<(), Failed>, String> {
        let stored = self.find(&write.table_name, target(kind, write))?;
        let Some(condition) = &write.condition_expression else { return Ok(Ok(())) };
        let holds = expression::holds(condition, scope(write), stored)?;
        Ok(if holds { Ok(()) } else { Err(stored.filter(|_| write.shows_old()).cloned()) })
    }

    /// Writes if `holds`, and counts in either case.
    fn carry_out(
        &mut self,
        kind: Kind,
        write: Write,
        holds: bool,
        in_transaction: bool,
    ) -> Result<(), String> {
        let key = self.key(&write.table_name, target(kind, &write))?;
        let rows = &mut self.table(&write.table_name)?.rows;
        let before = rows.get(&key).map_or(0, units::bytes);
        let mut after = if kind == Kind::Put { units::bytes(&write.item) } else { 0 };
        match kind {
            Kind::Put if holds => {
                rows.insert(key, write.item);
            }
            Kind::Delete if holds => {
                rows.remove(&key);
            }
            Kind::Update if holds => {
                let item = rows.entry(key).or_insert_with(|| write.key.clone());
                let change = write.update_expression.as_deref().unwrap_or_default();
                expression::update(change, scope(&write), item)?;
                after = units::bytes(item);
            }
            Kind::Put | Kind::Delete | Kind::Update | Kind::Check => {}
        }
        self.units.wrote(before.max(after), in_transaction);
        Ok(())
    }

    fn table(&mut self, name: &str) -> Result<&mut Table, String> {
        self.tables.get_mut(name).ok_or_else(|| no_table(name))
    }

    fn key(&self, table: &str, item: &Item) -> Result<String, String> {
        let names = self.tables.get(table).ok_or_else(|| no_table(table))?.key;
        let mut key = String::with_capacity(64);
        for name in names {
            let Some(Value::S(part)) = item.get(*name) else {
                return Err(format!("a key of table {table:?} has no text {name:?}"));
            };
            key.push_str(part);
            key.push('\0');
        }
        Ok(key)
    }
}

fn no_table(name: &str) -> String {
    format!("there is no table {name:?}")
}

/// Where the write's key stands.
fn target(kind: Kind, write: &Write) -> &Item {
    if kind == Kind::Put { &write.item } else { &write.key }
}

fn scope(write: &Write) -> Scope<'_> {
    Scope { names: &write.expression_attribute_names, values: &write.expression_attribute_values }
}
