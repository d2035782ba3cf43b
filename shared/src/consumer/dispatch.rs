use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::{Handler, HandlerError};
use crate::effect::{IntoWork, Reads, Work};
use crate::event::{Envelope, Event, Malformed, Message};

/// A handler behind its event type, typed data already read.
pub(super) trait Route<S>: Send + Sync {
    /// Whether the effect is committed with an inbox key.
    fn needs_inbox(&self) -> bool;

    fn prepare(
        &self,
        envelope: Arc<Envelope>,
        now: Timestamp,
        attempt: u32,
    ) -> Result<Box<dyn Prepared<S> + '_>, Malformed>;
}

/// One event with its handler; can be run again.
pub(super) trait Prepared<S>: Send + Sync {
    fn run(&self, reads: Reads, state: S) -> BoxFuture<'_, Result<Work, HandlerError>>;
}

/// Handlers by event type and schema version.
pub(super) type Routes<S> = HashMap<&'static str, BTreeMap<u32, Box<dyn Route<S>>>>;

pub(super) struct Typed<E, M, H> {
    handler: H,
    _types: PhantomData<fn(E, M)>,
}

impl<E, M, H> Typed<E, M, H> {
    pub(super) fn new(handler: H) -> Self {
        Self { handler, _types: PhantomData }
    }
}

struct Ready<'a, E, M, H> {
    handler: &'a H,
    message: Message<E>,
    _marker: PhantomData<fn(M)>,
}

impl<E, S, M, H> Route<S> for Typed<E, M, H>
where
    E: Event,
    S: Send + 'static,
    M: 'static,
    H: Handler<E, S, M>,
{
    fn needs_inbox(&self) -> bool {
        <H::Outcome as IntoWork>::NEEDS_INBOX
    }

    fn prepare(
        &self,
        envelope: Arc<Envelope>,
        now: Timestamp,
        attempt: u32,
    ) -> Result<Box<dyn Prepared<S> + '_>, Malformed> {
        // serde_json's own message may quote the data, so only the place is kept.
        let event: E = serde_json::from_str(envelope.data.get()).map_err(|error| Malformed::Data {
            event_type: envelope.event_type.clone(),
            version: envelope.schema_version,
            line: error.line(),
            column: error.column(),
        })?;
        let message = Message::shared(event, envelope, now, attempt);
        Ok(Box::new(Ready { handler: &self.handler, message, _marker: PhantomData::<fn(M)> }))
    }
}

impl<E, S, M, H> Prepared<S> for Ready<'_, E, M, H>
where
    E: Event,
    S: Send + 'static,
    M: 'static,
    H: Handler<E, S, M>,
{
    fn run(&self, reads: Reads, state: S) -> BoxFuture<'_, Result<Work, HandlerError>> {
        let running = self.handler.call(self.message.clone(), reads, state);
        Box::pin(async move { running.await.map(IntoWork::into_work) })
    }
}
