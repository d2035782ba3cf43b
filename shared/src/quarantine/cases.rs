//! What is in the quarantine, and letting go of it.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};

use super::row::{self, ReadError, names, part_key};
use super::{Case, Quarantine};
use crate::retry::{self, Backoff};
use crate::store::{CancelCode, CancelReason, Item, Pages, StoreError, TransactError, key_item};
use crate::time::{Clock, Deadline, Ids};

/// The index by owner and time.
const BY_OWNER: &str = "by_owner";

/// Where a case is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseKey {
    /// Partition key.
    pub pk: String,
    /// Sort key.
    pub sk: String,
}

/// A case in the quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCase {
    /// Where it is.
    pub key: CaseKey,
    /// The case.
    pub case: Case,
    /// Epoch milliseconds of the first failure.
    pub first_failed_at: i64,
    /// Epoch milliseconds of the last failure.
    pub last_failed_at: i64,
}

/// One page of cases, the longest waiting first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cases {
    /// The cases.
    pub cases: Vec<StoredCase>,
    /// Rows that do not make up a case, with what is wrong.
    pub odd: Vec<(CaseKey, ReadError)>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<Item>,
}

/// The quarantine table could not be read, or a case in it not be let go of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// A read failed.
    #[error("the quarantine table cannot be read")]
    Store(#[from] StoreError),
    /// The row is no case.
    #[error("the quarantine row is not a whole case")]
    Read(#[from] ReadError),
    /// It failed once more since it was read, and so stays.
    #[error("the case has failed once more in the meantime and stays in the quarantine")]
    FailedAgain,
    /// The removal was not confirmed.
    #[error("the quarantine table did not confirm the removal; the case may still be there")]
    Transact(#[source] TransactError),
    /// The SDK refused to build the removal, which it does not.
    #[error("the removal cannot be built")]
    Action(#[from] BuildError),
}

impl Quarantine {
    /// One page of the cases of `owner`, by the time of their last failure, from `start` on. It reads the index
    /// `by_owner`, which lags behind by less than a second usually.
    ///
    /// # Errors
    /// [`StoreError`] when a read failed.
    pub async fn list(&self, owner: &str, start: Option<Item>) -> Result<Cases, StoreError> {
        let of =
            Pages::Partition { table: &self.table, index: Some(BY_OWNER), key: names::OWNER, value: owner };
        let page = self.store.page(of, start).await?;
        let mut cases = Cases { next: page.next, ..Cases::default() };
        // The index need not have all attributes: bodies, above all.
        for key in page.items.iter().filter_map(key_of) {
            let Some(item) = self.store.get(&self.table, item_key(&key)).await? else { continue };
            match self.whole(key.clone(), &item).await? {
                Ok(stored) => cases.cases.push(stored),
                Err(odd) => cases.odd.push((key, odd)),
            }
        }
        Ok(cases)
    }

    /// One case; `None` when there is none.
    ///
    /// # Errors
    /// [`SettleError::Store`] or [`SettleError::Read`].
    pub async fn load(&self, key: &CaseKey) -> Result<Option<StoredCase>, SettleError> {
        match self.store.get(&self.table, item_key(key)).await? {
            Some(item) => Ok(Some(self.whole(key.clone(), &item).await??)),
            None => Ok(None),
        }
    }

    /// Takes a case out of the quarantine, unless it has failed once more since it was read.
    ///
    /// # Errors
    /// [`SettleError`]; what is not confirmed may or may not be out.
    pub async fn settle(
        &self,
        stored: &StoredCase,
        ids: &dyn Ids,
        clock: &dyn Clock,
        deadline: Deadline,
    ) -> Result<(), SettleError> {
        let mut actions = vec![self.removal(&stored.key, Some(stored.last_failed_at))?];
        if stored.case.body.len() > row::MAX_PART {
            for number in 0..row::parts(&stored.case.body).len() {
                let key = CaseKey { pk: stored.key.pk.clone(), sk: part_key(&stored.key.sk, number) };
                actions.push(self.removal(&key, None)?);
            }
        }
        let token = ids.fresh(clock.now()).to_string();
        let unchanged = |reasons: &[CancelReason]| {
            reasons.first().is_none_or(|first| first.code != CancelCode::ConditionalCheckFailed)
        };
        let (store, backoff) = (self.store.as_ref(), Backoff::default());
        match retry::transact(store, clock, backoff, deadline, &token, &actions, unchanged).await {
            Ok(()) => Ok(()),
            Err(TransactError::Cancelled(reasons)) if !unchanged(&reasons) => Err(SettleError::FailedAgain),
            Err(error) => Err(SettleError::Transact(error)),
        }
    }

    fn removal(&self, key: &CaseKey, last_failed_at: Option<i64>) -> Result<TransactWriteItem, BuildError> {
        let mut delete = Delete::builder().table_name(&*self.table).set_key(Some(item_key(key)));
        if let Some(time) = last_failed_at {
            delete = delete
                .condition_expression("attribute_not_exists(pk) OR #last = :last")
                .expression_attribute_names("#last", names::LAST_FAILED_AT)
                .expression_attribute_values(":last", AttributeValue::N(time.to_string()));
        }
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }

    /// With its parts, where the body is split.
    async fn whole(&self, key: CaseKey, item: &Item) -> Result<Result<StoredCase, ReadError>, StoreError> {
        let mut parts = Vec::new();
        if item.contains_key(names::PARTS) {
            let of = Pages::Partition { table: &self.table, index: None, key: names::PK, value: &key.pk };
            let mut start = None;
            loop {
                let page = self.store.page(of, start).await?;
                parts.extend(page.items);
                start = page.next;
                if start.is_none() {
                    break;
                }
            }
        }
        let time = |name| row::number(item, name).unwrap_or_default();
        let (first_failed_at, last_failed_at) = (time(names::FIRST_FAILED_AT), time(names::LAST_FAILED_AT));
        Ok(row::read(item, &parts).map(|case| StoredCase { key, case, first_failed_at, last_failed_at }))
    }
}

fn key_of(item: &Item) -> Option<CaseKey> {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
    Some(CaseKey { pk: text(names::PK)?, sk: text(names::SK)? })
}

fn item_key(key: &CaseKey) -> Item {
    key_item([(names::PK, &key.pk), (names::SK, &key.sk)])
}
