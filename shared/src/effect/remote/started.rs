//! The "started" row, as it is stored.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::{Method, Reply, Request};
use crate::store::{Item, key_item};

/// The attribute names of a "started" row. They are stored in customers' tables: a change is a migration.
pub mod names {
    /// Partition key: the event key.
    pub const PK: &str = "pk";
    /// Sort key: the consumer's name.
    pub const SK: &str = "sk";
    /// SHA-256 over the event's type and data.
    pub const BODY_HASH: &str = "body_hash";
    /// Epoch milliseconds of the first attempt.
    pub const STARTED_AT: &str = "started_at";
    /// Epoch milliseconds until which one delivery alone may call.
    pub const LEASE_UNTIL: &str = "lease_until";
    /// Whose lease it is.
    pub const LEASE: &str = "lease";
    /// The frozen request's method.
    pub const METHOD: &str = "method";
    /// The frozen request's URL.
    pub const URL: &str = "url";
    /// The frozen request's headers, as a list of names and values in turn.
    pub const HEADERS: &str = "headers";
    /// The frozen request's body.
    pub const BODY: &str = "body";
    /// What the last attempt came to that brought no answer, in words without payload; absent where none was heard of.
    pub const HEARD: &str = "heard";
    /// The answer's status; absent while there is no answer.
    pub const REPLY_STATUS: &str = "reply_status";
    /// The answer's kept headers, as a list of names and values in turn.
    pub const REPLY_HEADERS: &str = "reply_headers";
    /// The answer's body, up to the limit.
    pub const REPLY_BODY: &str = "reply_body";
    /// Whether the answer's body had more bytes.
    pub const REPLY_TRUNCATED: &str = "reply_truncated";
}

/// A call that was begun and whose effect is not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) pk: String,
    pub(crate) sk: String,
    pub(crate) body_hash: String,
    pub(crate) started_at: i64,
    pub(crate) lease_until: i64,
    pub(crate) lease: String,
    pub(crate) request: Request,
    pub(crate) heard: Option<String>,
    pub(crate) reply: Option<Reply>,
}

impl Started {
    pub(crate) fn key(&self) -> Item {
        key(&self.pk, &self.sk)
    }

    pub(crate) fn item(&self) -> Item {
        let mut item = self.key();
        let mut set = |name: &str, value| drop(item.insert(name.to_owned(), value));
        set(names::BODY_HASH, text(&self.body_hash));
        set(names::STARTED_AT, number(self.started_at));
        set(names::LEASE_UNTIL, number(self.lease_until));
        set(names::LEASE, text(&self.lease));
        set(names::METHOD, text(self.request.method.as_str()));
        set(names::URL, text(&self.request.url));
        set(names::HEADERS, list(&self.request.headers));
        set(names::BODY, bytes(&self.request.body));
        if let Some(heard) = &self.heard {
            set(names::HEARD, text(heard));
        }
        for (name, value) in self.reply.iter().flat_map(reply_attributes) {
            set(name, value);
        }
        item
    }

    /// `None` when it is no such row.
    pub(crate) fn read(item: &Item) -> Option<Self> {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
        let number = |name: &str| item.get(name).and_then(|value| value.as_n().ok()?.parse::<i64>().ok());
        let bytes = |name: &str| {
            item.get(name).and_then(|value| value.as_b().ok()).map(|blob| blob.clone().into_inner())
        };
        let reply = match item.contains_key(names::REPLY_STATUS) {
            true => Some(Reply {
                status: u16::try_from(number(names::REPLY_STATUS)?).ok()?,
                headers: pairs(item.get(names::REPLY_HEADERS)?)?,
                body: bytes(names::REPLY_BODY)?,
                truncated: *item.get(names::REPLY_TRUNCATED)?.as_bool().ok()?,
            }),
            false => None,
        };
        Some(Self {
            pk: text(names::PK)?,
            sk: text(names::SK)?,
            body_hash: text(names::BODY_HASH)?,
            started_at: number(names::STARTED_AT)?,
            lease_until: number(names::LEASE_UNTIL)?,
            lease: text(names::LEASE)?,
            request: Request {
                method: Method::parse(&text(names::METHOD)?)?,
                url: text(names::URL)?,
                headers: pairs(item.get(names::HEADERS)?)?,
                body: bytes(names::BODY)?,
            },
            heard: text(names::HEARD),
            reply,
        })
    }
}

pub(crate) fn key(event_key: &str, consumer: &str) -> Item {
    key_item([(names::PK, event_key), (names::SK, consumer)])
}

/// What is added to the row when there is an answer.
pub(crate) fn reply_attributes(reply: &Reply) -> [(&'static str, AttributeValue); 4] {
    [
        (names::REPLY_STATUS, number(reply.status.into())),
        (names::REPLY_HEADERS, list(&reply.headers)),
        (names::REPLY_BODY, bytes(&reply.body)),
        (names::REPLY_TRUNCATED, AttributeValue::Bool(reply.truncated)),
    ]
}

pub(crate) fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

pub(crate) fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn bytes(value: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(value))
}

fn list(headers: &[(String, String)]) -> AttributeValue {
    AttributeValue::L(headers.iter().flat_map(|(name, value)| [text(name), text(value)]).collect())
}

fn pairs(value: &AttributeValue) -> Option<Vec<(String, String)>> {
    let flat: Option<Vec<&String>> = value.as_l().ok()?.iter().map(|part| part.as_s().ok()).collect();
    flat?
        .chunks(2)
        .map(|pair| match pair {
            [name, value] => Some(((*name).clone(), (*value).clone())),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let request =
            Request::post("https://pay.example/").header("x-a", "1").header("x-b", "2").body([0, 255, 7]);
        let mut started = Started {
            pk: "event".into(),
            sk: "payment".into(),
            body_hash: "hash".into(),
            started_at: 1,
            lease_until: 2,
            lease: "mine".into(),
            request,
            heard: None,
            reply: None,
        };
        assert_eq!(Started::read(&started.item()), Some(started.clone()));
        started.heard = Some("the provider answered 500".into());
        started.reply = Some(Reply::new(200, vec![1, 0]).with_header("location", "/1").cut_short());
        assert_eq!(Started::read(&started.item()), Some(started.clone()));
        let mut odd = started.item();
        odd.remove(names::REPLY_BODY);
        assert_eq!(Started::read(&odd), None, "half an answer is not taken for none");
    }

    #[test]
    fn the_stored_names_stay() {
        let request = Request::post("https://pay.example/");
        let row = Started {
            pk: "e".into(),
            sk: "c".into(),
            body_hash: "h".into(),
            started_at: 1,
            lease_until: 2,
            lease: "l".into(),
            request,
            heard: Some("h".into()),
            reply: Some(Reply::new(200, "")),
        };
        let mut names: Vec<String> = row.item().into_keys().collect();
        names.sort();
        let stored = "body body_hash headers heard lease lease_until method pk reply_body reply_headers reply_status \
                      reply_truncated sk started_at url";
        assert_eq!(names.join(" "), stored);
    }
}
