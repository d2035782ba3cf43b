//! A relay that could not publish does not start.

use oncebox::config::Reader;

use crate::Config;

const TOPIC: &str = "arn:aws:sns:eu-central-1:000000000000:orders";

fn read(routes: &'static str) -> Result<Config, String> {
    let reader = Reader::new(move |name| match name {
        "OUTBOX_TABLE" | "QUARANTINE_TABLE" => Some(name.to_lowercase()),
        "ROUTES" => Some(routes.replace("TOPIC", TOPIC)),
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
}

#[test]
fn routes_are_read() {
    let config = read(r#"{"Order": ["TOPIC", "https://sqs.eu-central-1.amazonaws.com/000000000000/audit"]}"#);
    assert_eq!(config.unwrap().outbox_table, "outbox_table");
}

#[test]
fn routes_that_lead_nowhere_are_refused_with_their_reason() {
    for (routes, reason) in [
        ("TOPIC", "routes are a JSON object"),
        (r#"{"Order": "TOPIC"}"#, "routes are a JSON object"),
        ("{}", "there is no route"),
        (r#"{"Order": []}"#, "route \"Order\" has no destination"),
        (r#"{"Order": ["TOPIC", "TOPIC"]}"#, "twice"),
        (r#"{"Order": ["orders"]}"#, "\"orders\" is neither an SNS topic ARN nor an SQS queue URL"),
    ] {
        let error = read(routes).unwrap_err();
        assert!(error.contains("ROUTES") && error.contains(reason), "{routes}: {error}");
    }
}
