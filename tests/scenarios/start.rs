//! A function that is set up wrongly does not start, and says everything that is wrong at once.

use std::process::{Command, Output};

use oncebox_tests::built;

/// Function, its environment, and what it has to name.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

fn start(function: &str, environment: &[(&str, &str)]) -> Output {
    Command::new(built().join(function))
        .env_clear()
        .env("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9")
        .env("AWS_LAMBDA_FUNCTION_NAME", function)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn every_missing_or_bad_setting_is_named() {
    let cases: [Case; 5] = [
        ("order-api", &[], &["OUTBOX_TABLE", "ORDERS_TABLE", "ORDER_STATUS_TABLE", "EVENT_SOURCE"]),
        (
            "outbox-relay",
            &[("ROUTES", "{}")],
            &["OUTBOX_TABLE is not set", "ROUTES cannot be used: there is no route"],
        ),
        (
            "billing",
            &[("INBOX_TABLE", " "), ("INBOX_WINDOW_DAYS", "soon")],
            &[
                "INBOX_TABLE is not set",
                "ACCOUNTS_TABLE",
                "INBOX_WINDOW_DAYS cannot be used: a whole number of days",
            ],
        ),
        ("inventory", &[], &["INBOX_TABLE", "OUTBOX_TABLE", "STOCK_TABLE", "EVENT_SOURCE"]),
        (
            "order-projection",
            &[],
            &["ORDER_STATUS_TABLE", "QUARANTINE_TABLE", "QUEUE_URL", "MAX_RECEIVE_COUNT"],
        ),
    ];
    for (function, environment, named) in cases {
        let output = start(function, environment);
        assert!(!output.status.success(), "{function}");
        let log = String::from_utf8_lossy(&output.stderr);
        for name in named {
            assert!(log.contains(name), "{function} does not name {name:?}: {log}");
        }
    }
}
