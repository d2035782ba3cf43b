use oncebox::store::TransactError;

use crate::actions::{ABSENT, action, add, delete, put_if, row};
use crate::subject::Subject;

pub(crate) async fn a_replay_has_no_effect(subject: &Subject) {
    for _ in 0..3 {
        subject.store.transact(vec![action(add("a", 5))], "token").await.unwrap();
    }
    assert_eq!(subject.read("a").await, Some(row("a", 5)));
    subject.store.transact(vec![action(add("a", 5))], "another").await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 10)));
}

/// The case that the token exists for: the answer to a put was lost, the relay has deleted the row since.
pub(crate) async fn a_replay_does_not_bring_back_what_was_deleted(subject: &Subject) {
    let write = || vec![put_if(row("a", 1), ABSENT, true), action(add("b", 1))];
    subject.store.transact(write(), "token").await.unwrap();
    subject.store.transact(vec![delete("a")], "published").await.unwrap();
    subject.store.transact(write(), "token").await.unwrap();
    assert_eq!(subject.read("a").await, None);
    assert_eq!(subject.read("b").await, Some(row("b", 1)));
}

pub(crate) async fn a_token_with_another_request_is_refused(subject: &Subject) {
    subject.store.transact(vec![action(add("a", 5))], "token").await.unwrap();
    let code = subject.refused(vec![action(add("a", 6))], "token").await;
    assert_eq!(code, "IdempotentParameterMismatchException");
    assert_eq!(subject.read("a").await, Some(row("a", 5)));
}

pub(crate) async fn a_cancelled_token_may_be_tried_again(subject: &Subject) {
    subject.arrange([row("a", 1)]).await;
    let write = || vec![put_if(row("a", 2), ABSENT, false)];
    let first = subject.store.transact(write(), "token").await;
    assert!(matches!(first, Err(TransactError::Cancelled(_))), "{first:?}");
    subject.store.transact(vec![delete("a")], "freed").await.unwrap();
    subject.store.transact(write(), "token").await.unwrap();
    assert_eq!(subject.read("a").await, Some(row("a", 2)));
}

pub(crate) async fn a_token_is_at_most_36_characters(subject: &Subject) {
    subject.store.transact(vec![action(add("a", 1))], &"t".repeat(36)).await.unwrap();
    assert_eq!(subject.refused(vec![action(add("a", 1))], &"t".repeat(37)).await, "ValidationException");
}
