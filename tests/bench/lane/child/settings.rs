use std::collections::BTreeMap;
use std::env;

use crate::aws::Tables;

/// What contestants are told unless the environment says otherwise.
const DEFAULTS: [(&str, &str); 19] = [
    ("INBOX_TABLE", "inbox"),
    ("QUARANTINE_TABLE", "quarantine"),
    ("ACCOUNTS_TABLE", "accounts"),
    ("OUTBOX_TABLE", "outbox"),
    ("IDEMPOTENCY_TABLE", "idempotency"),
    ("QUEUE_URL", "https://sqs.us-east-1.amazonaws.com/123456789012/billing"),
    ("MAX_RECEIVE_COUNT", "5"),
    ("TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:orders"),
    ("ROUTES", r#"{"*":["arn:aws:sns:us-east-1:123456789012:orders"]}"#),
    ("AWS_REGION", "us-east-1"),
    ("AWS_DEFAULT_REGION", "us-east-1"),
    ("AWS_LAMBDA_FUNCTION_NAME", "bench"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
    ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/bench"),
    ("AWS_LAMBDA_LOG_STREAM_NAME", "2026/11/30/[$LATEST]bench"),
    ("LAMBDA_TASK_ROOT", "."),
    ("_HANDLER", "bootstrap"),
];

/// The variables that a process is given on top of those it inherits.
#[derive(Debug, Clone)]
pub(crate) struct Settings(BTreeMap<&'static str, String>);

impl Default for Settings {
    fn default() -> Self {
        Self(DEFAULTS.map(|(name, value)| (name, value.to_owned())).into())
    }
}

impl Settings {
    /// The defaults, and what this program's own environment has instead.
    pub(crate) fn from_env() -> Self {
        let value = |name: &str, default: &str| env::var(name).unwrap_or(default.to_owned());
        Self(DEFAULTS.map(|(name, default)| (name, value(name, default))).into())
    }

    /// Names the two servers, and gives credentials that open nothing.
    pub(crate) fn connect(&mut self, runtime_port: u16, aws_port: u16) {
        self.0.extend([
            ("AWS_LAMBDA_RUNTIME_API", format!("127.0.0.1:{runtime_port}")),
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{aws_port}")),
            ("AWS_ACCESS_KEY_ID", "AKIDBENCH".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "bench".to_owned()),
            ("AWS_SESSION_TOKEN", "bench".to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ]);
    }

    /// One of them; empty when there is none of this name.
    pub(crate) fn get(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The tables, empty.
    pub(crate) fn tables(&self) -> Tables {
        let mut tables = Tables::default();
        for name in ["INBOX_TABLE", "QUARANTINE_TABLE", "OUTBOX_TABLE"] {
            tables.create(&self.get(name), &["pk", "sk"]);
        }
        tables.create(&self.get("ACCOUNTS_TABLE"), &["account_id"]);
        tables.create(&self.get("IDEMPOTENCY_TABLE"), &["id"]);
        tables
    }
}
