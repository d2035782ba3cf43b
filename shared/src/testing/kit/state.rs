use aws_sdk_dynamodb::types::AttributeValue;

use super::story::OnPanic;
use super::{Scenario, TableKey};
use crate::event::{Envelope, Event};
use crate::outbox::names;
use crate::store::Item;

/// What is in the tables, for consumers and producers alike.
impl<W> Scenario<W> {
    /// Looks at an item, which must be there.
    #[track_caller]
    pub fn then_item(self, table: &str, key: impl Into<TableKey>, check: impl FnOnce(&Item)) -> Self {
        let key = self.kit.key(table, key.into());
        match self.find(table, key.clone()) {
            Some(item) => {
                let _story = OnPanic(format!("{table} has {item:?}\n{}", self.story()));
                check(&item);
            }
            None => self.fail(&format_args!("expected {key:?} in {table}, but it is not there")),
        }
        self
    }

    /// There is no such item.
    #[track_caller]
    pub fn then_no_item(self, table: &str, key: impl Into<TableKey>) -> Self {
        let key = self.kit.key(table, key.into());
        if let Some(item) = self.find(table, key) {
            self.fail(&format_args!("expected nothing in {table}, but there is {item:?}"));
        }
        self
    }

    /// Looks at the one event of type `E` that the last delivery or call has put into the outbox.
    #[track_caller]
    pub fn then_emitted<E: Event>(self, check: impl FnOnce(&E, &Envelope)) -> Self {
        match self.emitted::<E>().as_slice() {
            [(event, envelope)] => {
                let _story = OnPanic(self.story());
                check(event, envelope);
            }
            found => {
                let types: Vec<String> = self.envelopes().into_iter().map(|known| known.event_type).collect();
                let (wanted, count) = (E::TYPE, found.len());
                self.fail(&format_args!("expected one {wanted}, but there are {count}; emitted: {types:?}"));
            }
        }
        self
    }

    /// The last delivery or call has put no event into the outbox.
    #[track_caller]
    pub fn then_nothing_emitted(self) -> Self {
        let types: Vec<String> = self.envelopes().into_iter().map(|known| known.event_type).collect();
        if !types.is_empty() {
            self.fail(&format_args!("expected no event, but there are {types:?}"));
        }
        self
    }

    /// The last delivery or call has changed nothing in any table.
    #[track_caller]
    pub fn then_nothing_written(self) -> Self {
        let tables = self.kit.tables();
        let changed: Vec<&String> = tables.iter().filter(|table| !self.changes(table).is_empty()).collect();
        if !changed.is_empty() {
            self.fail(&format_args!("expected no write, but there are changes in {changed:?}"));
        }
        self
    }

    /// The events of type `E` that the last delivery or call has put into the outbox, in order.
    ///
    /// # Panics
    /// When one of them does not have the shape of `E`.
    #[must_use]
    #[track_caller]
    pub fn emitted<E: Event>(&self) -> Vec<(E, Envelope)> {
        let of_type = self.envelopes().into_iter().filter(|envelope| envelope.event_type == E::TYPE);
        let typed = of_type.map(|envelope| {
            let event =
                serde_json::from_str(envelope.data.get()).expect("an emitted event reads as its type");
            (event, envelope)
        });
        typed.collect()
    }

    #[track_caller]
    fn envelopes(&self) -> Vec<Envelope> {
        let rows = self.written(&self.kit.setting("OUTBOX_TABLE"));
        let bodies = rows.iter().filter_map(|row| row.get(names::BODY)).filter_map(body);
        bodies.map(|body| Envelope::parse(body).expect("an outbox row holds an envelope")).collect()
    }

    #[track_caller]
    fn find(&self, table: &str, key: Item) -> Option<Item> {
        self.kit.memory().get_item(table, key).expect("the key has the attributes of the table's key")
    }
}

fn body(value: &AttributeValue) -> Option<&str> {
    value.as_s().ok().map(String::as_str)
}
