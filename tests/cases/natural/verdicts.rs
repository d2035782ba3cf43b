use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{self, DefaultGuard};
use tracing::{Event, Metadata, Subscriber};

/// What consumers on this thread log about each record.
#[derive(Clone, Default)]
pub(super) struct Verdicts(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The event of each record's span.
    spans: Vec<String>,
    logged: Vec<Logged>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Logged {
    pub(super) event_id: String,
    pub(super) verdict: String,
    pub(super) reason: String,
}

impl Verdicts {
    /// Listens until the guard is dropped.
    pub(super) fn listen() -> (Self, DefaultGuard) {
        let verdicts = Self::default();
        let guard = subscriber::set_default(verdicts.clone());
        (verdicts, guard)
    }

    /// What has been logged since the last call, a line for each record.
    pub(super) fn take(&self) -> Vec<Logged> {
        std::mem::take(&mut self.0.lock().unwrap().logged)
    }
}

impl Subscriber for Verdicts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "record" || metadata.target().starts_with("oncebox::consumer")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut logged = Logged::default();
        span.record(&mut logged);
        let mut state = self.0.lock().unwrap();
        state.spans.push(logged.event_id);
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut logged = Logged::default();
        event.record(&mut logged);
        let mut state = self.0.lock().unwrap();
        if let (Some(span), false) = (event.parent(), logged.verdict.is_empty()) {
            logged.event_id.clone_from(&state.spans[span.into_u64() as usize - 1]);
            state.logged.push(logged);
        }
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

impl Visit for Logged {
    fn record_str(&mut self, field: &Field, value: &str) {
        let place = match field.name() {
            "event_id" => &mut self.event_id,
            "verdict" => &mut self.verdict,
            "reason" => &mut self.reason,
            _ => return,
        };
        value.clone_into(place);
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
