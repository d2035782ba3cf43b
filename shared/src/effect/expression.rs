use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Update};

use super::names;
use super::values::Values;
use crate::event::Envelope;
use crate::store::Item;

/// An update that writes version and event beside the handler's values. Every name is aliased, since some are reserved
/// words and some have dots. The condition may speak of `#version`, `#event` and `:version`.
pub(super) struct Expression {
    text: String,
    condition: String,
    names: HashMap<String, String>,
    values: Item,
}

impl Expression {
    pub(super) fn new(version: u64, event: &Envelope) -> Self {
        Self {
            text: "SET #version = :version, #event = :event".to_owned(),
            condition: String::new(),
            names: HashMap::from([
                ("#version".to_owned(), names::VERSION.to_owned()),
                ("#event".to_owned(), names::EVENT_ID.to_owned()),
            ]),
            values: Item::from([
                (":version".to_owned(), number(version)),
                (":event".to_owned(), AttributeValue::S(event.key().as_str().to_owned())),
            ]),
        }
    }

    pub(super) fn set(mut self, values: &Values) -> Self {
        for (index, (name, value)) in values.iter().enumerate() {
            self.text.push_str(&format!(", #s{index} = :s{index}"));
            self.bind(&format!("s{index}"), name, value);
        }
        self
    }

    /// To be called after [`set`](Self::set): `ADD` is a clause of its own.
    pub(super) fn add(mut self, values: &Values) -> Self {
        for (index, (name, value)) in values.iter().enumerate() {
            self.text.push_str(if index == 0 { " ADD " } else { ", " });
            self.text.push_str(&format!("#a{index} :a{index}"));
            self.bind(&format!("a{index}"), name, value);
        }
        self
    }

    pub(super) fn only_if(mut self, condition: &str) -> Self {
        self.condition = condition.to_owned();
        self
    }

    pub(super) fn number(mut self, name: &str, value: u64) -> Self {
        self.values.insert(name.to_owned(), number(value));
        self
    }

    pub(super) fn update(self, table: &str, key: &Item) -> Result<Update, String> {
        let update = Update::builder()
            .table_name(table)
            .set_key(Some(key.clone()))
            .update_expression(self.text)
            .condition_expression(self.condition)
            .set_expression_attribute_names(Some(self.names))
            .set_expression_attribute_values(Some(self.values));
        update.build().map_err(|error| error.to_string())
    }

    fn bind(&mut self, alias: &str, name: &str, value: &AttributeValue) {
        self.names.insert(format!("#{alias}"), name.to_owned());
        self.values.insert(format!(":{alias}"), value.clone());
    }
}

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
