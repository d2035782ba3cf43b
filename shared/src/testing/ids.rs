use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use uuid::Uuid;

use crate::time::Ids;

/// Ids that count up: version 7 in form, and the same in every run. Clones share one counter.
#[derive(Debug, Clone, Default)]
pub struct CountedIds {
    next: Arc<AtomicU64>,
}

impl Ids for CountedIds {
    fn fresh(&self, at: Timestamp) -> Uuid {
        let number = self.next.fetch_add(1, Ordering::SeqCst) + 1;
        let millis = u64::try_from(at.as_millisecond()).unwrap_or_default();
        let mut random = [0_u8; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
