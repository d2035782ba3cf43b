//! What is logged, exactly as a function would write it, and the spans as a tracing backend would see them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use oncebox::telemetry::{JsonLines, filter};
use serde_json::Value;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// The fields of one span, by name.
pub(crate) type Span = BTreeMap<String, String>;

#[derive(Clone, Default)]
pub(crate) struct Capture {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<Mutex<Vec<(u64, Span)>>>,
}

impl Capture {
    /// Captures what this thread logs until the guard is dropped.
    pub(crate) fn start(levels: &str) -> (Self, DefaultGuard) {
        let capture = Self::default();
        let lines = Arc::clone(&capture.lines);
        let json = JsonLines::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()));
        let subscriber = tracing_subscriber::registry().with(filter(levels)).with(json).with(capture.clone());
        let guard = tracing::subscriber::set_default(subscriber);
        (capture, guard)
    }

    /// Every line as it was written.
    pub(crate) fn text(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// The lines with this message.
    pub(crate) fn lines(&self, message: &str) -> Vec<Value> {
        let all = self.text().into_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap());
        all.filter(|line| line["message"] == message).collect()
    }

    /// The spans of this name, in the order of their beginning.
    pub(crate) fn spans(&self, name: &str) -> Vec<Span> {
        let spans = self.spans.lock().unwrap();
        spans.iter().map(|(_, span)| span.clone()).filter(|span| span["span"] == name).collect()
    }
}

struct Fields<'a>(&'a mut Span);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _context: Context<'_, S>) {
        let mut span = Span::from([("span".to_owned(), attributes.metadata().name().to_owned())]);
        attributes.record(&mut Fields(&mut span));
        self.spans.lock().unwrap().push((id.into_u64(), span));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _context: Context<'_, S>) {
        let mut spans = self.spans.lock().unwrap();
        let newest = spans.iter_mut().rfind(|(known, _)| *known == id.into_u64());
        values.record(&mut Fields(&mut newest.unwrap().1));
    }
}
