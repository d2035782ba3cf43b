//! The producer's transaction when answers go missing.

use std::sync::Arc;

use aws_sdk_dynamodb::types::{Put, Update};
use oncebox::event::Emit;
use oncebox::outbox::{CommitError, LimitError, Outbox, Transaction};
use oncebox::store::{CancelCode, Store};
use oncebox::testing::{CountedIds, Fault, MemoryStore, PausedClock, ScriptedStore, item, number, text};

use crate::bench::Paid;

struct Shop {
    memory: MemoryStore,
    store: ScriptedStore,
    outbox: Outbox,
}

fn shop() -> Shop {
    let clock = PausedClock::start();
    let memory = MemoryStore::new()
        .with_clock(Arc::new(clock))
        .table("outbox", "pk", Some("sk"))
        .table("accounts", "id", None);
    memory.put_item("accounts", item([("id", text("a")), ("paid", number(0))])).unwrap();
    let store = ScriptedStore::new(Arc::new(memory.clone()));
    let outbox = Outbox::new(Arc::new(store.clone()), "outbox", "/test")
        .with_time(Arc::new(clock), Arc::new(CountedIds::default()));
    Shop { memory, store, outbox }
}

fn paid() -> Paid {
    Paid { account: "a".into(), mode: "ok".into() }
}

fn transaction() -> Transaction {
    let update = Update::builder()
        .table_name("accounts")
        .key("id", text("a"))
        .update_expression("ADD paid :one")
        .expression_attribute_values(":one", number(1))
        .build()
        .unwrap();
    Transaction::new().update(update).emit(Emit::new(&paid()).sequence(7))
}

impl Shop {
    fn balance(&self) -> String {
        let stored = self.memory.get_item("accounts", item([("id", text("a"))])).unwrap().unwrap();
        stored["paid"].as_n().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_then_relay_and_delete_then_the_retry_moves_the_balance_once() {
    let shop = shop();
    // Between the two attempts the relay has published the row and deleted it: the retry's condition on the row would
    // hold again, and only the token keeps the balance from moving twice.
    let memory = shop.memory.clone();
    shop.store.on_transact(Fault::LostAnswer).before_transact(move || async move {
        let rows = memory.items("outbox");
        let keys: Vec<_> =
            rows.iter().map(|row| item([("pk", row["pk"].clone()), ("sk", row["sk"].clone())])).collect();
        assert_eq!(keys.len(), 1);
        memory.delete_batch("outbox", keys).await.unwrap();
    });
    let committed = shop.outbox.commit(transaction()).await.unwrap();
    assert_eq!(committed.event_ids.len(), 1);
    assert_eq!(shop.balance(), "1");
    assert_eq!((shop.store.calls().len(), shop.store.pending()), (2, 0));
    assert!(shop.memory.items("outbox").is_empty(), "the row is not written a second time");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_stays_unknown_is_said_to_be_unknown() {
    let shop = shop();
    shop.store.on_transact(Fault::LostAnswer);
    for _ in 0..10_000 {
        shop.store.on_transact(Fault::Throttled);
    }
    let error = shop.outbox.commit(transaction()).await.unwrap_err();
    assert!(
        matches!(&error, CommitError::OutcomeUnknown { event_ids, .. } if event_ids.len() == 1),
        "{error}"
    );
    assert_eq!(shop.balance(), "1", "and here it had been applied");
}

#[tokio::test(start_paused = true)]
async fn a_rebuilt_transaction_has_another_token() {
    let shop = shop();
    shop.outbox.commit(transaction()).await.unwrap();
    shop.outbox.commit(transaction()).await.unwrap();
    let calls = shop.store.calls();
    assert_ne!(calls[0].token, calls[1].token);
    assert_eq!(shop.balance(), "2");
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_is_told_apart() {
    let busy = shop();
    for _ in 0..10_000 {
        busy.store.on_transact(Fault::Cancelled(vec![CancelCode::TransactionConflict, CancelCode::None]));
    }
    assert!(matches!(busy.outbox.commit(transaction()).await, Err(CommitError::Busy { .. })));

    let failed = shop();
    let put = Put::builder()
        .table_name("accounts")
        .set_item(Some(item([("id", text("a"))])))
        .condition_expression("attribute_not_exists(id)")
        .build()
        .unwrap();
    let error = failed.outbox.commit(Transaction::new().put(put).emit(paid())).await.unwrap_err();
    assert!(matches!(error, CommitError::ConditionFailed { index: 0, .. }), "{error}");
    assert!(failed.memory.items("outbox").is_empty(), "no event without its business change");

    let reused = shop();
    reused.store.on_transact(Fault::Cancelled(vec![CancelCode::None, CancelCode::ConditionalCheckFailed]));
    let error = reused.outbox.commit(transaction()).await.unwrap_err();
    assert!(matches!(error, CommitError::EventIdReused { index: 0 }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn c28_what_dynamodb_would_refuse_is_refused_before_the_call_with_the_counts() {
    let shop = shop();
    let many = (0..120).fold(Transaction::new(), |transaction, _| transaction.emit(paid()));
    let error = shop.outbox.commit(many).await.unwrap_err();
    assert!(
        matches!(error, CommitError::Limit(LimitError::Actions { actions: 120, events: 120, .. })),
        "{error}"
    );
    assert!(error.to_string().contains("120 events") && error.to_string().contains("100"), "{error}");

    let long = Paid { account: "a".into(), mode: "x".repeat(100_000) };
    let heavy = (0..60).fold(Transaction::new(), |transaction, _| transaction.emit(long.clone()));
    let error = shop.outbox.commit(heavy).await.unwrap_err();
    assert!(matches!(error, CommitError::Limit(LimitError::Transaction { actions: 60, .. })), "{error}");

    let large = Put::builder()
        .table_name("accounts")
        .set_item(Some(item([("id", text("b")), ("blob", text("x".repeat(410_000)))])))
        .build()
        .unwrap();
    let error = shop.outbox.commit(Transaction::new().put(large).emit(paid())).await.unwrap_err();
    assert!(matches!(error, CommitError::Limit(LimitError::Item { index: 0, .. })), "{error}");
    assert!(shop.store.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_stored_row() {
    let shop = shop();
    shop.outbox.commit(transaction()).await.unwrap();
    let row = shop.memory.items("outbox").remove(0);
    let row: std::collections::BTreeMap<_, _> = row.into_iter().collect();
    insta::assert_debug_snapshot!(row);
}
