//! The right to call: `[ConditionCheck inbox key absent, Put started]`.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{ConditionCheck, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use jiff::Timestamp;

use super::{Held, unknown};
use crate::consumer::Verdict;
use crate::consumer::engine::commit::is_unproven;
use crate::consumer::engine::{Admitted, Engine, id_reused};
use crate::effect::remote::{Kind, OnUnknown, Remote, Started, names, text};
use crate::inbox::{self, InboxKey};
use crate::outbox::limits;
use crate::retry;
use crate::store::{Item, TransactError};
use crate::telemetry::chain;

/// How often the row may change hands under one delivery's eyes.
const TRIES: u32 = 3;
/// Positions in the transaction.
const INBOX: usize = 0;
const STARTED: usize = 1;

impl<S: Clone + Send + Sync + 'static> Engine<S> {
    /// Writes "started", or takes it over where its lease has passed.
    ///
    /// # Errors
    /// The verdict of an event that must not be called for now.
    pub(super) async fn begin<'a>(
        &'a self,
        remote: &'a Remote,
        event: &Admitted<'_, S>,
    ) -> Result<Held<'a>, Verdict> {
        let impossible = |reason: &str| Verdict::Permanent(reason.to_owned());
        let provider =
            self.parts.remote.as_ref().ok_or_else(|| impossible("the consumer has no provider"))?;
        let key = self
            .inbox_key(event.envelope, event.now)
            .ok_or_else(|| impossible("the consumer has no inbox table"))?;
        remote.request.check(provider.plain_http).map_err(Verdict::Permanent)?;
        if self.budget(remote, event).is_none() {
            return Err(Verdict::NotStarted);
        }
        let mut row = self.fresh(remote, &key, event);
        let mut taken_from: Option<String> = None;
        let mut again = false;
        for _ in 0..TRIES {
            let first = taken_from.is_none();
            let sent = self.send_started(&provider.table, &key, &row, taken_from.as_deref(), event).await;
            let Err(error) = sent else {
                if again && !first {
                    event.watch.calls_again();
                    tracing::warn!(
                        event_key = row.pk,
                        "a call that may have been done is made again, by choice"
                    );
                }
                return Ok(Held { provider, remote, row, first });
            };
            match key.verdict(&error, INBOX) {
                _ if is_unproven(&error) => {
                    let known = self.look(event.envelope, event.now).await;
                    return Err(known.map_or_else(
                        |error| Verdict::Transient(chain(&error)),
                        |known| known.unwrap_or(Verdict::Duplicate),
                    ));
                }
                inbox::Verdict::Duplicate => return Err(Verdict::Duplicate),
                inbox::Verdict::IdReused => return Err(id_reused()),
                inbox::Verdict::ConditionFailed(_) => {
                    let Some(found) = self.found(&provider.table, &row, &error).await? else {
                        // It ended in between.
                        (row, taken_from) = (self.fresh(remote, &key, event), None);
                        continue;
                    };
                    let old = Started::read(&found)
                        .ok_or_else(|| impossible("the event's \"started\" row cannot be read"))?;
                    let now = self.parts.clock.now();
                    if old.lease_until > now.as_millisecond() {
                        event.watch.not_before(Timestamp::from_millisecond(old.lease_until).unwrap_or(now));
                    }
                    may_take_over(remote, &old, key.body_hash().as_str(), now, provider.plain_http)?;
                    again |= remote.kind == Kind::Unkeyed(OnUnknown::CallAgain) && old.reply.is_none();
                    taken_from = Some(old.lease.clone());
                    let Started { lease, lease_until, .. } = self.fresh(remote, &key, event);
                    row = Started { lease, lease_until, ..old };
                }
                inbox::Verdict::Invalid(_) | inbox::Verdict::Refused => {
                    return Err(Verdict::Permanent(chain(&error)));
                }
                inbox::Verdict::Busy => return Err(Verdict::Transient(chain(&error))),
                inbox::Verdict::Unknown => {
                    // The row may be there, and no call was made.
                    let held = Held { provider, remote, row, first };
                    if first {
                        self.clear(&held, event).await;
                    } else {
                        self.release(&held, None, event).await;
                    }
                    return Err(Verdict::Transient(chain(&error)));
                }
            }
        }
        Err(Verdict::Transient("the event's \"started\" row changed hands several times".to_owned()))
    }

    fn fresh(&self, remote: &Remote, key: &InboxKey, event: &Admitted<'_, S>) -> Started {
        let now = self.parts.clock.now();
        Started {
            pk: event.envelope.key().as_str().to_owned(),
            sk: self.parts.name.clone(),
            body_hash: key.body_hash().as_str().to_owned(),
            started_at: now.as_millisecond(),
            lease_until: self.lease_until(event).as_millisecond(),
            lease: self.parts.ids.fresh(now).to_string(),
            request: remote.request.clone(),
            heard: None,
            reply: None,
        }
    }

    async fn send_started(
        &self,
        table: &str,
        key: &InboxKey,
        row: &Started,
        taken_from: Option<&str>,
        event: &Admitted<'_, S>,
    ) -> Result<(), TransactError> {
        let refused = |source: Box<dyn std::error::Error + Send + Sync>| TransactError::Refused {
            code: "not built".to_owned(),
            source,
        };
        let built = [self.inbox_absent(key), put(table, row, taken_from)];
        let items =
            built.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| refused(error.into()))?;
        limits::check(&items, 0, true).map_err(|limit| refused(limit.into()))?;
        let token = self.parts.ids.fresh(self.parts.clock.now()).to_string();
        let hash = key.body_hash().as_str();
        let busy = |reasons: &[_]| inbox::Verdict::of_reasons(reasons, INBOX, hash) == inbox::Verdict::Busy;
        let (store, clock) = (self.parts.store.as_ref(), self.parts.clock.as_ref());
        // Half of the time, at most, goes into the right to call.
        let left = event.deadline.left(clock.now());
        let deadline = event.deadline.less(left / 2);
        retry::transact(store, clock, self.parts.backoff, deadline, &token, &items, busy).await
    }

    fn inbox_absent(&self, key: &InboxKey) -> Result<TransactWriteItem, BuildError> {
        let condition = "attribute_not_exists(pk)";
        #[cfg(feature = "fault-injection")]
        let condition = if self.parts.sabotage.no_inbox {
            "attribute_not_exists(pk) OR attribute_exists(pk)"
        } else {
            condition
        };
        let check = ConditionCheck::builder()
            .table_name(key.table())
            .set_key(Some(key.key()))
            .condition_expression(condition)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }

    /// The row that stood in the way. Not every emulator sends it with the refusal.
    async fn found(
        &self,
        table: &str,
        row: &Started,
        error: &TransactError,
    ) -> Result<Option<Item>, Verdict> {
        if let TransactError::Cancelled(reasons) = error
            && let Some(item) = reasons.get(STARTED).and_then(|reason| reason.item.clone())
        {
            return Ok(Some(item));
        }
        self.parts.store.get(table, row.key()).await.map_err(|error| Verdict::Transient(chain(&error)))
    }
}

fn put(table: &str, row: &Started, taken_from: Option<&str>) -> Result<TransactWriteItem, BuildError> {
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(row.item()))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let put = match taken_from {
        None => put.condition_expression("attribute_not_exists(pk)"),
        Some(lease) => put
            .condition_expression("#lease = :lease")
            .expression_attribute_names("#lease", names::LEASE)
            .expression_attribute_values(":lease", text(lease)),
    };
    Ok(TransactWriteItem::builder().put(put.build()?).build())
}

/// Whether the call that another delivery has begun is this delivery's to finish.
fn may_take_over(
    remote: &Remote,
    old: &Started,
    hash: &str,
    now: Timestamp,
    plain_http: bool,
) -> Result<(), Verdict> {
    if old.body_hash != hash {
        return Err(id_reused());
    }
    let now = now.as_millisecond();
    if old.lease_until > now {
        let left = old.lease_until.saturating_sub(now);
        return Err(Verdict::Transient(format!(
            "another delivery of this event has begun the call; its lease has {left} ms left"
        )));
    }
    if old.reply.is_some() {
        return Ok(());
    }
    // Frozen when more was allowed than is now. The first attempt may have been done, so it is not simply refused.
    old.request.check(plain_http).map_err(|what| {
        unknown(&with_heard(format!("the call that was begun may not be sent again: {what}"), old))
    })?;
    match &remote.kind {
        Kind::Keyed { lifetime, .. } => {
            // The next attempt must arrive while the provider remembers the first one.
            let age = now.saturating_sub(old.started_at);
            let latest = i64::try_from(remote.timeout.as_millis()).unwrap_or(i64::MAX).saturating_add(age);
            if latest < i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX) {
                return Ok(());
            }
            let (age, lifetime) = (age / 1000, lifetime.as_secs());
            let late =
                format!("the call was begun {age} s ago, and the provider remembers a key for {lifetime} s");
            Err(unknown(&with_heard(late, old)))
        }
        Kind::Unkeyed(OnUnknown::CallAgain) => Ok(()),
        Kind::Unkeyed(OnUnknown::Quarantine) => {
            let earlier = "an earlier delivery began the call and left no answer".to_owned();
            Err(unknown(&with_heard(earlier, old)))
        }
    }
}

/// The case overwrites that of the delivery which called, and a person wants to know what that one heard.
fn with_heard(why: String, old: &Started) -> String {
    match &old.heard {
        Some(heard) => format!("{why}; last heard: {heard}"),
        None => why,
    }
}
