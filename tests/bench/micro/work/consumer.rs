use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use oncebox::consumer::steps::{self, Records};
use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, OnFailed, Reads};
use oncebox::event::{Envelope, Message};
use oncebox::inbox::InboxKey;
use oncebox::quarantine::Quarantine;
use oncebox::testing::{CountedIds, TestClock};
use oncebox::time::Clock;

use super::inputs::{self, OrderPlaced};
use super::instant::Instant;
use super::{Rounds, deadline, runtime};

/// A batch from its text to its envelopes.
pub(super) fn parse(records: usize) -> Rounds {
    let event = inputs::sqs(0..records);
    Box::new(move |_| assert_eq!(Records::split(&event).decode().events(), records))
}

/// A FIFO batch, already parsed, into lanes.
pub(super) fn lanes(records: usize, rounds: usize) -> Rounds {
    // What is borrowed has to outlive the rounds; the process ends soon.
    let event: &'static str = inputs::sqs_fifo(records).leak();
    let batch: &'static Records<'static> = Box::leak(Box::new(Records::split(event)));
    let mut prepared: Vec<_> = (0..rounds).map(|_| Some(batch.decode())).collect();
    Box::new(move |round| {
        let entries = prepared.get_mut(round).and_then(Option::take).expect("a round is worked off once");
        assert_eq!(entries.into_lanes(), records / 10);
    })
}

/// Transactions of an inbox key and an update each, into packs.
pub(super) fn packs(records: usize) -> Rounds {
    let transactions: Vec<Vec<TransactWriteItem>> = (0..records).map(transaction).collect();
    Box::new(move |_| assert_eq!(steps::packs(&transactions), (2 * records).div_ceil(100)))
}

fn transaction(number: usize) -> Vec<TransactWriteItem> {
    let envelope = Envelope::parse(&inputs::body(number)).expect("an envelope");
    let window = std::time::Duration::from_secs(90 * 86_400);
    let key = InboxKey::new("inbox", "billing", &envelope, TestClock::default().now(), window);
    let credit = credit(&OrderPlaced::of(number)).expect("an update");
    vec![key.action().expect("a put"), TransactWriteItem::builder().update(credit).build()]
}

/// A whole invocation: a new event each with one balance to update.
pub(super) fn handle(records: usize, packing: bool) -> Rounds {
    let event = inputs::sqs(0..records);
    let store = Instant::default();
    let consumer = Consumer::builder("billing", Arc::new(store.clone()))
        .inbox("inbox")
        .quarantine(Quarantine::new(Arc::new(store.clone()), "quarantine"))
        .with_time(Arc::new(TestClock::default()), Arc::new(CountedIds::default()))
        .packing(packing)
        .on(charge)
        .build()
        .expect("a consumer");
    Box::new(move |_| {
        let answer = runtime().block_on(consumer.handle(&event, deadline())).expect("an answer");
        assert!(answer.batch_item_failures.is_empty());
        assert_eq!(store.take(), 2 * records, "an inbox key and an update each");
    })
}

async fn charge(event: Message<OrderPlaced>, _reads: Reads) -> Result<Effects, HandlerError> {
    Ok(Effects::new().update(credit(&event)?).on_failed(OnFailed::Permanent("no such account".into())))
}

fn credit(order: &OrderPlaced) -> Result<Update, BuildError> {
    Update::builder()
        .table_name("accounts")
        .key("account_id", AttributeValue::S(order.account_id.clone()))
        .update_expression("ADD balance_cents :delta, entries :one")
        .condition_expression("attribute_exists(account_id)")
        .expression_attribute_values(":delta", AttributeValue::N(order.amount_cents.to_string()))
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .build()
}
