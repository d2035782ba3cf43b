use jiff::Timestamp;
use uuid::Uuid;

use super::{Envelope, Malformed};

impl Envelope {
    /// When the event came to be: its `time`, or what a UUID v7 says. `None` for an event that states neither, whose age
    /// cannot be known.
    ///
    /// # Errors
    /// [`Malformed::Unusable`] when `time` is no RFC 3339 timestamp.
    pub fn born(&self) -> Result<Option<Timestamp>, Malformed> {
        if !self.time.is_empty() {
            let time = self.time.parse();
            return time.map(Some).map_err(|_| Malformed::Unusable("time", "it is no RFC 3339 timestamp"));
        }
        let id = Uuid::try_parse(&self.id).ok().filter(|id| id.get_version_num() == 7);
        let (seconds, nanos) = match id.and_then(|id| id.get_timestamp()) {
            Some(timestamp) => timestamp.to_unix(),
            None => return Ok(None),
        };
        Ok(i64::try_from(seconds).ok().and_then(|seconds| Timestamp::new(seconds, nanos.cast_signed()).ok()))
    }
}
