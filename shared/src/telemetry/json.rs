use std::error::Error;
use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::{EMF, METRICS, chain};
use crate::time::{Clock, SystemClock};

/// Characters of one text field that are logged; an id or a reason from outside may be of any length.
const MAX_TEXT: usize = 2048;

/// Writes each event as one JSON object: time, level, message, its own fields, those of the spans around it, target.
///
/// A field's name occurs once; the innermost value wins. [`init`](super::init) installs it; with a subscriber of your
/// own, add it beside [`filter`](super::filter()):
///
/// ```
/// use oncebox::telemetry::{JsonLines, filter};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let lines = JsonLines::new(|line: &str| eprint!("{line}"));
/// let subscriber = tracing_subscriber::registry().with(filter("info")).with(lines);
/// # drop(subscriber);
/// ```
#[derive(Debug)]
pub struct JsonLines<W> {
    write: W,
}

impl<W: Fn(&str) + 'static> JsonLines<W> {
    /// Hands every line to `write`, with its line break.
    pub fn new(write: W) -> Self {
        Self { write }
    }
}

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&str) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = String::with_capacity(256);
        let _ = write!(line, r#"{{"timestamp":"{:.6}","level":"{}""#, SystemClock.now(), metadata.level());
        let metrics = fields.take_emf().filter(|_| metadata.target() == METRICS);
        let mut seen: Vec<&'static str> = Vec::with_capacity(16);
        seen.extend(["timestamp", "level", "target"]);
        fields.write(&mut line, &mut seen);
        let mut next = context.event_span(event);
        while let Some(span) = next {
            if let Some(fields) = span.extensions().get::<Fields>() {
                fields.write(&mut line, &mut seen);
            }
            next = span.parent();
        }
        let _ = write!(line, r#","target":{}"#, text(metadata.target()));
        if let Some(metrics) = metrics {
            line.push(',');
            line.push_str(&metrics);
        }
        line.push_str("}\n");
        (self.write)(&line);
    }
}

/// Names and rendered values.
#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn set(&mut self, field: &Field, value: String) {
        match self.0.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, old)) => *old = value,
            None => self.0.push((field.name(), value)),
        }
    }

    /// Takes the metrics out.
    fn take_emf(&mut self) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == EMF)?;
        Some(self.0.swap_remove(at).1)
    }

    fn write(&self, line: &mut String, seen: &mut Vec<&'static str>) {
        for (name, value) in &self.0 {
            // What only a tracing backend needs is no news on every line. Metrics belong to an event of ours.
            if !name.starts_with("otel.") && *name != EMF && !seen.contains(name) {
                seen.push(name);
                let _ = write!(line, ",{}:{value}", text(name));
            }
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, if value.is_finite() { value.to_string() } else { "null".to_owned() });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.to_string());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.to_string());
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.set(field, value.to_string());
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.set(field, value.to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.to_string());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // The metrics are members already, and must stay whole.
        let emf = field.name() == EMF;
        self.set(field, if emf { value.to_owned() } else { text(shortened(value)) });
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_str(field, &chain(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

fn text(value: &str) -> String {
    // A string can always be written.
    serde_json::to_string(value).unwrap_or_default()
}

fn shortened(value: &str) -> &str {
    value.char_indices().nth(MAX_TEXT).map_or(value, |(end, _)| value.get(..end).unwrap_or(value))
}
