use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};

use super::action::{Action, Halt};
use super::index::{self, Index};
use super::refusal::Refusal;
use super::table::{BadKey, Key, Table};
use super::tokens::Tokens;
use super::value::canonical_item;
use crate::store::{CancelCode, CancelReason, Item, Page, Pages, TransactError, WriteError};
use crate::time::Clock;

/// Actions DynamoDB takes in one transaction.
const MAX_ACTIONS: usize = 100;
/// Bytes DynamoDB takes in one transaction.
const MAX_TRANSACTION_BYTES: usize = 4 * 1024 * 1024;
/// Deletes DynamoDB takes in one batch.
const MAX_BATCH: usize = 25;
/// Sequence numbers have 21 digits, so that they sort alike as text and as numbers.
const FIRST_SEQUENCE: u128 = 100_000_000_000_000_000_000;

/// Everything the store's handles share.
#[derive(Debug)]
pub(crate) struct State {
    tables: HashMap<String, Table>,
    tokens: Tokens,
    sequence: u128,
    pub(crate) clock: Arc<dyn Clock>,
}

impl State {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { tables: HashMap::new(), tokens: Tokens::default(), sequence: FIRST_SEQUENCE, clock }
    }

    fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    pub(crate) fn declare(&mut self, name: &str, table: Table) {
        self.tables.insert(name.to_owned(), table);
    }

    pub(crate) fn table(&self, name: &str) -> Result<&Table, Refusal> {
        self.tables.get(name).ok_or_else(|| Refusal::no_table(name))
    }

    fn write(&mut self, table: &str, key: &Key, new: Option<Item>) {
        self.sequence += 1;
        let at_ms = self.now_ms();
        if let Some(table) = self.tables.get_mut(table) {
            table.write(key, new, self.sequence, at_ms);
        }
    }

    pub(crate) fn get(&self, table: &str, key: &Item) -> Result<Option<Item>, Refusal> {
        let table = self.table(table)?;
        let key = table.key_of(&canonical_item(key)?, true)?;
        Ok(table.get(&key).cloned())
    }

    /// An unconditional put that answers the old item.
    pub(crate) fn replace(&mut self, name: &str, item: &Item) -> Result<Option<Item>, Refusal> {
        let action = Action::replace(name, item)?;
        let table = self.table(name)?;
        let key = action.key(table)?;
        let old = table.get(&key).cloned();
        self.write(name, &key, Some(canonical_item(item)?));
        Ok(old)
    }

    pub(crate) fn put(&mut self, put: Put) -> Result<(), WriteError> {
        self.single(&Action::put(put)?)
    }

    pub(crate) fn update(&mut self, update: Update) -> Result<(), WriteError> {
        self.single(&Action::update(update)?)
    }

    /// A write of its own; unlike a position of a transaction, it answers the old item unasked.
    fn single(&mut self, action: &Action) -> Result<(), WriteError> {
        let table = self.table(&action.table)?;
        let key = action.key(table).map_err(Refusal::from)?;
        match action.outcome(table, &key) {
            Ok(Some(new)) => self.write(&action.table, &key, new),
            Ok(None) => {}
            Err(Halt::Condition(old)) => return Err(WriteError::ConditionFailed(old)),
            Err(Halt::Refused(refusal)) => return Err(refusal.into()),
        }
        Ok(())
    }

    pub(crate) fn page(&self, of: Pages<'_>, start: Option<&Item>) -> Result<Page, Refusal> {
        index::page(self.table(of.table())?, of, start)
    }

    pub(crate) fn add_index(&mut self, table: &str, name: &str, index: Index) -> Result<(), Refusal> {
        let table = self.tables.get_mut(table).ok_or_else(|| Refusal::no_table(table))?;
        table.add_index(name, index);
        Ok(())
    }

    pub(crate) fn delete_batch(&mut self, name: &str, keys: &[Item]) -> Result<(), Refusal> {
        if !(1..=MAX_BATCH).contains(&keys.len()) {
            return Err(Refusal::invalid(format!(
                "a batch takes 1 to {MAX_BATCH} deletes, not {}",
                keys.len()
            )));
        }
        let table = self.table(name)?;
        let read = |key: &Item| Ok(table.key_of(&canonical_item(key)?, true)?);
        let keys = keys.iter().map(read).collect::<Result<Vec<_>, Refusal>>()?;
        if keys.iter().collect::<HashSet<_>>().len() != keys.len() {
            return Err(Refusal::invalid("the provided list of item keys contains duplicates"));
        }
        for key in &keys {
            self.write(name, key, None);
        }
        Ok(())
    }

    /// Order of the checks: what the request alone shows, the token, the tables, the keys, then each action over
    /// the stored items. Nothing is written before the last of them.
    pub(crate) fn transact(
        &mut self,
        items: Vec<TransactWriteItem>,
        token: &str,
    ) -> Result<(), TransactError> {
        if !(1..=MAX_ACTIONS).contains(&items.len()) {
            return Err(Refusal::invalid(format!(
                "a transaction takes 1 to 100 actions, not {}",
                items.len()
            ))
            .into());
        }
        let actions = items.iter().cloned().map(Action::read).collect::<Result<Vec<_>, _>>()?;
        if actions.iter().map(Action::bytes).sum::<usize>() > MAX_TRANSACTION_BYTES {
            return Err(Refusal::invalid("the aggregate size of the items exceeds the 4 MB limit").into());
        }
        let now_ms = self.now_ms();
        if self.tokens.replays(token, &items, now_ms)? {
            return Ok(());
        }
        let keys = self.keys(&actions)?;
        let results: Vec<_> = actions.iter().zip(&keys).map(|(action, key)| self.plan(action, key)).collect();
        if results.iter().all(Result::is_ok) {
            for ((action, key), new) in actions.iter().zip(&keys).zip(results.into_iter().flatten()) {
                if let (Ok(key), Some(new)) = (key, new) {
                    self.write(&action.table, key, new);
                }
            }
            self.tokens.remember(token, items, now_ms);
            return Ok(());
        }
        let reason = |(action, result): (&Action, Result<_, Halt>)| match result {
            Ok(_) => Ok(CancelReason::new(CancelCode::None)),
            Err(halt) => action.reason(halt),
        };
        let reasons = actions.iter().zip(results).map(reason).collect::<Result<_, Refusal>>()?;
        Err(TransactError::Cancelled(reasons))
    }

    fn keys(&self, actions: &[Action]) -> Result<Vec<Result<Key, BadKey>>, Refusal> {
        let mut seen = HashSet::new();
        let mut keys = Vec::with_capacity(actions.len());
        for action in actions {
            let key = action.key(self.table(&action.table)?);
            match &key {
                Err(BadKey::Empty) => return Err(BadKey::Empty.into()),
                Ok(key) if !seen.insert((action.table.as_str(), key.clone())) => {
                    return Err(Refusal::invalid(
                        "a transaction cannot include multiple operations on one item",
                    ));
                }
                _ => keys.push(key),
            }
        }
        Ok(keys)
    }

    fn plan(&self, action: &Action, key: &Result<Key, BadKey>) -> Result<Option<Option<Item>>, Halt> {
        let table = self.table(&action.table).map_err(Halt::Refused)?;
        match key {
            Ok(key) => action.outcome(table, key),
            Err(bad) => Err(Halt::Refused((*bad).into())),
        }
    }
}
