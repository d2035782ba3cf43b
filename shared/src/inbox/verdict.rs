use aws_sdk_dynamodb::types::AttributeValue;

use super::names;
use crate::store::{CancelCode, CancelReason, Item, TransactError};

/// What a transaction that held an inbox key and did not succeed says about the event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The key was there with the same hash: this consumer has applied this event. Acknowledge it.
    Duplicate,
    /// The key was there with another hash: another event with the same id. Never acknowledge it as a duplicate.
    IdReused,
    /// The key was absent, nothing conflicted, and the conditions at these positions were false.
    ConditionFailed(Vec<usize>),
    /// The actions at these positions are not valid; the same transaction will not succeed.
    Invalid(Vec<usize>),
    /// The call as a whole was refused as invalid.
    Refused,
    /// Conflict, throttle or an answer without reasons: nothing was written, try again.
    Busy,
    /// It may have been applied: try again with the same token, and never take it for a duplicate.
    Unknown,
}

impl Verdict {
    pub(super) fn of(error: &TransactError, inbox_index: usize, hash: &str) -> Self {
        match error {
            TransactError::Cancelled(reasons) => Self::of_reasons(reasons, inbox_index, hash),
            TransactError::Refused { .. } => Self::Refused,
            TransactError::Throttled { .. } => Self::Busy,
            TransactError::Unknown { .. } => Self::Unknown,
        }
    }

    /// The inbox position speaks first: a duplicate stays one, whatever else the transaction met.
    pub(crate) fn of_reasons(reasons: &[CancelReason], inbox_index: usize, hash: &str) -> Self {
        if let Some(inbox) = reasons.get(inbox_index)
            && inbox.code == CancelCode::ConditionalCheckFailed
        {
            return if inbox.item.as_ref().is_none_or(|item| same_hash(item, hash)) {
                Self::Duplicate
            } else {
                Self::IdReused
            };
        }
        let mut failed = Vec::new();
        let mut invalid = Vec::new();
        let mut busy = false;
        for (index, reason) in reasons.iter().enumerate() {
            match reason.code {
                CancelCode::None => {}
                CancelCode::ConditionalCheckFailed => failed.push(index),
                CancelCode::ValidationError | CancelCode::ItemCollectionSizeLimitExceeded => {
                    invalid.push(index)
                }
                CancelCode::TransactionConflict
                | CancelCode::ProvisionedThroughputExceeded
                | CancelCode::ThrottlingError
                | CancelCode::Other(_) => busy = true,
            }
        }
        if !invalid.is_empty() {
            Self::Invalid(invalid)
        } else if busy || failed.is_empty() {
            Self::Busy
        } else {
            Self::ConditionFailed(failed)
        }
    }
}

/// A row without a hash (an older layout) cannot contradict.
fn same_hash(item: &Item, hash: &str) -> bool {
    match item.get(names::BODY_HASH) {
        Some(AttributeValue::S(stored)) => stored == hash,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CancelCode::{
        ConditionalCheckFailed as Ccf, ItemCollectionSizeLimitExceeded, None as Clean,
        ProvisionedThroughputExceeded, ThrottlingError, TransactionConflict as Conflict, ValidationError,
    };

    fn verdict(codes: &[CancelCode]) -> Verdict {
        let reasons: Vec<_> = codes.iter().cloned().map(CancelReason::new).collect();
        Verdict::of_reasons(&reasons, 0, "hash")
    }

    fn stored(hash: &str) -> CancelReason {
        let item = Item::from([(names::BODY_HASH.to_owned(), AttributeValue::S(hash.to_owned()))]);
        CancelReason { code: Ccf, item: Some(item) }
    }

    #[test]
    fn c22_the_verdict_by_position() {
        assert_eq!(verdict(&[Ccf, Clean, Clean]), Verdict::Duplicate);
        assert_eq!(verdict(&[Ccf, Conflict, Clean]), Verdict::Duplicate);
        assert_eq!(verdict(&[Ccf, ValidationError, Clean]), Verdict::Duplicate);
        assert_eq!(verdict(&[Clean, Ccf, Clean]), Verdict::ConditionFailed(vec![1]));
        assert_eq!(verdict(&[Clean, Clean, Ccf]), Verdict::ConditionFailed(vec![2]));
        assert_eq!(verdict(&[Conflict, Clean, Clean]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, ProvisionedThroughputExceeded, Clean]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, Clean, ThrottlingError]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, Ccf, Conflict]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, ValidationError, Clean]), Verdict::Invalid(vec![1]));
        assert_eq!(verdict(&[Clean, Conflict, ItemCollectionSizeLimitExceeded]), Verdict::Invalid(vec![2]));
    }

    #[test]
    fn c22_no_reasons_are_never_a_duplicate() {
        assert_eq!(verdict(&[]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, Clean, Clean]), Verdict::Busy);
        assert_eq!(verdict(&[Clean, CancelCode::Other("New".into()), Clean]), Verdict::Busy);
    }

    #[test]
    fn the_inbox_may_stand_at_another_index() {
        let reasons = [CancelReason::new(Ccf), CancelReason::new(Clean), stored("hash")];
        assert_eq!(Verdict::of_reasons(&reasons, 2, "hash"), Verdict::Duplicate);
        assert_eq!(Verdict::of_reasons(&reasons, 1, "hash"), Verdict::ConditionFailed(vec![0, 2]));
    }

    #[test]
    fn another_hash_is_another_event() {
        assert_eq!(Verdict::of_reasons(&[stored("other")], 0, "hash"), Verdict::IdReused);
        assert_eq!(Verdict::of_reasons(&[stored("hash")], 0, "hash"), Verdict::Duplicate);
    }
}
