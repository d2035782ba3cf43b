//! How many records ended in which verdict, as the last line of each invocation says.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

use oncebox::telemetry::METRICS;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest};
use tracing::{Event, Metadata, Subscriber};

/// Verdict, `records` or `quarantined`, to how many.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

thread_local! {
    static LINES: RefCell<Vec<Counts>> = const { RefCell::new(Vec::new()) };
}

/// Counts what this thread's consumers say until the guard is dropped.
pub(crate) fn listen() -> DefaultGuard {
    tracing::subscriber::set_default(Listener)
}

/// What was said since the last call, one for each invocation.
pub(crate) fn take() -> Vec<Counts> {
    LINES.take()
}

/// Every record of an invocation has exactly one verdict.
pub(crate) fn check(counts: &Counts) -> Result<(), String> {
    let of = |names: &[&str]| names.iter().map(|name| counts[name]).sum::<u64>();
    let done = of(&["applied", "duplicate", "stale", "unhandled"]);
    let kept = of(&["transient", "permanent", "malformed", "too_old"]);
    let all = done + kept + of(&["held_back", "not_started"]);
    if all != counts["records"] {
        return Err(format!("{} records have {all} verdicts: {counts:?}", counts["records"]));
    }
    if counts["quarantined"] > kept {
        return Err(format!("more in quarantine than there is reason for: {counts:?}"));
    }
    Ok(())
}

struct Listener;

impl Subscriber for Listener {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == METRICS && metadata.is_event()
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut counts = Numbers::default();
        event.record(&mut counts);
        if counts.0.contains_key("records") {
            LINES.with_borrow_mut(|lines| lines.push(counts.0));
        }
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[derive(Default)]
struct Numbers(Counts);

impl Visit for Numbers {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name(), value);
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn Debug) {}
}
