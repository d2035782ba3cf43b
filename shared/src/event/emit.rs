use serde_json::value::RawValue;
use std::fmt;

use super::{Cause, Envelope, Event, EventId};
use crate::telemetry::Hidden;

/// An event to be written to the outbox. Its `data` is serialised at once, so that it cannot change afterwards; its
/// id, time and source are added when the transaction is built.
///
/// # Examples
/// ```
/// # use std::borrow::Cow;
/// # use oncebox::event::{Emit, Event};
/// # #[derive(serde::Serialize, serde::Deserialize)] struct OrderPlaced { order_id: String }
/// # impl Event for OrderPlaced {
/// #     const TYPE: &'static str = "OrderPlaced";
/// #     const AGGREGATE_TYPE: &'static str = "Order";
/// #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.order_id) }
/// # }
/// let emit = Emit::new(&OrderPlaced { order_id: "o-1".into() }).sequence(1);
/// ```
#[must_use]
pub struct Emit {
    event_type: &'static str,
    aggregate_type: &'static str,
    aggregate_id: String,
    schema_version: u32,
    sequence: Option<u64>,
    route: Option<String>,
    cause: Cause,
    data: Result<Box<RawValue>, serde_json::Error>,
}

/// An event that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// `data` could not be serialised.
    #[error("the data of {event_type} cannot be written as JSON")]
    Data {
        /// The event type.
        event_type: &'static str,
        /// What serde_json said.
        #[source]
        source: serde_json::Error,
    },
    /// A name is empty or has a character that its place does not allow.
    #[error("{event_type} has an unusable {what}: {why}")]
    Name {
        /// The event type.
        event_type: &'static str,
        /// Which name.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Emit {
    /// Takes a snapshot of the event. The route is the aggregate type unless [`route`](Self::route) names another.
    pub fn new<E: Event>(event: &E) -> Self {
        Self {
            event_type: E::TYPE,
            aggregate_type: E::AGGREGATE_TYPE,
            aggregate_id: event.aggregate_id().into_owned(),
            schema_version: E::SCHEMA_VERSION,
            sequence: None,
            route: None,
            cause: Cause::default(),
            data: serde_json::value::to_raw_value(event),
        }
    }

    /// The aggregate's version after this event. Only the sequence *is* order.
    pub fn sequence(mut self, sequence: impl Into<Option<u64>>) -> Self {
        self.sequence = sequence.into();
        self
    }

    /// The route, in the relay's configuration, that this event takes.
    pub fn route(mut self, route: impl Into<String>) -> Self {
        self.route = Some(route.into());
        self
    }

    /// Trace, correlation and causation. An event that a consumer emits gets them from its own cause.
    pub fn cause(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }

    /// The route of the row.
    pub(crate) fn route_name(&self) -> &str {
        self.route.as_deref().unwrap_or(self.aggregate_type)
    }

    /// Freezes the envelope.
    pub(crate) fn into_envelope(
        self,
        id: EventId,
        source: &str,
        time: String,
    ) -> Result<Envelope, EmitError> {
        let event_type = self.event_type;
        let name = |what, why| EmitError::Name { event_type, what, why };
        if event_type.is_empty() {
            return Err(name("type", "it is empty"));
        }
        if self.aggregate_type.is_empty() {
            return Err(name("aggregate type", "it is empty"));
        }
        if self.aggregate_type.contains('#') {
            return Err(name("aggregate type", "it has a '#', which parts it from the id in the outbox key"));
        }
        if self.aggregate_id.is_empty() {
            return Err(name("aggregate id", "it is empty"));
        }
        Ok(Envelope {
            id: id.to_string(),
            source: source.to_owned(),
            event_type: event_type.to_owned(),
            aggregate_type: self.aggregate_type.to_owned(),
            aggregate_id: self.aggregate_id,
            time,
            sequence: self.sequence,
            schema_version: self.schema_version,
            cause: self.cause,
            data: self.data.map_err(|source| EmitError::Data { event_type, source })?,
        })
    }

    #[cfg(feature = "consumer")]
    pub(crate) fn inherit(mut self, cause: &Cause) -> Self {
        self.cause.traceparent = self.cause.traceparent.or_else(|| cause.traceparent.clone());
        self.cause.correlation_id = self.cause.correlation_id.or_else(|| cause.correlation_id.clone());
        self.cause.causation_id = self.cause.causation_id.or_else(|| cause.causation_id.clone());
        self
    }
}

impl<E: Event> From<E> for Emit {
    fn from(event: E) -> Self {
        Self::new(&event)
    }
}

impl fmt::Debug for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emit")
            .field("event_type", &self.event_type)
            .field("aggregate_type", &self.aggregate_type)
            .field("aggregate_id", &self.aggregate_id)
            .field("schema_version", &self.schema_version)
            .field("sequence", &self.sequence)
            .field("route", &self.route)
            .field("cause", &self.cause)
            .field("data", &self.data.as_ref().ok().map(|data| Hidden::text(data.get())))
            .finish()
    }
}
