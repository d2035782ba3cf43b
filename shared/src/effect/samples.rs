//! Events and items for this folder's tests.

use aws_sdk_dynamodb::types::AttributeValue;

use super::names;
use crate::event::Envelope;
use crate::store::Item;

pub(super) fn event(id: &str) -> Envelope {
    event_with(id, "{}")
}

pub(super) fn event_with(id: &str, data: &str) -> Envelope {
    let body =
        format!(r#"{{"specversion":"1.0","id":"{id}","source":"/test","type":"Tested","data":{data}}}"#);
    Envelope::parse(&body).unwrap()
}

pub(super) fn key_of(id: &str) -> String {
    event(id).key().as_str().to_owned()
}

/// An item as the event with this id leaves it.
pub(super) fn versioned(version: u64, id: &str) -> Item {
    Item::from([
        (names::VERSION.to_owned(), AttributeValue::N(version.to_string())),
        (names::EVENT_ID.to_owned(), AttributeValue::S(key_of(id))),
    ])
}

pub(super) fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

pub(super) fn key() -> Item {
    Item::from([("pk".to_owned(), text("k"))])
}
