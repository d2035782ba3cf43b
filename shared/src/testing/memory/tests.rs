use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use super::*;
use crate::store::{CancelCode, CancelReason};
use crate::testing::{item, number, text};

fn store() -> MemoryStore {
    MemoryStore::new().table("rows", "pk", Some("sk")).table("sums", "pk", None)
}

fn put(pk: &str, value: i64) -> TransactWriteItem {
    let row = item([("pk", text(pk)), ("value", number(value))]);
    let put = Put::builder()
        .table_name("sums")
        .set_item(Some(row))
        .condition_expression("attribute_not_exists(pk)")
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    TransactWriteItem::builder().put(put.build().unwrap()).build()
}

fn add(pk: &str, amount: AttributeValue) -> TransactWriteItem {
    let update = Update::builder()
        .table_name("sums")
        .key("pk", text(pk))
        .update_expression("ADD #v :amount")
        .expression_attribute_names("#v", "value")
        .expression_attribute_values(":amount", amount);
    TransactWriteItem::builder().update(update.build().unwrap()).build()
}

/// The twin is ready at once, so that its tests need no runtime.
fn block_on<T>(answer: BoxFuture<'_, T>) -> T {
    answer.now_or_never().unwrap()
}

fn transact(store: &MemoryStore, items: Vec<TransactWriteItem>, token: &str) -> Result<(), TransactError> {
    block_on(store.transact(items, token))
}

fn value(store: &MemoryStore, pk: &str) -> Option<AttributeValue> {
    store.get_item("sums", item([("pk", text(pk))])).unwrap().map(|row| row["value"].clone())
}

#[test]
fn a_cancelled_transaction_writes_nothing_and_names_each_position() {
    let store = store();
    transact(&store, vec![put("a", 1), add("b", number(5))], "first").unwrap();
    store.put_item("sums", item([("pk", text("c")), ("value", text("word"))])).unwrap();

    let failed = transact(&store, vec![add("b", number(5)), put("a", 2), add("c", number(1))], "second");

    let Err(TransactError::Cancelled(reasons)) = failed else { panic!("{failed:?}") };
    let old = CancelReason {
        code: CancelCode::ConditionalCheckFailed,
        item: Some(item([("pk", text("a")), ("value", number(1))])),
    };
    let wrong_type = CancelReason::new(CancelCode::ValidationError);
    assert_eq!(reasons, [CancelReason::new(CancelCode::None), old, wrong_type]);
    assert_eq!(value(&store, "b"), Some(number(5)));
    assert_eq!(store.stream("sums").len(), 3);
}

#[test]
fn a_token_is_remembered_for_ten_minutes_of_the_clock() {
    let clock = TestClock::default();
    let store = store().with_clock(Arc::new(clock.clone()));
    let twice = || transact(&store, vec![add("a", number(1))], "token");
    twice().unwrap();
    clock.advance(Duration::from_secs(599));
    twice().unwrap();
    assert_eq!(value(&store, "a"), Some(number(1)));

    let other = transact(&store, vec![add("a", number(2))], "token");
    let Err(TransactError::Refused { code, .. }) = other else { panic!("{other:?}") };
    assert_eq!(code, "IdempotentParameterMismatchException");

    clock.advance(Duration::from_secs(1));
    twice().unwrap();
    assert_eq!(value(&store, "a"), Some(number(2)));
}

#[test]
fn a_token_of_a_cancelled_transaction_is_free() {
    let store = store();
    transact(&store, vec![put("a", 1)], "first").unwrap();
    assert!(transact(&store, vec![put("a", 2)], "token").is_err());
    transact(&store, vec![put("b", 2)], "token").unwrap();
}

#[test]
fn the_limits_of_a_transaction_are_enforced() {
    let store = store();
    let refused = |items: Vec<TransactWriteItem>| match transact(&store, items, "token") {
        Err(TransactError::Refused { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused(Vec::new()).contains("1 to 100 actions"));
    assert!(refused((0..101).map(|at| put(&at.to_string(), at)).collect()).contains("101"));
    assert!(refused(vec![put("a", 1), add("a", number(1))]).contains("multiple operations on one item"));
    let big = |pk: &str, bytes: usize| {
        let row = item([("pk", text(pk)), ("body", text("x".repeat(bytes)))]);
        let put = Put::builder().table_name("sums").set_item(Some(row)).build().unwrap();
        TransactWriteItem::builder().put(put).build()
    };
    assert!(refused(vec![big("a", 400 * 1024)]).contains("item size"));
    assert!(refused((0..11).map(|at| big(&format!("{at:02}"), 399 * 1024)).collect()).contains("4 MB"));
    transact(&store, (0..10).map(|at| big(&format!("{at:02}"), 399 * 1024)).collect(), "fits").unwrap();
}

#[test]
fn an_unknown_table_is_the_deployments_fault() {
    let put = Put::builder().table_name("nowhere").item("pk", text("a")).build().unwrap();
    let answer = transact(&store(), vec![TransactWriteItem::builder().put(put).build()], "token");
    assert!(
        matches!(&answer, Err(TransactError::Throttled { code, .. }) if code == "ResourceNotFoundException"),
        "{answer:?}"
    );
    let read = store().get_item("nowhere", item([("pk", text("a"))])).unwrap_err();
    assert_eq!(read.kind, "ResourceNotFoundException");
}

#[test]
fn a_key_that_does_not_fit_is_reported_at_its_position() {
    let store = store();
    let put = Put::builder().table_name("rows").item("pk", text("a")).build().unwrap();
    let answer =
        transact(&store, vec![add("a", number(1)), TransactWriteItem::builder().put(put).build()], "token");
    let Err(TransactError::Cancelled(reasons)) = answer else { panic!("{answer:?}") };
    assert_eq!(reasons[1], CancelReason::new(CancelCode::ValidationError));
    assert_eq!(value(&store, "a"), None);
}

#[test]
fn a_key_attribute_cannot_be_updated() {
    let update = Update::builder()
        .table_name("sums")
        .key("pk", text("a"))
        .update_expression("SET pk = :v")
        .expression_attribute_values(":v", text("b"));
    let answer = block_on(store().update(update.build().unwrap()));
    let Err(WriteError::Refused { source, .. }) = answer else { panic!("{answer:?}") };
    assert!(source.to_string().contains("part of the key"));
}

#[test]
fn an_item_that_would_grow_too_large_cancels_at_its_position() {
    let store = store();
    let row = item([("pk", text("a")), ("body", text("x".repeat(300 * 1024)))]);
    store.put_item("sums", row).unwrap();
    let update = Update::builder()
        .table_name("sums")
        .key("pk", text("a"))
        .update_expression("SET more = body")
        .build()
        .unwrap();
    let answer = transact(&store, vec![TransactWriteItem::builder().update(update).build()], "token");
    let Err(TransactError::Cancelled(reasons)) = answer else { panic!("{answer:?}") };
    assert_eq!(reasons, [CancelReason::new(CancelCode::ValidationError)]);
}

#[test]
fn the_stream_tells_every_change_once() {
    let store = store();
    let row = |value: i64| item([("pk", text("a")), ("value", number(value))]);
    store.put_item("sums", row(1)).unwrap();
    store.put_item("sums", row(1)).unwrap();
    store.put_item("sums", row(2)).unwrap();
    let left =
        block_on(store.delete_batch("sums", vec![item([("pk", text("a"))]), item([("pk", text("b"))])]));
    assert_eq!(left.unwrap(), Vec::<Item>::new());

    let stream = store.stream("sums");
    let told: Vec<_> = stream.iter().map(|entry| entry.change.event_name()).collect();
    assert_eq!(told, ["INSERT", "MODIFY", "REMOVE"]);
    assert_eq!((&stream[1].old_image, &stream[1].new_image), (&Some(row(1)), &Some(row(2))));
    assert!(stream.is_sorted_by(|one, next| one.sequence < next.sequence));
    assert!(stream.iter().all(|entry| entry.keys == item([("pk", text("a"))])));
    assert_eq!(stream[0].at_ms, 1_800_000_000_000);
}

#[test]
#[should_panic(expected = "not declared")]
fn a_misspelt_table_is_not_an_empty_one() {
    let _ = store().items("row");
}
