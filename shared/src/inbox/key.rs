use std::time::Duration;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use jiff::Timestamp;

use super::Verdict;
use crate::event::{BodyHash, Envelope, EventKey};
use crate::store::{Item, TransactError, key_item};

/// The attribute names of an inbox row. They are stored in customers' tables: a change is a migration.
pub mod names {
    /// Partition key: the event key.
    pub const PK: &str = "pk";
    /// Sort key: the consumer's name.
    pub const SK: &str = "sk";
    /// Epoch milliseconds when the invocation began that committed the row ([`Message::now`](crate::event::Message::now)),
    /// so that a retry writes the same bytes. The commit itself came up to an invocation's length later.
    pub const PROCESSED_AT: &str = "processed_at";
    /// Epoch seconds after which DynamoDB may remove the row (the table's TTL attribute).
    pub const EXPIRES_AT: &str = "expires_at";
    /// The event type, for a person who looks.
    pub const EVENT_TYPE: &str = "event_type";
    /// SHA-256 over type and data.
    pub const BODY_HASH: &str = "body_hash";
    /// The stored response of a client's request ([`RequestKey`](crate::inbox::RequestKey)); consumers have none.
    pub const RESPONSE: &str = "response";
}

/// "This consumer has applied this event", as one conditional put.
///
/// It is a set of ids: no lease, no status. It exists exactly when the effect that was written with it exists.
///
/// # Examples
/// ```
/// # use std::time::Duration;
/// use oncebox::event::Envelope;
/// use oncebox::inbox::InboxKey;
///
/// let body = r#"{"specversion":"1.0","id":"42","source":"/shop","type":"OrderPlaced","data":{}}"#;
/// let envelope = Envelope::parse(body)?;
/// let now = "2026-11-30T12:00:00Z".parse()?;
/// let key = InboxKey::new("inbox", "billing", &envelope, now, Duration::from_secs(90 * 86_400));
/// let first_action = key.action()?;
/// assert_eq!(first_action.put.map(|put| put.table_name), Some("inbox".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a transaction of your own, with your own client:
///
/// ```no_run
/// use aws_sdk_dynamodb::Client;
/// use aws_sdk_dynamodb::types::{TransactWriteItem, Update};
/// use oncebox::inbox::{InboxKey, Verdict};
/// use oncebox::store::TransactError;
///
/// /// `Ok` is for acknowledging; anything else has to come again, or is for a person to decide.
/// async fn charge(client: &Client, key: &InboxKey, debit: Update) -> Result<(), Box<dyn std::error::Error>> {
///     let call = client
///         .transact_write_items()
///         .transact_items(key.action()?)
///         .transact_items(TransactWriteItem::builder().update(debit).build());
///     let Err(error) = call.send().await.map_err(TransactError::from) else { return Ok(()) };
///     match key.verdict(&error, 0) {
///         Verdict::Duplicate => Ok(()),
///         Verdict::IdReused => Err("another event has this id".into()),
///         Verdict::ConditionFailed(positions) => Err(format!("decide again: {positions:?}").into()),
///         // The SDK does not retry a cancelled transaction.
///         Verdict::Busy => Err("try again".into()),
///         Verdict::Unknown => Err("try again with the same token, or let the message come again".into()),
///         _ => Err(error.into()),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct InboxKey {
    table: String,
    consumer: String,
    event_key: EventKey,
    event_type: String,
    hash: BodyHash,
    processed_at: i64,
    expires_at: i64,
}

impl InboxKey {
    /// The key of `envelope` for `consumer`, kept for `window` from `now`, or from the event's own time if that is later.
    ///
    /// Two consumers of one event need two names: each has its own effect. `window` must outlast every way in
    /// which the event can come back: queue and DLQ retention, SNS delivery retries (23 days), replays.
    #[must_use]
    pub fn new(
        table: impl Into<String>,
        consumer: impl Into<String>,
        envelope: &Envelope,
        now: Timestamp,
        window: Duration,
    ) -> Self {
        let window = i64::try_from(window.as_secs()).unwrap_or(i64::MAX);
        // An event that claims to be from the future counts as too old that much later, and is remembered until then.
        let from = envelope.born().ok().flatten().map_or(now, |born| born.max(now));
        Self {
            table: table.into(),
            consumer: consumer.into(),
            event_key: envelope.key(),
            event_type: envelope.event_type.clone(),
            hash: envelope.body_hash(),
            processed_at: now.as_millisecond(),
            expires_at: from.as_second().saturating_add(window),
        }
    }

    /// The primary key of the row.
    #[must_use]
    pub fn key(&self) -> Item {
        key_item([(names::PK, self.event_key.as_str()), (names::SK, &self.consumer)])
    }

    /// The inbox table.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The hash of the event's type and data.
    #[must_use]
    pub fn body_hash(&self) -> &BodyHash {
        &self.hash
    }

    /// The action for your transaction: a put on the condition that the key is absent, with `ALL_OLD`, so that
    /// [`verdict`](Self::verdict) can compare hashes. A row past its TTL that is still there counts as there.
    ///
    /// # Errors
    /// Only if the SDK refuses to build a complete put, which it does not.
    pub fn action(&self) -> Result<TransactWriteItem, BuildError> {
        let mut item = self.key();
        item.insert(names::PROCESSED_AT.to_owned(), AttributeValue::N(self.processed_at.to_string()));
        item.insert(names::EXPIRES_AT.to_owned(), AttributeValue::N(self.expires_at.to_string()));
        item.insert(names::EVENT_TYPE.to_owned(), AttributeValue::S(self.event_type.clone()));
        item.insert(names::BODY_HASH.to_owned(), AttributeValue::S(self.hash.as_str().to_owned()));
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// What a failed transaction means, where this key's action stood at `inbox_index` (from 0).
    ///
    /// An `SdkError` of `transact_write_items` converts into [`TransactError`].
    #[must_use]
    pub fn verdict(&self, error: &TransactError, inbox_index: usize) -> Verdict {
        Verdict::of(error, inbox_index, self.hash.as_str())
    }
}
