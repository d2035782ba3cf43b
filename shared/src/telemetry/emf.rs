//! CloudWatch's embedded metric format: metrics that ride on a log line.
//!
//! Written by hand, after the specification; docs/decisions says why.

use std::sync::OnceLock;

use jiff::Timestamp;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Values that one metric may have on one line.
const MAX_VALUES: usize = 100;
/// Bytes of a dimension's value.
const MAX_DIMENSION: usize = 1024;

/// The metrics of one invocation, under one dimension: every further dimension would be further metrics to pay for.
#[derive(Debug)]
pub(crate) struct Emf {
    at: Timestamp,
    dimension: &'static str,
    counts: Vec<(&'static str, u64)>,
    samples: Vec<(&'static str, &'static str, Vec<Number>)>,
}

#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Part(f64),
}

impl Emf {
    /// The line must have a field of the dimension's name, with a [`dimension_value`].
    pub(crate) fn new(at: Timestamp, dimension: &'static str) -> Self {
        Self { at, dimension, counts: Vec::new(), samples: Vec::new() }
    }

    /// A counter. Zero is left out: CloudWatch then bills no metric for what never happens.
    pub(crate) fn count(&mut self, name: &'static str, count: usize) {
        if count > 0 {
            self.counts.push((name, count.try_into().unwrap_or(u64::MAX)));
        }
    }

    /// A number for each of several things.
    #[cfg(feature = "consumer")]
    pub(crate) fn numbers(&mut self, name: &'static str, values: impl IntoIterator<Item = u32>) {
        let values = values.into_iter().map(|value| Number::Whole(value.into()));
        self.samples.push((name, "Count", values.collect()));
    }

    /// Durations in microseconds, told in milliseconds.
    pub(crate) fn times(&mut self, name: &'static str, micros: impl IntoIterator<Item = u64>) {
        self.samples.push((name, "Milliseconds", micros.into_iter().map(in_millis).collect()));
    }

    /// The members to put on a line's top level. More than one line only where a metric has more values than a line may
    /// hold; each value is on one of them.
    pub(crate) fn into_lines(self) -> Vec<String> {
        let most = self.samples.iter().map(|(.., values)| values.len()).max().unwrap_or_default();
        (0..most.div_ceil(MAX_VALUES).max(1)).map(|number| self.line(number)).collect()
    }

    fn line(&self, number: usize) -> String {
        // What is written here, names and numbers, cannot fail to be written.
        let object = serde_json::to_string(&Line { emf: self, number }).unwrap_or_default();
        object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().to_owned()
    }
}

/// One of an invocation's lines, by its number from 0: the members, and the directive that explains them.
struct Line<'a> {
    emf: &'a Emf,
    number: usize,
}

impl Line<'_> {
    fn counts(&self) -> &[(&'static str, u64)] {
        if self.number == 0 { &self.emf.counts } else { &[] }
    }

    fn samples(&self) -> impl Iterator<Item = (&'static str, &'static str, &[Number])> {
        let samples = self.emf.samples.iter();
        samples.filter_map(|(name, unit, values)| {
            Some((*name, *unit, values.chunks(MAX_VALUES).nth(self.number)?))
        })
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        let mut metrics = Vec::with_capacity(self.emf.counts.len() + self.emf.samples.len());
        for (name, count) in self.counts() {
            members.serialize_entry(name, count)?;
            metrics.push(Metric { name, unit: "Count" });
        }
        for (name, unit, values) in self.samples() {
            members.serialize_entry(name, values)?;
            metrics.push(Metric { name, unit });
        }
        let directive = Directive { dimensions: [[self.emf.dimension]], metrics, namespace: namespace() };
        let aws = Aws { directives: [directive], timestamp: self.emf.at.as_millisecond() };
        members.serialize_entry("_aws", &aws)?;
        members.end()
    }
}

#[derive(serde::Serialize)]
struct Aws {
    #[serde(rename = "CloudWatchMetrics")]
    directives: [Directive; 1],
    #[serde(rename = "Timestamp")]
    timestamp: i64,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "PascalCase")]
struct Directive {
    dimensions: [[&'static str; 1]; 1],
    metrics: Vec<Metric>,
    namespace: &'static str,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "PascalCase")]
struct Metric {
    name: &'static str,
    unit: &'static str,
}

/// What CloudWatch takes as the value of a dimension: 1 to 1024 characters of printable ASCII.
pub(crate) fn dimension_value(value: &str) -> String {
    let printable = value.chars().map(|char| if matches!(char, ' '..='~') { char } else { '_' });
    let value: String = printable.take(MAX_DIMENSION).collect();
    if value.trim().is_empty() { "_".to_owned() } else { value }
}

/// `METRICS_NAMESPACE`, to keep the stages of one account apart; `oncebox` otherwise.
fn namespace() -> &'static str {
    static NAMESPACE: OnceLock<String> = OnceLock::new();
    NAMESPACE.get_or_init(|| {
        let set = std::env::var("METRICS_NAMESPACE").ok().filter(|name| (1..=255).contains(&name.len()));
        set.unwrap_or_else(|| "oncebox".to_owned())
    })
}

fn in_millis(micros: u64) -> Number {
    if micros.is_multiple_of(1000) {
        return Number::Whole(micros / 1000);
    }
    #[allow(clippy::cast_precision_loss, reason = "53 bits of microseconds are 285 years")]
    let millis = micros as f64 / 1000.0;
    Number::Part(millis)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn emf() -> Emf {
        Emf::new(Timestamp::from_millisecond(1_800_000_000_123).unwrap(), "consumer")
    }

    #[test]
    fn a_line_has_the_directive_and_its_targets() {
        let mut emf = emf();
        emf.count("Applied", 2);
        emf.count("Stale", 0);
        emf.times("HandlerTime", [1_500, 2_000]);
        emf.times("CommitTime", []);
        let lines = emf.into_lines();
        let expected = concat!(
            r#""Applied":2,"HandlerTime":[1.5,2],"_aws":{"CloudWatchMetrics":[{"Dimensions":[["consumer"]],"#,
            r#""Metrics":[{"Name":"Applied","Unit":"Count"},{"Name":"HandlerTime","Unit":"Milliseconds"}],"#,
            r#""Namespace":"oncebox"}],"Timestamp":1800000000123}"#
        );
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn more_values_than_a_line_may_hold_take_more_lines() {
        let mut emf = emf();
        emf.count("Applied", 250);
        emf.numbers("Deliveries", 0..250);
        let lines = emf.into_lines();
        assert_eq!(lines.len(), 3);
        let values = lines.iter().flat_map(|line| {
            let object: Value = serde_json::from_str(&format!("{{{line}}}")).unwrap();
            object["Deliveries"].as_array().unwrap().clone()
        });
        assert_eq!(values.collect::<Vec<_>>(), (0..250).map(Value::from).collect::<Vec<_>>());
        assert_eq!(lines.iter().filter(|line| line.contains("Applied")).count(), 1);
    }

    #[test]
    fn a_dimension_s_value_is_printable_and_not_empty() {
        assert_eq!(dimension_value("billing-2"), "billing-2");
        assert_eq!(dimension_value("größe\n"), "gr__e_");
        assert_eq!(dimension_value(""), "_");
        assert_eq!(dimension_value(&"x".repeat(2000)).len(), 1024);
    }
}
