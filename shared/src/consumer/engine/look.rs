//! Whether the inbox knows an event already.

use jiff::Timestamp;

use super::{Engine, id_reused};
use crate::consumer::Verdict;
use crate::event::Envelope;
use crate::inbox::{self, InboxKey};
use crate::store::StoreError;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    pub(super) fn inbox_key(&self, envelope: &Envelope, now: Timestamp) -> Option<InboxKey> {
        let table = self.parts.inbox.as_ref()?;
        let window = self.parts.retention.inbox.into();
        Some(InboxKey::new(table, &self.parts.name, envelope, now, window))
    }

    /// Reads the inbox key: a duplicate, another event under this id, or nothing known.
    ///
    /// # Errors
    /// When DynamoDB did not answer.
    pub(super) async fn look(
        &self,
        envelope: &Envelope,
        now: Timestamp,
    ) -> Result<Option<Verdict>, StoreError> {
        #[cfg(feature = "fault-injection")]
        if self.parts.sabotage.no_inbox {
            return Ok(None);
        }
        let Some(key) = self.inbox_key(envelope, now) else { return Ok(None) };
        let found = self.parts.store.get(key.table(), key.key()).await?;
        Ok(found.map(|row| match row.get(inbox::names::BODY_HASH).and_then(|hash| hash.as_s().ok()) {
            Some(hash) if hash != key.body_hash().as_str() => id_reused(),
            _ => Verdict::Duplicate,
        }))
    }

    /// Whether an event that is about to be given up has been applied by an earlier delivery, whose answer was lost or
    /// which the handler has taken offence at.
    ///
    /// # Errors
    /// When DynamoDB did not answer.
    pub(in crate::consumer) async fn has_applied(
        &self,
        envelope: &Envelope,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let versions = self.routes.get(envelope.event_type.as_str());
        if !versions.is_some_and(|versions| versions.values().any(|route| route.needs_inbox())) {
            return Ok(false);
        }
        Ok(self.look(envelope, now).await? == Some(Verdict::Duplicate))
    }
}
