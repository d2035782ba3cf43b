//! The connection to DynamoDB, opened while a function starts.

use std::time::Duration;

use crate::store::{Store, key_item};
use crate::telemetry::chain;

/// How long a start waits for it. Lambda gives all of a start 10 s.
const PATIENCE: Duration = Duration::from_secs(1);
/// A partition key that no event and no aggregate has: theirs are UUIDs, hashes with a prefix, or have a `#`.
const NOBODY: &str = "oncebox";

/// Reads a row of `table` that is never there. Whatever is answered, credentials are found by then and a connection is open,
/// so that the first event does not wait for them. A failure is logged and nothing else: events say more about it.
pub(crate) async fn open(store: &dyn Store, table: &str) {
    let read = store.get(table, key_item([("pk", NOBODY), ("sk", "start")]));
    let reason = match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(_)) => return,
        Ok(Err(error)) => chain(&error),
        Err(_elapsed) => "it did not answer in time".to_owned(),
    };
    tracing::warn!(table, reason, "the table could not be read at the start");
}
