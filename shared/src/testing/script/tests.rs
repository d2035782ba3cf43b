use std::sync::Arc;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::FutureExt;

use super::*;
use crate::store::CancelCode;
use crate::testing::{MemoryStore, item, number, text};

fn stores() -> (MemoryStore, ScriptedStore) {
    let memory = MemoryStore::new().table("sums", "pk", None);
    let scripted = ScriptedStore::new(Arc::new(memory.clone()));
    (memory, scripted)
}

fn add(amount: i64) -> Update {
    let update = Update::builder()
        .table_name("sums")
        .key("pk", text("a"))
        .update_expression("ADD balance :amount")
        .expression_attribute_values(":amount", number(amount));
    update.build().unwrap()
}

fn transact(store: &ScriptedStore, token: &str) -> Result<(), TransactError> {
    block_on(store.transact(vec![TransactWriteItem::builder().update(add(1)).build()], token))
}

/// Scripted answers over the twin are ready at once, so that these tests need no runtime.
fn block_on<T>(answer: BoxFuture<'_, T>) -> T {
    answer.now_or_never().unwrap()
}

fn total(memory: &MemoryStore) -> Option<String> {
    let row = memory.items("sums").into_iter().next()?;
    row["balance"].as_n().ok().cloned()
}

#[test]
fn answers_come_in_order_and_then_the_store_behind_speaks() {
    let (memory, store) = stores();
    store
        .on_transact(Fault::Unknown)
        .on_transact(Fault::InProgress)
        .on_transact(Fault::Throttled)
        .on_transact(Fault::Refused)
        .on_transact(Fault::CancelledNoReasons)
        .on_transact(Fault::Cancelled(vec![CancelCode::TransactionConflict]));
    let unknown = |answer| matches!(answer, Err(TransactError::Unknown { .. }));
    assert!(unknown(transact(&store, "1")) && unknown(transact(&store, "1")));
    assert!(matches!(transact(&store, "1"), Err(TransactError::Throttled { .. })));
    assert!(matches!(transact(&store, "1"), Err(TransactError::Refused { .. })));
    assert!(matches!(transact(&store, "1"), Err(TransactError::Cancelled(reasons)) if reasons.is_empty()));
    assert!(matches!(transact(&store, "1"), Err(TransactError::Cancelled(reasons)) if reasons.len() == 1));
    assert_eq!((total(&memory), store.pending()), (None, 0));
    transact(&store, "1").unwrap();
    assert_eq!(total(&memory).as_deref(), Some("1"));
}

#[test]
fn a_lost_answer_was_applied_once() {
    let (memory, store) = stores();
    store.on_transact(Fault::LostAnswer).on_update(WriteFault::LostAnswer).on_put(WriteFault::LostAnswer);
    assert!(matches!(transact(&store, "1"), Err(TransactError::Unknown { .. })));
    transact(&store, "1").unwrap();
    assert_eq!(total(&memory).as_deref(), Some("1"));
    assert!(matches!(block_on(store.update(add(5))), Err(WriteError::Unconfirmed { .. })));
    assert_eq!(total(&memory).as_deref(), Some("6"));
    let put = || {
        let row = item([("pk", text("a")), ("balance", number(9))]);
        let put = Put::builder().table_name("sums").set_item(Some(row));
        put.condition_expression("balance < :nine").expression_attribute_values(":nine", number(9))
    };
    assert!(matches!(block_on(store.put(put().build().unwrap())), Err(WriteError::Unconfirmed { .. })));
    let again = block_on(store.put(put().build().unwrap()));
    assert!(matches!(again, Err(WriteError::ConditionFailed(Some(old))) if old["balance"] == number(9)));
}

#[test]
fn a_hook_acts_between_two_attempts() {
    let (memory, store) = stores();
    let other = memory.clone();
    store.on_transact(Fault::Pass).before_transact(|| async move {
        other.update(add(100)).await.unwrap();
    });
    transact(&store, "1").unwrap();
    assert_eq!(total(&memory).as_deref(), Some("1"));
    transact(&store, "2").unwrap();
    assert_eq!((total(&memory).as_deref(), store.pending()), (Some("102"), 0));
}

#[test]
fn reads_and_batches_are_scripted_too() {
    let (memory, store) = stores();
    let key = |pk: &str| item([("pk", text(pk))]);
    for pk in ["a", "b", "c"] {
        memory.put_item("sums", key(pk)).unwrap();
    }
    store.on_get(GetFault::TimedOut).on_get(GetFault::Answer(None));
    assert_eq!(block_on(store.get("sums", key("a"))).unwrap_err().kind, "timeout");
    assert_eq!(block_on(store.get("sums", key("a"))).unwrap(), None);
    assert_eq!(block_on(store.get("sums", key("a"))).unwrap(), Some(key("a")));

    store.on_delete_batch(DeleteFault::Throttled).on_delete_batch(DeleteFault::Unprocessed(2));
    let keys = || vec![key("a"), key("b"), key("c")];
    assert!(block_on(store.delete_batch("sums", keys())).is_err());
    assert_eq!(block_on(store.delete_batch("sums", keys())).unwrap(), [key("b"), key("c")]);
    assert_eq!(memory.items("sums"), [key("b"), key("c")]);
}

#[test]
fn every_call_is_logged_with_what_it_carried() {
    let (_, store) = stores();
    transact(&store, "token").unwrap();
    block_on(store.delete_batch("sums", vec![item([("pk", text("a"))])])).unwrap();
    let calls = store.calls();
    assert_eq!((calls[0].operation, calls[1].operation), (Operation::Transact, Operation::DeleteBatch));
    assert_eq!((calls[0].token.as_deref(), calls[0].table.as_str()), (Some("token"), "sums"));
    assert_eq!((calls[0].actions.len(), calls[1].items), (1, 1));
}
