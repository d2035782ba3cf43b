//! Events and the envelope they travel in.

mod born;
mod emit;
mod envelope;
mod hash;
mod id;
mod message;
mod trace;
mod wire;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use emit::{Emit, EmitError};
pub use envelope::{Cause, Envelope, Malformed};
pub use hash::BodyHash;
#[cfg(any(feature = "relay", feature = "remote", test))]
pub(crate) use hash::graphic_or_hash;
pub(crate) use hash::sha256_hex;
pub use id::{EventId, EventKey};
pub(crate) use id::{bounded, without_hash};
pub use message::Message;
pub use trace::TraceContext;

/// A business fact of one aggregate.
///
/// # Examples
/// ```
/// use std::borrow::Cow;
/// use oncebox::event::Event;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct OrderPlaced {
///     order_id: String,
///     amount_cents: i64,
/// }
///
/// impl Event for OrderPlaced {
///     const TYPE: &'static str = "OrderPlaced";
///     const AGGREGATE_TYPE: &'static str = "Order";
///
///     fn aggregate_id(&self) -> Cow<'_, str> {
///         Cow::Borrowed(&self.order_id)
///     }
/// }
/// ```
pub trait Event: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The event type; CloudEvents `type`. Not empty.
    const TYPE: &'static str;
    /// The kind of thing the event is about; extension `aggregatetype`. Not empty, and without `#`, which parts
    /// it from the id in the outbox key.
    const AGGREGATE_TYPE: &'static str;
    /// The version of `data`'s shape; extension `schemaversion`. A consumer that knows only other versions
    /// calls the message malformed.
    const SCHEMA_VERSION: u32 = 1;

    /// The id of the thing the event is about; CloudEvents `subject`. Not empty.
    fn aggregate_id(&self) -> Cow<'_, str>;
}
