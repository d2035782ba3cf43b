//! The write API's half: a client's `Idempotency-Key` is an inbox key.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, ReturnValuesOnConditionCheckFailure};
use jiff::Timestamp;

use super::names;
use crate::event::{bounded, sha256_hex, without_hash};
use crate::outbox::CommitError;
use crate::store::{CancelCode, Item, TransactError};
use crate::telemetry::Hidden;

/// Characters of a key.
const MAX_KEY: usize = 255;
/// Bytes of a response that is stored.
const MAX_RESPONSE: usize = 16 * 1024;

/// The value of an `Idempotency-Key` header: 1 to 255 visible ASCII characters and spaces.
///
/// The header is a quoted string (IETF draft-ietf-httpapi-idempotency-key-header, RFC 8941 section 3.3.3). Many clients
/// leave the quotes out; a value without quotes, commas, semicolons and spaces is taken as the same key.
///
/// # Examples
/// ```
/// use oncebox::inbox::IdempotencyKey;
///
/// let quoted: IdempotencyKey = r#""8e03978e-40d5-43dd""#.parse()?;
/// assert_eq!(quoted, "8e03978e-40d5-43dd".parse()?);
/// assert!("\"8e03978e".parse::<IdempotencyKey>().is_err());
/// # Ok::<(), oncebox::inbox::NotAKey>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

/// A header that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAKey {
    /// Nothing, or nothing between the quotes.
    #[error("the Idempotency-Key is empty")]
    Empty,
    /// More than 255 characters.
    #[error("the Idempotency-Key has more than 255 characters")]
    TooLong,
    /// Neither a quoted string nor a bare word.
    #[error(
        "the Idempotency-Key is no string: put it in double quotes, in ASCII, with \\ before each \" and \\ in it"
    )]
    NotAString,
}

impl IdempotencyKey {
    /// The key, without its quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = NotAKey;

    fn from_str(header: &str) -> Result<Self, NotAKey> {
        let header = header.trim_matches(' ');
        let key = match header.strip_prefix('"') {
            Some(rest) => unquoted(rest)?,
            None if header.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)) => {
                header.to_owned()
            }
            None => return Err(NotAKey::NotAString),
        };
        match key.len() {
            0 => Err(NotAKey::Empty),
            1..=MAX_KEY => Ok(Self(key)),
            _ => Err(NotAKey::TooLong),
        }
    }
}

/// What stands before the closing quote, which must be the last character.
fn unquoted(rest: &str) -> Result<String, NotAKey> {
    let mut key = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next() {
            Some('"') if chars.as_str().is_empty() => return Ok(key),
            Some('\\') => match chars.next() {
                Some(escaped @ ('"' | '\\')) => key.push(escaped),
                _ => return Err(NotAKey::NotAString),
            },
            Some(plain @ (' '..='!' | '#'..='~')) => key.push(plain),
            _ => return Err(NotAKey::NotAString),
        }
    }
}

/// A client's request that must not be carried out twice, as an inbox key with a stored response.
///
/// It is written in the request's own transaction, so that the response is stored if and only if the request was carried
/// out; failures are not stored. The key is the client's own: another client's equal key is another key.
///
/// # Examples
/// ```
/// # use std::time::Duration;
/// # use aws_sdk_dynamodb::types::Put;
/// # use oncebox::inbox::{IdempotencyKey, Repeat, RequestKey};
/// # use oncebox::outbox::{CommitError, Outbox, Transaction};
/// # use oncebox::time::{Clock, SystemClock};
/// async fn post(outbox: &Outbox, client: &str, key: &IdempotencyKey, body: &str, order: Put) -> Result<String, Box<dyn std::error::Error>> {
///     let window = Duration::from_secs(30 * 86_400);
///     let response = r#"{"order_id":"o-1"}"#;
///     let key = RequestKey::new("inbox", "order-api", client, key, body, response, window)?;
///     let transaction = Transaction::new().put(key.put(SystemClock.now())?).put(order);
///     match outbox.commit(transaction).await {
///         Ok(_) => Ok(response.to_owned()),
///         Err(error) => match key.repeat(&error, 0) {
///             Some(Repeat::Same { response }) => Ok(response),
///             Some(Repeat::Other) => Err("422: the key was used for another request".into()),
///             Some(Repeat::Concurrent) => Err("409: a request with this key is being carried out".into()),
///             _ => Err(error.into()),
///         },
///     }
/// }
/// ```
#[derive(Clone)]
pub struct RequestKey {
    table: String,
    api: String,
    pk: String,
    hash: String,
    response: String,
    window: Duration,
}

/// A response that is too large to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a response of {bytes} bytes cannot be stored: 16384 are the most; answer a reference in its place")]
pub struct ResponseTooLarge {
    /// Bytes of the response.
    pub bytes: usize,
}

/// What a transaction that was not written says about the request.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repeat {
    /// It was carried out before, and answered with this.
    Same {
        /// The stored response.
        response: String,
    },
    /// The client has used the key for another request: 422.
    Other,
    /// Conflicts over the key outlasted the retries, most likely with the same request: 409, and the client may try again.
    Concurrent,
    /// The key is taken, and its row cannot be read, or did not come with the refusal, which DynamoDB does not do: a fault
    /// of the server, and not the client's.
    Unreadable,
}

impl RequestKey {
    /// The key of one `request` (its body, or whatever tells two requests apart) of `client` to `api`, with the `response`
    /// that it will have been answered with, kept for `window` at least: DynamoDB removes a row some time after that, and a
    /// row that is there counts.
    ///
    /// `client` must come from the caller's proven identity, and so must not be what the caller says of itself. `api` is the
    /// name of this kind of request, and no consumer's. Requests are compared by their bytes: `request` had better be what
    /// was understood, written in one way that stays the same over deployments, than the body as it came.
    ///
    /// # Errors
    /// [`ResponseTooLarge`] above 16 KiB.
    pub fn new(
        table: impl Into<String>,
        api: impl Into<String>,
        client: &str,
        key: &IdempotencyKey,
        request: &str,
        response: impl Into<String>,
        window: Duration,
    ) -> Result<Self, ResponseTooLarge> {
        let response = response.into();
        if response.len() > MAX_RESPONSE {
            return Err(ResponseTooLarge { bytes: response.len() });
        }
        Ok(Self {
            table: table.into(),
            api: api.into(),
            pk: bounded(format!("{}#{}", without_hash(client), key.as_str())),
            hash: sha256_hex(request),
            response,
            window,
        })
    }

    /// The write for the request's transaction, on the condition that the key is absent.
    ///
    /// # Errors
    /// Only if the SDK refuses to build a complete put, which it does not.
    pub fn put(&self, now: Timestamp) -> Result<Put, BuildError> {
        let window = i64::try_from(self.window.as_secs()).unwrap_or(i64::MAX);
        let expires_at = now.as_second().saturating_add(window);
        let text = |value: &str| AttributeValue::S(value.to_owned());
        Put::builder()
            .table_name(&self.table)
            .item(names::PK, text(&self.pk))
            .item(names::SK, text(&self.api))
            .item(names::PROCESSED_AT, AttributeValue::N(now.as_millisecond().to_string()))
            .item(names::EXPIRES_AT, AttributeValue::N(expires_at.to_string()))
            .item(names::BODY_HASH, text(&self.hash))
            .item(names::RESPONSE, text(&self.response))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
    }

    /// What `error` says about the request, where [`put`](Self::put) stood at `index` among the business writes. `None`: the
    /// error is about something else.
    #[must_use]
    pub fn repeat(&self, error: &CommitError, index: usize) -> Option<Repeat> {
        match error {
            CommitError::ConditionFailed { index: at, item } if *at == index => {
                Some(self.of_item(item.as_ref()))
            }
            CommitError::Busy { source: TransactError::Cancelled(reasons), .. } => reasons
                .get(index)
                .is_some_and(|reason| reason.code == CancelCode::TransactionConflict)
                .then_some(Repeat::Concurrent),
            _ => None,
        }
    }

    fn of_item(&self, item: Option<&Item>) -> Repeat {
        let text = |name: &str| item.and_then(|item| item.get(name)).and_then(|value| value.as_s().ok());
        match (text(names::BODY_HASH), text(names::RESPONSE)) {
            (Some(hash), _) if *hash != self.hash => Repeat::Other,
            (Some(_), Some(response)) => Repeat::Same { response: response.clone() },
            _ => Repeat::Unreadable,
        }
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestKey")
            .field("table", &self.table)
            .field("api", &self.api)
            .field("pk", &self.pk)
            .field("hash", &self.hash)
            .field("response", &Hidden::text(&self.response))
            .field("window", &self.window)
            .finish()
    }
}

impl fmt::Debug for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { response } => {
                f.debug_struct("Same").field("response", &Hidden::text(response)).finish()
            }
            Self::Other => f.write_str("Other"),
            Self::Concurrent => f.write_str("Concurrent"),
            Self::Unreadable => f.write_str("Unreadable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(header: &str) -> Result<String, NotAKey> {
        header.parse::<IdempotencyKey>().map(|key| key.0)
    }

    #[test]
    fn a_quoted_string_and_a_bare_word_are_keys() {
        assert_eq!(key(r#""abc""#), Ok("abc".into()));
        assert_eq!(key(r#" "a b" "#), Ok("a b".into()));
        assert_eq!(key("8e03978e-40d5-43dd"), Ok("8e03978e-40d5-43dd".into()));
        assert_eq!(key(r#""a\"b\\c""#), Ok(r#"a"b\c"#.into()));
        assert_eq!(key(&"x".repeat(255)).map(|key| key.len()), Ok(255));
    }

    #[test]
    fn what_is_no_string_is_refused_for_what_it_is() {
        for empty in ["", "  ", "\"\""] {
            assert_eq!(key(empty), Err(NotAKey::Empty), "{empty:?}");
        }
        assert_eq!(key(&"x".repeat(256)), Err(NotAKey::TooLong));
        for odd in [
            "\"", "\"a", "a\"", "\"a\"b", "\"a\\n\"", "\"a\\", "a b", "a, b", "a;p=1", "\"a\";p", "ü",
            "\"ü\"", "a\tb",
        ] {
            assert_eq!(key(odd), Err(NotAKey::NotAString), "{odd:?}");
        }
    }

    #[test]
    fn clients_cannot_collide() {
        let pk = |client: &str, word: &str| {
            let key = word.parse().unwrap();
            RequestKey::new("t", "api", client, &key, "", "", Duration::ZERO).unwrap().pk
        };
        assert_eq!(pk("iam:a", "k"), "iam:a#k");
        assert_ne!(pk("a#b", "c"), pk("a", "b#c"));
        assert!(pk(&"c".repeat(4_000), "k").len() <= 2_048);
    }

    #[test]
    fn a_response_is_bounded() {
        let key = "k".parse().unwrap();
        let of =
            |bytes: usize| RequestKey::new("t", "a", "c", &key, "", "x".repeat(bytes), Duration::ZERO).err();
        assert_eq!(of(16 * 1024), None);
        assert_eq!(of(16 * 1024 + 1), Some(ResponseTooLarge { bytes: 16 * 1024 + 1 }));
    }
}
