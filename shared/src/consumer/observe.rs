//! What the test kit asks of a consumer that somebody else has built.

use std::sync::Arc;

use super::Consumer;
use super::engine::Engine;
use crate::time::{Clock, Ids};

impl<S> Consumer<S> {
    /// The same consumer on another clock. `None` when there are other handles to it, which would keep the old one.
    pub(crate) fn on_clock(self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Option<Self> {
        let Engine { mut parts, routes, state } = Arc::into_inner(self.engine)?;
        parts.clock = clock;
        parts.ids = ids;
        Some(Self { engine: Arc::new(Engine { parts, routes, state }) })
    }

    /// The name in the inbox key.
    pub(crate) fn name(&self) -> &str {
        &self.engine.parts.name
    }
}
