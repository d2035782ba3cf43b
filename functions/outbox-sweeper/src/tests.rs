//! A sweeper that could not publish does not start.

use std::time::Duration;

use oncebox::config::Reader;

use crate::Config;

fn read(grace: &'static str) -> Result<Config, String> {
    let reader = Reader::new(move |name| match name {
        "OUTBOX_TABLE" | "QUARANTINE_TABLE" => Some(name.to_lowercase()),
        "ROUTES" => Some(r#"{"Order": ["arn:aws:sns:eu-central-1:000000000000:orders"]}"#.to_owned()),
        "SWEEP_GRACE_SECONDS" => Some(grace.to_owned()),
        _ => None,
    });
    Config::read(reader).map_err(|error| error.to_string())
}

#[test]
fn every_missing_setting_is_named_at_once() {
    let error = Config::read(Reader::new(|_| None)).unwrap_err().to_string();
    for name in ["OUTBOX_TABLE", "QUARANTINE_TABLE", "ROUTES"] {
        assert!(error.contains(&format!("{name} is not set")), "{error}");
    }
    assert!(!error.contains("SWEEP_"), "what has a default may be absent: {error}");
}

#[test]
fn a_grace_that_is_no_number_is_refused_and_not_taken_for_the_default() {
    assert_eq!(read("60").unwrap().grace, Duration::from_secs(60));
    assert_eq!(read("0").unwrap().grace, Duration::ZERO, "the polling relay");
    assert_eq!(read("").unwrap().max_attempts, 100);
    assert!(read("5m").unwrap_err().contains("SWEEP_GRACE_SECONDS"));
}
