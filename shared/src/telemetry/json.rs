use std::error::Error;
use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
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
        let mut fields = Fields::for_fields_of(attributes.metadata());
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
        let mut fields = Fields::for_fields_of(metadata);
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

/// Names and values, all in one buffer. They are made JSON when a line is written: most records have none.
struct Fields {
    values: String,
    fields: Vec<One>,
}

/// One field, whose value is the buffer's text up to `end`, from where the one before ends.
struct One {
    name: &'static str,
    end: usize,
    is_json: bool,
}

impl Fields {
    fn for_fields_of(metadata: &Metadata<'_>) -> Self {
        Self { values: String::with_capacity(256), fields: Vec::with_capacity(metadata.fields().len()) }
    }

    /// Adds a field, or takes the place of one of that name.
    fn set(&mut self, field: &Field, is_json: bool, write: impl FnOnce(&mut String)) {
        let old = self.fields.iter().position(|one| one.name == field.name());
        if let Some(old) = old {
            self.remove(old);
        }
        write(&mut self.values);
        self.fields.push(One { name: field.name(), end: self.values.len(), is_json });
    }

    fn number(&mut self, field: &Field, number: impl fmt::Display) {
        // Writing to a string does not fail.
        self.set(field, true, |values| {
            let _ = write!(values, "{number}");
        });
    }

    /// Takes a field out, and answers its value.
    fn remove(&mut self, at: usize) -> String {
        let start = at.checked_sub(1).and_then(|before| self.fields.get(before)).map_or(0, |one| one.end);
        let end = self.fields.remove(at).end;
        for later in self.fields.iter_mut().skip(at) {
            later.end -= end - start;
        }
        self.values.drain(start..end).collect()
    }

    /// Takes the metrics out.
    fn take_emf(&mut self) -> Option<String> {
        let at = self.fields.iter().position(|one| one.name == EMF)?;
        Some(self.remove(at))
    }

    fn write(&self, line: &mut String, seen: &mut Vec<&'static str>) {
        let mut start = 0;
        for One { name, end, is_json } in &self.fields {
            let value = self.values.get(start..*end).unwrap_or_default();
            start = *end;
            // What only a tracing backend needs is no news on every line. Metrics belong to an event of ours.
            if !name.starts_with("otel.") && *name != EMF && !seen.contains(name) {
                seen.push(name);
                let _ = write!(line, ",{}:", text(name));
                if *is_json {
                    line.push_str(value);
                } else {
                    line.push_str(&text(value));
                }
            }
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.number(field, value);
        } else {
            self.number(field, "null");
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.number(field, value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // The metrics are members already, and must stay whole.
        let emf = field.name() == EMF;
        self.set(field, emf, |values| values.push_str(if emf { value } else { shortened(value) }));
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
