use std::time::{SystemTime, UNIX_EPOCH};

/// Epoch milliseconds now: what Lambda states deadlines in, and what events, messages and rows are dated with.
#[expect(clippy::disallowed_methods, reason = "another process compares these times with its own clock")]
pub(crate) fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}
