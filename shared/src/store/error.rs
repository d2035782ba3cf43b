use std::error::Error as StdError;
use std::fmt;

use super::Item;
use crate::telemetry::Hidden;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// A read, or a batch call, that DynamoDB did not carry out.
#[derive(Debug, thiserror::Error)]
#[error("DynamoDB {operation} on {table:?} failed ({kind})")]
pub struct StoreError {
    /// The DynamoDB operation, such as `GetItem`.
    pub operation: &'static str,
    /// The table named in the call.
    pub table: String,
    /// The service's error code, or `timeout`, `connection`, `response`, `request`.
    pub kind: String,
    /// What the SDK said.
    #[source]
    pub source: BoxError,
}

/// Why one position of a transaction stopped it; DynamoDB lists one per action, in request order.
#[derive(Clone, PartialEq)]
pub struct CancelReason {
    /// The position's code.
    pub code: CancelCode,
    /// The item that failed the condition, if the action asked for `ALL_OLD`.
    pub item: Option<Item>,
}

impl CancelReason {
    /// A reason without an item.
    #[must_use]
    pub fn new(code: CancelCode) -> Self {
        Self { code, item: None }
    }
}

/// The codes of a cancellation reason.
///
/// Source of the list: `TransactWriteItems` in the DynamoDB API reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelCode {
    /// This position is clean (the service sends the string `"None"`).
    None,
    /// The position's condition was false.
    ConditionalCheckFailed,
    /// Another write or transaction holds the item.
    TransactionConflict,
    /// The table's provisioned throughput is used up.
    ProvisionedThroughputExceeded,
    /// An on-demand table or partition is throttled.
    ThrottlingError,
    /// The action is not valid, for example a wrong type in an update.
    ValidationError,
    /// The item collection exceeded 10 GB.
    ItemCollectionSizeLimitExceeded,
    /// A code that this version does not know; treated as worth a retry.
    Other(String),
}

impl CancelCode {
    /// Reads the service's spelling. An absent code counts as clean.
    #[must_use]
    pub fn parse(code: Option<&str>) -> Self {
        match code {
            None | Some("None") => Self::None,
            Some("ConditionalCheckFailed") => Self::ConditionalCheckFailed,
            Some("TransactionConflict") => Self::TransactionConflict,
            Some("ProvisionedThroughputExceeded") => Self::ProvisionedThroughputExceeded,
            Some("ThrottlingError") => Self::ThrottlingError,
            Some("ValidationError") => Self::ValidationError,
            Some("ItemCollectionSizeLimitExceeded") => Self::ItemCollectionSizeLimitExceeded,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

/// How a transaction did not answer `Ok`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactError {
    /// `TransactionCanceledException`: nothing was written. One reason per action, or none at all when the
    /// answer carried none.
    #[error("DynamoDB cancelled the transaction")]
    Cancelled(Vec<CancelReason>),
    /// The call as a whole was refused as invalid: nothing was written, and the same call will not succeed.
    #[error("DynamoDB refused the transaction ({code})")]
    Refused {
        /// The service's error code.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
    /// The call as a whole was throttled, or not allowed at present: nothing was written; a later call may succeed.
    #[error("DynamoDB did not take the transaction now ({code})")]
    Throttled {
        /// The service's error code.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
    /// No definite answer: a time-out, a lost connection, a 5xx, or `TransactionInProgressException`. It may
    /// have been applied. Only the same call with the same token can find out.
    #[error("the outcome of the transaction is not known ({code})")]
    Unknown {
        /// The service's error code, or `timeout`, `connection`, `response`.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
}

/// How a single conditional write did not answer `Ok`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The condition was false. Carries the item that was there, if there was one.
    #[error("the write's condition was false")]
    ConditionFailed(Option<Item>),
    /// The write is not valid and will not become so.
    #[error("DynamoDB refused the write ({code})")]
    Refused {
        /// The service's error code.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
    /// Throttled, in conflict with a transaction, or not allowed at present: nothing was written; a later call may
    /// succeed.
    #[error("DynamoDB did not take the write now ({code})")]
    Throttled {
        /// The service's error code.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
    /// No definite answer: a time-out, a lost connection or a 5xx. It may have been applied.
    #[error("DynamoDB did not confirm the write ({code})")]
    Unconfirmed {
        /// The service's error code, or `timeout`, `connection`, `response`.
        code: String,
        /// What the SDK said.
        #[source]
        source: BoxError,
    },
}

impl fmt::Debug for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelReason")
            .field("code", &self.code)
            .field("item", &self.item.as_ref().map(Hidden::attributes))
            .finish()
    }
}

impl fmt::Debug for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, code, source) = match self {
            Self::ConditionFailed(item) => {
                let item = item.as_ref().map(Hidden::attributes);
                return f.debug_tuple("ConditionFailed").field(&item).finish();
            }
            Self::Refused { code, source } => ("Refused", code, source),
            Self::Throttled { code, source } => ("Throttled", code, source),
            Self::Unconfirmed { code, source } => ("Unconfirmed", code, source),
        };
        f.debug_struct(name).field("code", code).field("source", source).finish()
    }
}
