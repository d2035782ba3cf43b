use aws_sdk_dynamodb::types::AttributeValue;

use super::{Case, Reason};
use crate::event::EventKey;
use crate::store::Item;

/// The attribute names of a quarantine row. They are stored in customers' tables: a change is a migration.
pub mod names {
    /// Partition key: owner and event key, or owner, source and message id.
    pub const PK: &str = "pk";
    /// Sort key: a short hash of the body, for parts followed by `#` and the part's number.
    pub const SK: &str = "sk";
    /// Who gave up; partition key of the index `by_owner`. Parts have none, so the index holds cases only.
    pub const OWNER: &str = "owner";
    /// Epoch milliseconds of the last failure; sort key of the index `by_owner`.
    pub const LAST_FAILED_AT: &str = "last_failed_at";
    /// Epoch milliseconds of the first failure.
    pub const FIRST_FAILED_AT: &str = "first_failed_at";
    /// Queue ARN or outbox table.
    pub const SOURCE: &str = "source";
    /// The event key, if there is one.
    pub const EVENT_KEY: &str = "event_key";
    /// The SQS message id.
    pub const MESSAGE_ID: &str = "message_id";
    /// The event type.
    pub const EVENT_TYPE: &str = "event_type";
    /// The aggregate id.
    pub const AGGREGATE_ID: &str = "aggregate_id";
    /// The FIFO message group.
    pub const GROUP: &str = "message_group";
    /// One of `permanent`, `malformed`, `exhausted`, `too_old`, `unknown`.
    pub const REASON: &str = "reason";
    /// The reason in a sentence, with its causes.
    pub const DETAIL: &str = "detail";
    /// How often it was tried.
    pub const ATTEMPTS: &str = "attempts";
    /// The producer's trace context.
    pub const TRACEPARENT: &str = "traceparent";
    /// Destinations still owed.
    pub const DESTINATIONS: &str = "destinations";
    /// The body, or one part of it.
    pub const BODY: &str = "body";
    /// Number of part rows that hold the body; absent when the row holds it itself.
    pub const PARTS: &str = "body_parts";
}

/// Bytes of a body that one row holds. An item may have 400 KB, and the other attributes need room.
pub(super) const MAX_PART: usize = 350_000;

/// Rows that do not make up a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// An attribute is absent or of another type.
    #[error("the quarantine row has no usable {0:?}")]
    Attribute(&'static str),
    /// A part of a split body is absent.
    #[error("part {0} of the body is missing")]
    Part(usize),
}

/// Cuts a body into pieces of at most [`MAX_PART`] bytes, at character boundaries.
pub(super) fn parts(body: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = body;
    while rest.len() > MAX_PART {
        let part = cut(rest, MAX_PART);
        parts.push(part);
        rest = rest.get(part.len()..).unwrap_or_default();
    }
    parts.push(rest);
    parts
}

/// The longest beginning of `text` that has at most `max` bytes and ends between characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The sort key of part `number`; the digits keep parts in order.
pub(super) fn part_key(version: &str, number: usize) -> String {
    format!("{version}#{number:03}")
}

/// Puts a case together from its row and, where the body is split, its part rows, in any order.
///
/// # Errors
/// [`ReadError`] when something is missing.
pub fn read(row: &Item, parts: &[Item]) -> Result<Case, ReadError> {
    let reason = text(row, names::REASON)?;
    Ok(Case {
        owner: text(row, names::OWNER)?,
        source: text(row, names::SOURCE)?,
        event_key: text(row, names::EVENT_KEY).ok().map(EventKey::stored),
        message_id: text(row, names::MESSAGE_ID)?,
        event_type: text(row, names::EVENT_TYPE)?,
        aggregate_id: text(row, names::AGGREGATE_ID)?,
        group: text(row, names::GROUP).ok(),
        reason: Reason::parse(&reason).ok_or(ReadError::Attribute(names::REASON))?,
        detail: text(row, names::DETAIL)?,
        attempts: number(row, names::ATTEMPTS).ok_or(ReadError::Attribute(names::ATTEMPTS))?,
        traceparent: text(row, names::TRACEPARENT).ok(),
        destinations: list(row, names::DESTINATIONS),
        body: body(row, parts)?,
    })
}

fn body(row: &Item, parts: &[Item]) -> Result<String, ReadError> {
    let Some(count) = number::<usize>(row, names::PARTS) else { return text(row, names::BODY) };
    let version = text(row, names::SK)?;
    let mut body = String::new();
    for number in 0..count {
        let key = part_key(&version, number);
        let part = parts.iter().find(|part| text(part, names::SK).is_ok_and(|sk| sk == key));
        body.push_str(&text(part.ok_or(ReadError::Part(number))?, names::BODY)?);
    }
    Ok(body)
}

fn text(item: &Item, name: &'static str) -> Result<String, ReadError> {
    item.get(name).and_then(|value| value.as_s().ok()).cloned().ok_or(ReadError::Attribute(name))
}

pub(super) fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name).and_then(|value| value.as_n().ok()).and_then(|text| text.parse().ok())
}

fn list(item: &Item, name: &str) -> Vec<String> {
    let values = item.get(name).and_then(|value| value.as_l().ok()).map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(|value| AttributeValue::as_s(value).ok().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_cut_between_characters() {
        let body = "ü".repeat(MAX_PART);
        let cut = parts(&body);
        assert_eq!(cut.len(), 2);
        assert!(cut.iter().all(|part| part.len() <= MAX_PART));
        assert_eq!(cut.concat(), body);
        assert_eq!(parts(""), [""]);
    }
}
