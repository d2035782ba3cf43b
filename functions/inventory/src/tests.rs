//! From the order to the reservation and the event it leads to.

use std::sync::Arc;

use oncebox::consumer::Consumer;
use oncebox::event::{Cause, TraceContext};
use oncebox::store::CancelCode;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{Fault, GetFault, MemoryStore, item, number, text};
use order_events::{OrderLine, OrderPlaced, PaymentDeclined, Rejection, StockRejected, StockReserved};

use crate::{Config, consumer};

/// Inventory with 10 pens.
fn inventory() -> Scenario<Consumer<Arc<Config>>> {
    Given::new()
        .setting("STOCK_TABLE", "stock")
        .setting("EVENT_SOURCE", "/shop/inventory")
        .setting("ROUTES", r#"{"Order": ["arn:aws:sns:eu-central-1:000000000000:orders"]}"#)
        .table("stock", "sku")
        .item("stock", item([("sku", text("pen")), ("available", number(10))]))
        .consumer(|kit| consumer(Config::read(kit.settings()).unwrap(), kit.store(), kit.visibility()))
}

fn placed(sku: &str, quantity: u32) -> OrderPlaced {
    let line = OrderLine {
        order_id: "o-1".into(),
        account_id: "a-1".into(),
        sku: sku.into(),
        quantity,
        amount_cents: 450,
    };
    OrderPlaced { line }
}

/// Somebody else leaves so many pens.
fn leave(pens: u32) -> impl FnOnce(&MemoryStore) {
    move |others| {
        others.put_item("stock", item([("sku", text("pen")), ("available", number(pens))])).unwrap();
    }
}

#[track_caller]
fn then_available(scenario: Scenario<Consumer<Arc<Config>>>, pens: u32) -> Scenario<Consumer<Arc<Config>>> {
    scenario.then_item("stock", "pen", |stock| assert_eq!(stock["available"], number(pens)))
}

#[test]
fn a_reservation_and_its_event_are_one() {
    let order = placed("pen", 3);
    let cause = Cause {
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
        correlation_id: Some("request-7".into()),
        causation_id: None,
    };
    let reserved = inventory()
        .when(Incoming::of(&order).id("cause").sequence(1).cause(cause.clone()))
        .then_applied()
        .then_emitted(|event: &StockReserved, envelope| {
            assert_eq!(event.line, order.line);
            assert_eq!(envelope.sequence, Some(2), "the order's version line goes on");
            assert_eq!(envelope.source, "/shop/inventory");
            let Cause { traceparent, correlation_id, causation_id } = &envelope.cause;
            let trace =
                |traceparent: &Option<String>| TraceContext::parse(traceparent.as_deref().unwrap()).unwrap();
            let (consumer, producer) = (trace(traceparent), trace(&cause.traceparent));
            assert_eq!(consumer.trace_id(), producer.trace_id());
            assert_ne!(consumer.span_id(), producer.span_id(), "the consumer is a span of its own");
            assert_eq!((correlation_id, causation_id), (&cause.correlation_id, &Some("cause".into())));
        });
    then_available(reserved, 7);
}

#[test]
fn a_second_delivery_reserves_and_emits_nothing_more() {
    let reserved = inventory().when(&placed("pen", 3)).then_applied();
    let again = reserved.when_again().then_duplicate().then_nothing_emitted();
    then_available(again.redelivered().then_duplicate().then_nothing_written(), 7);
}

#[test]
fn an_order_without_a_sequence_leads_to_an_event_without_one() {
    inventory()
        .when(&placed("pen", 3))
        .then_emitted(|_: &StockReserved, envelope| assert_eq!(envelope.sequence, None));
}

#[test]
fn more_than_there_is_gets_rejected() {
    let rejected = inventory().when(&placed("pen", 11)).then_applied();
    let rejected = rejected.then_emitted(|event: &StockRejected, _| {
        assert_eq!(event.reason, Rejection::OutOfStock);
    });
    then_available(rejected, 10);
}

#[test]
fn an_article_that_is_not_kept_gets_rejected() {
    inventory()
        .when(&placed("anvil", 1))
        .then_applied()
        .then_emitted(|event: &StockRejected, _| assert_eq!(event.reason, Rejection::UnknownSku))
        .then_no_item("stock", "anvil");
}

#[test]
fn whoever_loses_the_race_decides_again() {
    let rejected = inventory().meanwhile(leave(2)).when(&placed("pen", 3)).then_applied();
    let rejected = rejected.then_emitted(|event: &StockRejected, _| {
        assert_eq!(event.reason, Rejection::OutOfStock);
    });
    then_available(rejected, 2);
    let reserved = inventory().meanwhile(leave(4)).when(&placed("pen", 3)).then_applied();
    then_available(reserved.then_emitted::<StockReserved>(|_, _| ()), 1);
}

#[test]
fn whoever_loses_it_three_times_comes_again() {
    use CancelCode::{ConditionalCheckFailed, None};
    let lost = || Fault::Cancelled(vec![None, ConditionalCheckFailed, None]);
    let scenario = inventory().with_fault(lost()).with_fault(lost()).with_fault(lost());
    let late = scenario.when(&placed("pen", 3)).then_transient("3 times in a row").then_nothing_written();
    then_available(late.retried().then_applied(), 7);
}

#[test]
fn without_a_read_nothing_is_decided() {
    let blind = inventory().with_get_fault(GetFault::TimedOut).when(&placed("pen", 3));
    blind.then_transient("timeout").then_nothing_written().retried().then_applied();
}

#[test]
fn a_conflict_with_another_order_is_tried_again() {
    use CancelCode::{None, TransactionConflict};
    let conflict = Fault::Cancelled(vec![None, TransactionConflict, None]);
    then_available(inventory().with_fault(conflict).when(&placed("pen", 3)).then_applied(), 7);
}

#[test]
fn what_is_not_paid_is_released_once() {
    let order = placed("pen", 3);
    let declined = PaymentDeclined { line: order.line.clone(), reason: "no funds".into() };
    let reserved = inventory().when(Incoming::of(&order).sequence(1)).then_applied();
    let released = then_available(reserved, 7).when(Incoming::of(&declined).sequence(3)).then_applied();
    let again = then_available(released, 10).when_again().then_duplicate();
    drop(then_available(again, 10));
}
