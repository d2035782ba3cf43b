use oncebox::store::{CancelCode, CancelReason, Item};
use oncebox::testing::{item, text};

use crate::actions::{action, put, row, update};
use crate::subject::Subject;

const KB: usize = 1024;
const INVALID: &str = "ValidationException";

/// An item that counts for exactly `bytes`.
fn of_size(pk: &str, bytes: usize) -> Item {
    let names = "pk".len() + "body".len();
    item([("pk", text(pk)), ("body", text("x".repeat(bytes - names - pk.len())))])
}

pub(crate) async fn a_transaction_takes_100_actions(subject: &Subject) {
    let actions = |count: i64| (0..count).map(|at| put(row(&at.to_string(), at))).collect::<Vec<_>>();
    assert_eq!(subject.refused(actions(101), "101").await, INVALID);
    assert_eq!(subject.read("0").await, None);
    subject.store.transact(actions(100), "100").await.unwrap();
    assert_eq!(subject.read("99").await, Some(row("99", 99)));
}

pub(crate) async fn a_transaction_takes_one_action_at_least(subject: &Subject) {
    assert_eq!(subject.refused(Vec::new(), "none").await, INVALID);
}

pub(crate) async fn an_item_takes_400_kb(subject: &Subject) {
    subject.store.transact(vec![put(of_size("a", 400 * KB))], "fits").await.unwrap();
    assert_eq!(subject.refused(vec![put(of_size("b", 400 * KB + 1))], "too large").await, INVALID);
}

pub(crate) async fn an_update_may_not_grow_an_item_past_400_kb(subject: &Subject) {
    subject.arrange([of_size("a", 300 * KB)]).await;
    let grow = |bytes: usize| action(update("a", "SET more = :more", [(":more", text("x".repeat(bytes)))]));
    let reasons = subject.cancelled(vec![grow(100 * KB)]).await;
    assert_eq!(reasons, [CancelReason::new(CancelCode::ValidationError)]);
    subject.store.transact(vec![grow(100 * KB - "more".len())], "fits").await.unwrap();
}

pub(crate) async fn a_transaction_takes_4_mb(subject: &Subject) {
    let actions = |count: usize| (0..count).map(|at| put(of_size(&format!("{at:02}"), 390 * KB))).collect();
    assert_eq!(subject.refused(actions(11), "too large").await, INVALID);
    subject.store.transact(actions(10), "fits").await.unwrap();
}
