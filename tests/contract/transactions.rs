use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use oncebox::store::{CancelCode, CancelReason, TransactError};
use oncebox::testing::{item, number, text};

use crate::actions::{ABSENT, EXISTS, action, add, check, delete, key, only_if, put, put_if, row, update};
use crate::subject::{Kind, ROWS, Subject};

fn codes(reasons: &[CancelReason]) -> Vec<CancelCode> {
    reasons.iter().map(|reason| reason.code.clone()).collect()
}

pub(crate) async fn a_failed_condition_is_named_at_its_position(subject: &Subject) {
    subject.arrange([row("taken", 1)]).await;
    let reasons = subject
        .cancelled(vec![put(row("a", 1)), put_if(row("taken", 2), ABSENT, false), put(row("b", 1))])
        .await;
    assert_eq!(codes(&reasons), [CancelCode::None, CancelCode::ConditionalCheckFailed, CancelCode::None]);
}

pub(crate) async fn every_failed_condition_is_named(subject: &Subject) {
    let reasons = subject
        .cancelled(vec![check("a", EXISTS), put(row("b", 1)), action(only_if(add("c", 1), EXISTS))])
        .await;
    let failed = CancelCode::ConditionalCheckFailed;
    assert_eq!(codes(&reasons), [failed.clone(), CancelCode::None, failed]);
}

pub(crate) async fn the_old_item_comes_only_where_it_was_asked_for(subject: &Subject) {
    subject.arrange([row("a", 7), row("b", 8)]).await;
    let reasons =
        subject.cancelled(vec![put_if(row("a", 1), ABSENT, true), put_if(row("b", 1), ABSENT, false)]).await;
    assert_eq!(reasons[0].item, Some(row("a", 7)));
    assert_eq!(reasons[1].item, None);
}

pub(crate) async fn an_absent_item_fails_without_an_item(subject: &Subject) {
    let reasons = subject.cancelled(vec![put_if(row("a", 1), EXISTS, true)]).await;
    assert_eq!(reasons, [CancelReason::new(CancelCode::ConditionalCheckFailed)]);
}

pub(crate) async fn nothing_is_written_when_one_action_fails(subject: &Subject) {
    subject.arrange([row("kept", 1), row("gone", 1)]).await;
    let actions = vec![put(row("new", 1)), action(add("kept", 1)), delete("gone"), check("absent", EXISTS)];
    subject.cancelled(actions).await;
    assert_eq!(subject.read("new").await, None);
    assert_eq!(subject.read("kept").await, Some(row("kept", 1)));
    assert_eq!(subject.read("gone").await, Some(row("gone", 1)));
}

pub(crate) async fn a_condition_check_writes_nothing(subject: &Subject) {
    subject.arrange([row("a", 1)]).await;
    let actions = vec![check("a", EXISTS), check("b", ABSENT), put(row("c", 1))];
    subject.store.transact(actions, "token").await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 1)));
    assert_eq!(subject.read("b").await, None);
}

pub(crate) async fn a_put_replaces_the_whole_item(subject: &Subject) {
    subject.arrange([item([("pk", text("a")), ("amount", number(1)), ("extra", text("x"))])]).await;
    subject.store.transact(vec![put(row("a", 2))], "token").await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 2)));
}

pub(crate) async fn a_delete_of_nothing_succeeds(subject: &Subject) {
    subject.store.transact(vec![delete("a"), put(row("b", 1))], "token").await.unwrap();
    assert_eq!(subject.read("b").await, Some(row("b", 1)));
}

pub(crate) async fn two_actions_on_one_item_are_refused(subject: &Subject) {
    let code = subject.refused(vec![put(row("a", 1)), check("a", ABSENT)], "token").await;
    assert_eq!(code, "ValidationException");
    assert_eq!(subject.read("a").await, None);
}

pub(crate) async fn a_wrong_type_is_a_validation_error_at_its_position(subject: &Subject) {
    subject.arrange([item([("pk", text("a")), ("amount", text("ten"))])]).await;
    let reasons = subject.cancelled(vec![put(row("b", 1)), action(add("a", 1))]).await;
    assert_eq!(codes(&reasons), [CancelCode::None, CancelCode::ValidationError]);
    assert_eq!(subject.read("b").await, None);
}

pub(crate) async fn a_false_condition_wins_over_a_wrong_type(subject: &Subject) {
    subject.arrange([item([("pk", text("a")), ("amount", text("ten"))])]).await;
    let reasons = subject.cancelled(vec![action(only_if(add("a", 1), ABSENT))]).await;
    assert_eq!(codes(&reasons), [CancelCode::ConditionalCheckFailed]);
}

pub(crate) async fn a_key_that_does_not_fit_is_a_validation_error_at_its_position(subject: &Subject) {
    let partition_only = Put::builder().table_name(ROWS).set_item(Some(key("a"))).build().unwrap();
    let actions = vec![put(row("b", 1)), TransactWriteItem::builder().put(partition_only).build()];
    if subject.kind == Kind::MiniStack {
        // It stores an item without its sort key; AWS documents that the key must be complete.
        return subject.store.transact(actions, "token").await.unwrap();
    }
    let reasons = subject.cancelled(actions).await;
    assert_eq!(codes(&reasons), [CancelCode::None, CancelCode::ValidationError]);
}

pub(crate) async fn a_key_attribute_cannot_be_updated(subject: &Subject) {
    let renamed = action(update("a", "SET pk = :pk", [(":pk", text("b"))]));
    let answer = subject.store.transact(vec![renamed], "token").await;
    if subject.kind == Kind::Memory {
        assert!(
            matches!(answer, Err(TransactError::Cancelled(_) | TransactError::Refused { .. })),
            "{answer:?}"
        );
    } else {
        // Both emulators look at this in UpdateItem and not in a transaction.
        answer.unwrap();
    }
}

pub(crate) async fn an_empty_key_is_refused(subject: &Subject) {
    assert_eq!(subject.refused(vec![put(row("", 1))], "token").await, "ValidationException");
}

pub(crate) async fn an_unknown_table_is_not_the_events_fault(subject: &Subject) {
    let nowhere = Put::builder().table_name("contract-nowhere").set_item(Some(key("a"))).build().unwrap();
    let answer =
        subject.store.transact(vec![TransactWriteItem::builder().put(nowhere).build()], "token").await;
    let Err(TransactError::Throttled { code, .. }) = answer else { panic!("{:?}: {answer:?}", subject.kind) };
    assert_eq!(code, "ResourceNotFoundException");
}
