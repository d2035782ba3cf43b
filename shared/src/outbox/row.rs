use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Put};
use jiff::Timestamp;
use std::fmt;

use crate::event::{Emit, EmitError, Envelope, EventId};
use crate::store::{Item, key_item};
use crate::telemetry::Hidden;

/// The attribute names of an outbox row. They are stored in customers' tables: a change is a migration.
pub mod names {
    /// Partition key: `{aggregate_type}#{aggregate_id}`.
    pub const PK: &str = "pk";
    /// Sort key: the event id.
    pub const SK: &str = "sk";
    /// The complete envelope, serialised when the row was written.
    pub const BODY: &str = "body";
    /// The route in the relay's configuration.
    pub const ROUTE: &str = "route";
    /// The event type.
    pub const EVENT_TYPE: &str = "event_type";
    /// The aggregate's version, if the producer has one.
    pub const SEQUENCE: &str = "sequence";
    /// The Region that wrote the row, so that a replica's stream does not publish it again.
    pub const REGION: &str = "region";
    /// Epoch milliseconds.
    pub const CREATED_AT: &str = "created_at";
    /// The row's `pk` again while the row is owed to a destination: partition key of the index [`PENDING_INDEX`], which so
    /// holds outstanding rows only, each aggregate in a partition of its own. Every row is written with it, whatever
    /// becomes of it once published.
    pub const PENDING: &str = "pending";
    /// The index on `pending` and `sk`, which kept rows need for the sweeper, with all attributes.
    pub const PENDING_INDEX: &str = "pending";
    /// Epoch milliseconds when all destinations had accepted the row; only on rows that are kept.
    pub const PUBLISHED_AT: &str = "published_at";
    /// Epoch seconds when DynamoDB may delete the row: its TTL attribute. Only on published rows, so that one that is
    /// owed never expires.
    pub const EXPIRES_AT: &str = "expires_at";
    /// How often a sweeper has claimed the row.
    pub const ATTEMPTS: &str = "attempts";
    /// Epoch milliseconds until when a sweeper holds the row.
    pub const CLAIMED_UNTIL: &str = "claimed_until";
    /// Version of the row's own layout.
    pub const SCHEMA: &str = "schema";
}

/// The row layout that this version writes.
pub const SCHEMA: u32 = 1;

/// One row of the outbox table: an event that is owed to its destinations until the row is gone.
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// `{aggregate_type}#{aggregate_id}`.
    pub pk: String,
    /// The event id.
    pub sk: String,
    /// The complete envelope; the relay forwards these bytes and never reads business tables.
    pub body: String,
    /// The route in the relay's configuration.
    pub route: String,
    /// The event type.
    pub event_type: String,
    /// The aggregate's version, if the producer has one.
    pub sequence: Option<u64>,
    /// The Region that wrote the row, if stated.
    pub region: Option<String>,
    /// When it was written, epoch milliseconds.
    pub created_at: i64,
}

/// An event that cannot become a row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The event itself.
    #[error(transparent)]
    Event(#[from] EmitError),
    /// No route of the outbox fits the event.
    #[error("{event_type} has no route: the outbox knows none for {route:?}, and no default \"*\"")]
    NoRoute {
        /// The event type.
        event_type: String,
        /// The route that was looked for.
        route: String,
    },
    /// A destination would refuse the message for its size.
    #[error(
        "{event_type} has {bytes} bytes with its attributes, more than the {max} that {destination} takes; put large data elsewhere and emit a reference to it, or allow more there (a topic's MaximumMessageSize, up to 1 MiB) and state it in the routes as max_bytes"
    )]
    TooLarge {
        /// The event type.
        event_type: String,
        /// Bytes of the message, attributes included.
        bytes: usize,
        /// Bytes that the destination takes.
        max: usize,
        /// The destination.
        destination: String,
    },
    /// SQS would refuse the message for a character.
    #[error(
        "the {place} of {event_type} has the character U+{code:04X}, which SQS refuses; leave it out, or escape it in the JSON (\\u{code:04x})"
    )]
    Character {
        /// The event type.
        event_type: String,
        /// Where it stands.
        place: &'static str,
        /// The character.
        code: u32,
    },
    /// Two events of one transaction have the same id.
    #[error("event {0} stands twice in the transaction")]
    IdTwice(String),
    /// The envelope could not be written as JSON.
    #[error("the envelope of {0} cannot be written as JSON")]
    Envelope(String, #[source] serde_json::Error),
    /// The SDK refused to build the action.
    #[error("the outbox action of {0} cannot be built")]
    Action(String, #[source] BuildError),
}

impl Row {
    /// Freezes `emit` as a row.
    pub(crate) fn freeze(
        emit: Emit,
        id: EventId,
        source: &str,
        region: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, RowError> {
        let route = emit.route_name().to_owned();
        let envelope = emit.into_envelope(id, source, now.to_string())?;
        let body =
            envelope.to_json().map_err(|error| RowError::Envelope(envelope.event_type.clone(), error))?;
        let Envelope { aggregate_type, aggregate_id, event_type, sequence, .. } = envelope;
        Ok(Self {
            pk: format!("{aggregate_type}#{aggregate_id}"),
            sk: id.to_string(),
            body,
            route,
            event_type,
            sequence,
            region: region.map(str::to_owned),
            created_at: now.as_millisecond(),
        })
    }

    /// The aggregate's type: what stands before the first `#` of the key.
    #[must_use]
    pub fn aggregate_type(&self) -> &str {
        self.pk.split('#').next().unwrap_or_default()
    }

    /// The row's key in the outbox table.
    #[must_use]
    pub fn key(&self) -> Item {
        key(&self.pk, &self.sk)
    }

    /// The stored item.
    #[must_use]
    pub fn item(&self) -> Item {
        let mut item = self.key();
        let mut text = |name: &str, value: &str| {
            item.insert(name.to_owned(), AttributeValue::S(value.to_owned()));
        };
        text(names::PENDING, &self.pk);
        text(names::BODY, &self.body);
        text(names::ROUTE, &self.route);
        text(names::EVENT_TYPE, &self.event_type);
        if let Some(region) = &self.region {
            text(names::REGION, region);
        }
        let mut number = |name: &str, value: String| {
            item.insert(name.to_owned(), AttributeValue::N(value));
        };
        number(names::CREATED_AT, self.created_at.to_string());
        number(names::SCHEMA, SCHEMA.to_string());
        if let Some(sequence) = self.sequence {
            number(names::SEQUENCE, sequence.to_string());
        }
        item
    }

    /// Reads a stored row. `None` when the item is none: another table, or a ghost without a body.
    #[must_use]
    pub fn read(item: &Item) -> Option<Self> {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
        Some(Self {
            pk: text(names::PK)?,
            sk: text(names::SK)?,
            body: text(names::BODY)?,
            route: text(names::ROUTE)?,
            event_type: text(names::EVENT_TYPE)?,
            sequence: number(item, names::SEQUENCE),
            region: text(names::REGION),
            created_at: number(item, names::CREATED_AT).unwrap_or_default(),
        })
    }

    /// The write that adds the row; refused by DynamoDB when the id is already there.
    ///
    /// # Errors
    /// [`RowError::Action`] only if the SDK refuses to build a complete action, which it does not.
    pub fn put(&self, table: &str) -> Result<Put, RowError> {
        Put::builder()
            .table_name(table)
            .set_item(Some(self.item()))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|error| RowError::Action(self.event_type.clone(), error))
    }
}

/// The key of a row.
pub(crate) fn key(pk: &str, sk: &str) -> Item {
    key_item([(names::PK, pk), (names::SK, sk)])
}

/// Whether a stored row is kept only: published, and no longer owed to anybody.
#[cfg(feature = "relay")]
pub(crate) fn is_published(item: &Item) -> bool {
    item.contains_key(names::PUBLISHED_AT)
}

pub(crate) fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name).and_then(|value| value.as_n().ok()).and_then(|text| text.parse().ok())
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("pk", &self.pk)
            .field("sk", &self.sk)
            .field("body", &Hidden::text(&self.body))
            .field("route", &self.route)
            .field("event_type", &self.event_type)
            .field("sequence", &self.sequence)
            .field("region", &self.region)
            .field("created_at", &self.created_at)
            .finish()
    }
}
