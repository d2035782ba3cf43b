//! The rules of CloudWatch's embedded metric format, for checking lines.

use std::collections::BTreeMap;

use serde_json::Value;

const UNITS: [&str; 2] = ["Count", "Milliseconds"];

/// The line's dimension and its metrics, each as a list of values.
///
/// # Panics
/// When a rule of the specification is broken.
pub(crate) fn read(line: &Value) -> (String, BTreeMap<String, Vec<f64>>) {
    let size = line.to_string().len();
    assert!(size <= 256 * 1024, "a log event of {size} bytes");
    let aws = line["_aws"].as_object().expect("an object _aws");
    assert!(aws["Timestamp"].is_u64(), "{line}");
    let directives = aws["CloudWatchMetrics"].as_array().expect("directives");
    let [directive] = directives.as_slice() else { panic!("one directive is enough: {line}") };
    let namespace = directive["Namespace"].as_str().unwrap();
    assert!((1..=255).contains(&namespace.len()));
    let sets = directive["Dimensions"].as_array().unwrap();
    assert!(!sets.is_empty());
    for set in sets {
        let keys = set.as_array().unwrap();
        assert!(keys.len() <= 30, "dimensions of one set");
        for key in keys {
            let value = line[key.as_str().unwrap()].as_str().expect("a dimension's target is a text");
            assert!((1..=1024).contains(&value.len()) && value.is_ascii(), "{value:?}");
        }
    }
    let definitions = directive["Metrics"].as_array().unwrap();
    assert!(definitions.len() <= 100, "metrics of one line");
    let mut metrics = BTreeMap::new();
    for definition in definitions {
        let name = definition["Name"].as_str().unwrap();
        assert!((1..=255).contains(&name.len()));
        assert!(UNITS.contains(&definition["Unit"].as_str().unwrap()), "{definition}");
        let values: Vec<f64> = match &line[name] {
            Value::Array(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
            one => vec![one.as_f64().expect("a metric's target is a number, or a list of numbers")],
        };
        assert!((1..=100).contains(&values.len()), "{name} has {} values", values.len());
        assert!(metrics.insert(name.to_owned(), values).is_none(), "{name} twice");
    }
    let dimension = sets[0][0].as_str().unwrap();
    (line[dimension].as_str().unwrap().to_owned(), metrics)
}
