//! The inbox key in a transaction of somebody's own: what the SDK's own errors mean.

use std::time::Duration;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use aws_smithy_types::body::SdkBody;
use oncebox::event::Envelope;
use oncebox::inbox::{InboxKey, Verdict};
use oncebox::store::{Item, TransactError};

use crate::bench::body;

fn key(account: &str) -> InboxKey {
    let event = Envelope::parse(&body(1, account, "ok")).unwrap();
    InboxKey::new("inbox", "own", &event, "2026-12-01T00:00:00Z".parse().unwrap(), Duration::from_secs(9))
}

fn answered(error: TransactWriteItemsError) -> TransactError {
    let response = HttpResponse::new(400.try_into().unwrap(), SdkBody::empty());
    SdkError::service_error(error, response).into()
}

fn cancelled(reasons: &[(&str, Option<&InboxKey>)]) -> TransactError {
    let reasons = reasons.iter().map(|(code, stored)| {
        let item: Option<Item> = stored.map(|key| key.action().unwrap().put.unwrap().item);
        CancellationReason::builder().code(*code).set_item(item).build()
    });
    let cancelled = TransactionCanceledException::builder().set_cancellation_reasons(Some(reasons.collect()));
    answered(TransactWriteItemsError::TransactionCanceledException(cancelled.build()))
}

#[test]
fn a_cancelled_transaction_is_read_by_position() {
    let (mine, other) = (key("a"), key("b"));
    for (reasons, verdict) in [
        (vec![("None", None), ("ConditionalCheckFailed", Some(&mine))], Verdict::Duplicate),
        (vec![("None", None), ("ConditionalCheckFailed", Some(&other))], Verdict::IdReused),
        (vec![("ConditionalCheckFailed", None), ("None", None)], Verdict::ConditionFailed(vec![0])),
        (vec![("TransactionConflict", None), ("None", None)], Verdict::Busy),
        (vec![("ValidationError", None), ("None", None)], Verdict::Invalid(vec![0])),
        (vec![], Verdict::Busy),
    ] {
        assert_eq!(mine.verdict(&cancelled(&reasons), 1), verdict, "{reasons:?}");
    }
}

#[test]
fn what_was_not_answered_is_never_a_duplicate() {
    let of =
        |code: &str| answered(TransactWriteItemsError::generic(ErrorMetadata::builder().code(code).build()));
    for (error, verdict) in [
        (SdkError::timeout_error("slow").into(), Verdict::Unknown),
        (of("InternalServerError"), Verdict::Unknown),
        (of("TransactionInProgressException"), Verdict::Unknown),
        (of("ThrottlingException"), Verdict::Busy),
        (of("AccessDeniedException"), Verdict::Busy),
        (of("ValidationException"), Verdict::Refused),
    ] {
        assert_eq!(key("a").verdict(&error, 0), verdict, "{error}");
    }
}
