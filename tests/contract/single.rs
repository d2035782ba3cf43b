use aws_sdk_dynamodb::types::Put;
use oncebox::store::{Item, WriteError};
use oncebox::testing::{item, number, text};

use crate::actions::{ABSENT, EXISTS, add, key, only_if, row, update};
use crate::subject::{ROWS, SINGLES, Subject};

fn put(item: Item, condition: Option<&str>) -> Put {
    let put = Put::builder().table_name(SINGLES).set_item(Some(item));
    put.set_condition_expression(condition.map(str::to_owned)).build().unwrap()
}

pub(crate) async fn a_read_sees_the_write_before_it(subject: &Subject) {
    for amount in 1..=20 {
        subject.store.update(add("a", 1)).await.unwrap();
        assert_eq!(subject.read("a").await, Some(row("a", amount)));
    }
}

pub(crate) async fn a_read_of_nothing_is_none(subject: &Subject) {
    assert_eq!(subject.read("a").await, None);
}

pub(crate) async fn a_read_of_an_unknown_table_fails(subject: &Subject) {
    let error = subject.store.get("contract-nowhere", key("a")).await.unwrap_err();
    assert_eq!((error.kind.as_str(), error.operation), ("ResourceNotFoundException", "GetItem"));
}

pub(crate) async fn a_read_with_another_key_fails(subject: &Subject) {
    let error = subject.store.get(ROWS, key("a")).await.unwrap_err();
    assert_eq!(error.kind, "ValidationException");
}

pub(crate) async fn a_put_creates_what_is_absent(subject: &Subject) {
    subject.store.put(put(row("a", 3), Some(ABSENT))).await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 3)));
}

pub(crate) async fn a_put_replaces_what_is_there(subject: &Subject) {
    subject.arrange([item([("pk", text("a")), ("other", number(1))])]).await;
    subject.store.put(put(row("a", 3), None)).await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 3)));
}

/// Nobody asks for the old item here: the store does.
pub(crate) async fn a_put_with_a_false_condition_answers_the_old_item(subject: &Subject) {
    subject.arrange([row("a", 3)]).await;
    let answer = subject.store.put(put(row("a", 4), Some(ABSENT))).await;
    let Err(WriteError::ConditionFailed(old)) = answer else { panic!("{answer:?}") };
    assert_eq!(old, Some(row("a", 3)));
    assert_eq!(subject.read("a").await, Some(row("a", 3)));
}

pub(crate) async fn a_put_on_a_condition_that_nothing_meets_fails_without_an_item(subject: &Subject) {
    let answer = subject.store.put(put(row("a", 4), Some(EXISTS))).await;
    let Err(WriteError::ConditionFailed(old)) = answer else { panic!("{answer:?}") };
    assert_eq!((old, subject.read("a").await), (None, None));
}

pub(crate) async fn an_invalid_put_is_refused(subject: &Subject) {
    let without_key = item([("amount", number(1))]);
    let too_large = item([("pk", text("a")), ("body", text("x".repeat(400 * 1024)))]);
    for invalid in
        [put(without_key, None), put(key(""), None), put(too_large, None), put(row("a", 1), Some("amount ="))]
    {
        let answer = subject.store.put(invalid).await;
        let Err(WriteError::Refused { code, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!(code, "ValidationException");
    }
}

pub(crate) async fn an_update_creates_what_is_absent(subject: &Subject) {
    subject.store.update(only_if(add("a", 3), ABSENT)).await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 3)));
}

pub(crate) async fn an_update_with_a_false_condition_answers_the_old_item(subject: &Subject) {
    subject.arrange([row("a", 3)]).await;
    let answer = subject.store.update(only_if(add("a", 1), ABSENT)).await;
    let Err(WriteError::ConditionFailed(old)) = answer else { panic!("{answer:?}") };
    assert_eq!(old, Some(row("a", 3)));
    assert_eq!(subject.read("a").await, Some(row("a", 3)));
}

/// What keeps a claim from bringing a deleted row back as a ghost.
pub(crate) async fn an_update_of_nothing_fails_without_an_item(subject: &Subject) {
    let answer = subject.store.update(only_if(add("a", 1), EXISTS)).await;
    let Err(WriteError::ConditionFailed(old)) = answer else { panic!("{answer:?}") };
    assert_eq!((old, subject.read("a").await), (None, None));
}

pub(crate) async fn an_invalid_update_is_refused(subject: &Subject) {
    subject.arrange([item([("pk", text("a")), ("amount", text("ten"))])]).await;
    for invalid in
        [add("a", 1), update("a", "SET pk = :v", [(":v", text("b"))]), update("a", "SET x = y z", [])]
    {
        let answer = subject.store.update(invalid).await;
        let Err(WriteError::Refused { code, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!(code, "ValidationException");
    }
}

pub(crate) async fn a_batch_deletes_present_and_absent_keys(subject: &Subject) {
    subject.arrange([row("a", 1), row("b", 1), row("kept", 1)]).await;
    let left = subject.store.delete_batch(SINGLES, vec![key("a"), key("nobody"), key("b")]).await.unwrap();
    assert_eq!(left, Vec::<Item>::new());
    assert_eq!((subject.read("a").await, subject.read("b").await), (None, None));
    assert_eq!(subject.read("kept").await, Some(row("kept", 1)));
}

pub(crate) async fn a_batch_takes_25_keys(subject: &Subject) {
    let keys = |count: usize| (0..count).map(|at| key(&at.to_string())).collect::<Vec<_>>();
    subject.arrange([item([("pk", text("24")), ("amount", number(1))])]).await;
    subject.store.delete_batch(SINGLES, keys(25)).await.unwrap();
    assert_eq!(subject.read("24").await, None);
    let error = subject.store.delete_batch(SINGLES, keys(26)).await.unwrap_err();
    assert_eq!((error.kind.as_str(), error.operation), ("ValidationException", "BatchWriteItem"));
}

pub(crate) async fn a_batch_takes_a_key_once(subject: &Subject) {
    subject.arrange([row("a", 1)]).await;
    let error = subject.store.delete_batch(SINGLES, vec![key("a"), key("a")]).await.unwrap_err();
    assert_eq!(error.kind, "ValidationException");
    assert_eq!(subject.read("a").await, Some(row("a", 1)));
}
