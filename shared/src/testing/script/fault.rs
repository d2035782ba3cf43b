use std::future::Future;

use crate::store::{CancelCode, CancelReason, Item, Page, Pages, StoreError, TransactError, WriteError};

/// What a [`ScriptedStore`](super::ScriptedStore) answers to a transaction.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Fault {
    /// The store behind answers.
    #[default]
    Pass,
    /// The store behind carries it out; if it does, the answer is lost (`Unknown`, code `timeout`).
    LostAnswer,
    /// Nothing is carried out, and the caller cannot know (`Unknown`, code `timeout`).
    Unknown,
    /// `TransactionInProgressException`: an earlier call with this token still runs (`Unknown`).
    InProgress,
    /// Cancelled with these codes, one per position.
    Cancelled(Vec<CancelCode>),
    /// Cancelled with these reasons, for positions that carry an item.
    CancelledWith(Vec<CancelReason>),
    /// Cancelled, with no reasons in the answer.
    CancelledNoReasons,
    /// `ThrottlingException` for the call as a whole.
    Throttled,
    /// `ValidationException` for the call as a whole.
    Refused,
}

/// What a [`ScriptedStore`](super::ScriptedStore) answers to a read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum GetFault {
    /// The store behind answers.
    #[default]
    Pass,
    /// The read fails with code `timeout`.
    TimedOut,
    /// The read fails with code `ThrottlingException`.
    Throttled,
    /// The read answers this, whatever is stored.
    Answer(Option<Item>),
}

/// What a [`ScriptedStore`](super::ScriptedStore) answers to a page of a scan or query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageFault {
    /// The store behind answers.
    #[default]
    Pass,
    /// The read fails with code `timeout`.
    TimedOut,
    /// The read fails with code `ThrottlingException`.
    Throttled,
}

/// What a [`ScriptedStore`](super::ScriptedStore) answers to a single put or update.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum WriteFault {
    /// The store behind answers.
    #[default]
    Pass,
    /// The store behind carries it out; if it does, the answer is lost (`Unconfirmed`, code `timeout`).
    LostAnswer,
    /// Nothing is carried out, and the caller cannot know (`Unconfirmed`, code `timeout`).
    Unknown,
    /// `ThrottlingException`: nothing is carried out.
    Throttled,
    /// The condition was false; the item that was there.
    ConditionFailed(Option<Item>),
    /// `ValidationException`.
    Refused,
}

/// What a [`ScriptedStore`](super::ScriptedStore) answers to a batch of deletes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum DeleteFault {
    /// The store behind answers.
    #[default]
    Pass,
    /// The store behind carries it out; if it does, the answer is lost (code `timeout`).
    LostAnswer,
    /// Nothing is deleted (code `ThrottlingException`).
    Throttled,
    /// The last so many keys of the call are left unprocessed, the others are deleted.
    Unprocessed(usize),
}

/// The source of scripted errors.
#[derive(Debug, thiserror::Error)]
#[error("scripted by the test")]
struct Scripted;

const TIMEOUT: &str = "timeout";
const THROTTLED: &str = "ThrottlingException";
const INVALID: &str = "ValidationException";

impl Fault {
    pub(super) async fn answer(
        self,
        pass: impl Future<Output = Result<(), TransactError>>,
    ) -> Result<(), TransactError> {
        let unknown = |code: &str| TransactError::Unknown { code: code.to_owned(), source: Scripted.into() };
        Err(match self {
            Self::Pass => return pass.await,
            Self::LostAnswer => {
                pass.await?;
                unknown(TIMEOUT)
            }
            Self::Unknown => unknown(TIMEOUT),
            Self::InProgress => unknown("TransactionInProgressException"),
            Self::Cancelled(codes) => {
                TransactError::Cancelled(codes.into_iter().map(CancelReason::new).collect())
            }
            Self::CancelledWith(reasons) => TransactError::Cancelled(reasons),
            Self::CancelledNoReasons => TransactError::Cancelled(Vec::new()),
            Self::Throttled => {
                TransactError::Throttled { code: THROTTLED.to_owned(), source: Scripted.into() }
            }
            Self::Refused => TransactError::Refused { code: INVALID.to_owned(), source: Scripted.into() },
        })
    }
}

fn store_error(operation: &'static str, table: &str, kind: &str) -> StoreError {
    StoreError { operation, table: table.to_owned(), kind: kind.to_owned(), source: Scripted.into() }
}

impl GetFault {
    pub(super) async fn answer(
        self,
        table: &str,
        pass: impl Future<Output = Result<Option<Item>, StoreError>>,
    ) -> Result<Option<Item>, StoreError> {
        match self {
            Self::Pass => pass.await,
            Self::TimedOut => Err(store_error("GetItem", table, TIMEOUT)),
            Self::Throttled => Err(store_error("GetItem", table, THROTTLED)),
            Self::Answer(item) => Ok(item),
        }
    }
}

impl PageFault {
    pub(super) async fn answer(
        self,
        of: Pages<'_>,
        pass: impl Future<Output = Result<Page, StoreError>>,
    ) -> Result<Page, StoreError> {
        let (operation, table) = (of.operation(), of.table());
        match self {
            Self::Pass => pass.await,
            Self::TimedOut => Err(store_error(operation, table, TIMEOUT)),
            Self::Throttled => Err(store_error(operation, table, THROTTLED)),
        }
    }
}

impl WriteFault {
    pub(super) async fn answer(
        self,
        pass: impl Future<Output = Result<(), WriteError>>,
    ) -> Result<(), WriteError> {
        let unconfirmed = || WriteError::Unconfirmed { code: TIMEOUT.to_owned(), source: Scripted.into() };
        Err(match self {
            Self::Pass => return pass.await,
            Self::LostAnswer => {
                pass.await?;
                unconfirmed()
            }
            Self::Unknown => unconfirmed(),
            Self::Throttled => WriteError::Throttled { code: THROTTLED.to_owned(), source: Scripted.into() },
            Self::ConditionFailed(item) => WriteError::ConditionFailed(item),
            Self::Refused => WriteError::Refused { code: INVALID.to_owned(), source: Scripted.into() },
        })
    }
}

impl DeleteFault {
    pub(super) async fn answer<R>(
        self,
        table: &str,
        mut keys: Vec<Item>,
        pass: impl FnOnce(Vec<Item>) -> R,
    ) -> Result<Vec<Item>, StoreError>
    where
        R: Future<Output = Result<Vec<Item>, StoreError>>,
    {
        match self {
            Self::Pass => pass(keys).await,
            Self::LostAnswer => {
                pass(keys).await?;
                Err(store_error("BatchWriteItem", table, TIMEOUT))
            }
            Self::Throttled => Err(store_error("BatchWriteItem", table, THROTTLED)),
            Self::Unprocessed(count) => {
                let left = keys.split_off(keys.len().saturating_sub(count));
                // A batch without a key is not a call.
                let more = if keys.is_empty() { Vec::new() } else { pass(keys).await? };
                Ok(more.into_iter().chain(left).collect())
            }
        }
    }
}
