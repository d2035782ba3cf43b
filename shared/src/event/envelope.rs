use serde_json::value::RawValue;
use std::fmt;

use super::wire::{self, Read, Text, Written};
use super::{BodyHash, EventKey};
use crate::json;
use crate::telemetry::Hidden;

/// What led to an event: carried along so that a chain can be followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// W3C trace context of the producer; extension `traceparent`.
    pub traceparent: Option<String>,
    /// Shared by all events that one request led to; extension `correlationid`.
    pub correlation_id: Option<String>,
    /// The id of the event that led to this one; extension `causationid`.
    pub causation_id: Option<String>,
}

/// A CloudEvents 1.0 envelope in structured JSON mode. `data` keeps the producer's bytes exactly, so a number of
/// 39 digits arrives as it was sent.
///
/// # Examples
/// ```
/// use oncebox::event::Envelope;
///
/// let body = r#"{"specversion":"1.0","id":"42","source":"/shop","type":"OrderPlaced","data":{"n":1e400}}"#;
/// let envelope = Envelope::parse(body)?;
/// assert_eq!(envelope.key().as_str(), "/shop#42");
/// assert_eq!(envelope.data.get(), r#"{"n":1e400}"#);
/// # Ok::<(), oncebox::event::Malformed>(())
/// ```
#[derive(Clone)]
pub struct Envelope {
    /// The event's id, as the producer spelled it.
    pub id: String,
    /// Who produced it, such as `/shop/order-api`.
    pub source: String,
    /// The event type.
    pub event_type: String,
    /// The aggregate's type; empty when the producer does not state one.
    pub aggregate_type: String,
    /// The aggregate's id (`subject`); empty when the producer does not state one.
    pub aggregate_id: String,
    /// RFC 3339 time of the event; empty when the producer does not state one.
    pub time: String,
    /// The aggregate's version after this event, if the producer has one.
    pub sequence: Option<u64>,
    /// Version of the shape of `data`; 1 when absent.
    pub schema_version: u32,
    /// What led to it.
    pub cause: Cause,
    /// The payload's JSON, byte for byte; `null` when there is none.
    pub data: Box<RawValue>,
}

/// A body that cannot be taken for an event. It will not become one by retrying.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Not a JSON object, or one of the required strings is no string. Carries the place, never the text.
    #[error("the body is not a CloudEvents JSON object (line {line}, column {column})")]
    NotAnEnvelope {
        /// Line of the first error, from 1.
        line: usize,
        /// Column of the first error.
        column: usize,
    },
    /// A required attribute is absent or empty.
    #[error("the body has no {0:?}; a consumer never invents one")]
    Missing(&'static str),
    /// An attribute is there but cannot be used.
    #[error("the body's {0:?} is not usable: {1}")]
    Unusable(&'static str, &'static str),
    /// The record has no body at all.
    #[error("the record has no body")]
    NoBody,
    /// The event's type is handled, but its `data` does not have the declared shape.
    #[error(
        "the data of {event_type} does not have the shape of schema version {version} (line {line}, column {column})"
    )]
    Data {
        /// The event type.
        event_type: String,
        /// The schema version that was tried.
        version: u32,
        /// Line within `data`, from 1.
        line: usize,
        /// Column within that line.
        column: usize,
    },
    /// The event's type is handled, but in another schema version.
    #[error("{event_type} came in schema version {version}, and this consumer knows {known:?} only")]
    Version {
        /// The event type.
        event_type: String,
        /// The version in the envelope.
        version: u32,
        /// The versions that the consumer knows.
        known: Vec<u32>,
    },
}

impl Envelope {
    /// Reads an envelope from a body that is one.
    ///
    /// # Errors
    /// [`Malformed`] when the body is no JSON object, is of another CloudEvents version, lacks `id`, `source` or `type`,
    /// or has its data in `data_base64`.
    pub fn parse(body: &str) -> Result<Self, Malformed> {
        let read: Read<'_> = json::object(body)
            .map_err(|error| Malformed::NotAnEnvelope { line: error.line(), column: error.column() })?;
        if required(read.specversion, "specversion")? != "1.0" {
            return Err(Malformed::Unusable("specversion", "only 1.0 is known"));
        }
        let version = wire::number(read.schemaversion)
            .ok()
            .map(|version| version.unwrap_or(1))
            .and_then(|version| u32::try_from(version).ok())
            .ok_or(Malformed::Unusable("schemaversion", "it must be a whole number"))?;
        // CloudEvents asks for no `data`. Without it, and with `null`, it is the type's shape that decides.
        let data = match (read.data, read.data_base64) {
            (Some(data), _) => data,
            (None, None) => RawValue::NULL,
            (None, Some(_)) => {
                return Err(Malformed::Unusable("data_base64", "the data must be JSON, in \"data\""));
            }
        };
        Ok(Self {
            id: required(read.id, "id")?,
            source: required(read.source, "source")?,
            event_type: required(read.event_type, "type")?,
            aggregate_type: optional(read.aggregatetype),
            aggregate_id: optional(read.subject),
            time: optional(read.time),
            sequence: wire::number(read.sequence)
                .map_err(|()| Malformed::Unusable("sequence", "it must be a whole number"))?,
            schema_version: version,
            cause: Cause {
                traceparent: wire::optional_text(read.traceparent),
                correlation_id: wire::optional_text(read.correlationid),
                causation_id: wire::optional_text(read.causationid),
            },
            data: data.to_owned(),
        })
    }

    /// The JSON that is stored in the outbox row and published unchanged.
    ///
    /// # Errors
    /// Only if `serde_json` cannot write a string, which does not happen with these fields.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Written {
            specversion: "1.0",
            id: &self.id,
            source: &self.source,
            event_type: &self.event_type,
            subject: &self.aggregate_id,
            time: &self.time,
            datacontenttype: "application/json",
            aggregatetype: &self.aggregate_type,
            sequence: self.sequence.map(|sequence| sequence.to_string()),
            schemaversion: self.schema_version.to_string(),
            traceparent: self.cause.traceparent.as_deref(),
            correlationid: self.cause.correlation_id.as_deref(),
            causationid: self.cause.causation_id.as_deref(),
            data: &self.data,
        })
    }

    /// What a consumer remembers the event by.
    #[must_use]
    pub fn key(&self) -> EventKey {
        EventKey::of(&self.source, &self.id)
    }

    /// The hash that tells this event from another one with the same id.
    #[must_use]
    pub fn body_hash(&self) -> BodyHash {
        BodyHash::of(&self.event_type, self.data.get())
    }
}

fn required(text: Option<Text<'_>>, name: &'static str) -> Result<String, Malformed> {
    match text {
        Some(Text(text)) if !text.is_empty() => Ok(text.into_owned()),
        _ => Err(Malformed::Missing(name)),
    }
}

fn optional(text: Option<Text<'_>>) -> String {
    text.map(|Text(text)| text.into_owned()).unwrap_or_default()
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("id", &self.id)
            .field("source", &self.source)
            .field("event_type", &self.event_type)
            .field("aggregate_type", &self.aggregate_type)
            .field("aggregate_id", &self.aggregate_id)
            .field("time", &self.time)
            .field("sequence", &self.sequence)
            .field("schema_version", &self.schema_version)
            .field("cause", &self.cause)
            .field("data", &Hidden::text(self.data.get()))
            .finish()
    }
}
