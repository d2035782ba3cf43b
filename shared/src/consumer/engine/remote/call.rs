//! One attempt at the call.

use std::time::Duration;

use super::Held;
use crate::consumer::engine::{Admitted, Engine, of_handler};
use crate::consumer::{HandlerError, Verdict};
use crate::effect::remote::{Kind, NoReply, Outcome, Outgoing, Remote, retry_after};
use crate::event::graphic_or_hash;
use crate::time::Deadline;

/// A call that would have less time is not begun: it would only become unknown.
const LEAST: Duration = Duration::from_secs(1);
/// Time that is kept for what follows from the answer: a quarter of what is left, and no more than this.
const RESERVE: Duration = Duration::from_secs(2);
/// Characters that providers take for a key.
const MAX_KEY: usize = 255;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// How long the call may take; `None` when that is too short.
    pub(super) fn budget(&self, remote: &Remote, event: &Admitted<'_, S>) -> Option<Duration> {
        let left = event.deadline.left(self.parts.clock.now());
        let within = remote.timeout.min(left.saturating_sub(RESERVE.min(left / 4)));
        (within >= remote.timeout.min(LEAST)).then_some(within)
    }

    /// Sends the frozen request once.
    ///
    /// # Errors
    /// The verdict when it was not sent: there are no credentials, a header is none, or no time is left.
    pub(super) async fn attempt(&self, held: &Held<'_>, event: &Admitted<'_, S>) -> Result<Outcome, Verdict> {
        let mut outgoing = Outgoing::new(held.row.request.clone());
        if let Some(credentials) = &held.provider.credentials {
            // Nothing has been sent while they are looked for; the deadline could not tell.
            let patience = event.deadline.left(self.parts.clock.now()) / 4;
            let added = tokio::time::timeout(patience, credentials.add(&mut outgoing)).await;
            added
                .unwrap_or_else(|_| Err(HandlerError::transient("the credentials were not there in time")))
                .map_err(|error| of_handler(&error))?;
        }
        if let Kind::Keyed { header, .. } = &held.remote.kind {
            outgoing.header(header, idempotency_key(&held.row.pk)).map_err(|error| of_handler(&error))?;
        }
        let Some(within) = self.budget(held.remote, event) else {
            return Err(Verdict::NotStarted);
        };
        let sending = held.provider.transport.send(&outgoing, within, held.remote.max_reply);
        let answer = tokio::time::timeout(within, sending)
            .await
            .unwrap_or_else(|elapsed| Err(NoReply::Lost(elapsed.into())));
        let now = self.parts.clock.now();
        let asked = answer.as_ref().ok().and_then(|reply| retry_after(reply, now));
        let kept =
            |reply: crate::effect::remote::Reply| reply.within(held.remote.max_reply, &held.remote.keep);
        let outcome = held.remote.judge(answer.map(kept));
        if let (Some(asked), Outcome::Again(_) | Outcome::NotDone(_)) = (asked, &outcome) {
            event.watch.not_before(Deadline::after(now, asked).at());
        }
        Ok(outcome)
    }
}

/// The event's id. What no header may hold is hashed: the key only has to be the same each time.
fn idempotency_key(event_key: &str) -> String {
    graphic_or_hash(event_key, MAX_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_event_id_where_a_header_may_hold_it() {
        let id = "0190a3e4-7b1c-7def-8a00-000000000001";
        assert_eq!(idempotency_key(id), id);
        assert_eq!(idempotency_key("/shop#42"), "/shop#42");
        assert_eq!(idempotency_key("/shop#ü").len(), 64);
        assert_eq!(idempotency_key(&"x".repeat(256)).len(), 64);
    }
}
