//! Events in any order, any number of times, lead to one status.

use std::sync::Arc;

use oncebox::consumer::Consumer;
use oncebox::event::Event;
use oncebox::quarantine::Reason;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{WriteFault, number, text};
use order_events::{OrderLine, OrderPlaced, Rejection, StockRejected, StockReserved};

use crate::{Config, consumer};

fn projection() -> Scenario<Consumer<Arc<Config>>> {
    Given::new()
        .setting("ORDER_STATUS_TABLE", "order_status")
        .table("order_status", "order_id")
        .fifo()
        .consumer(|kit| consumer(Config::read(kit.settings()).unwrap(), kit.store(), kit.visibility()))
}

fn line() -> OrderLine {
    OrderLine {
        order_id: "o-1".into(),
        account_id: "a-1".into(),
        sku: "pen".into(),
        quantity: 3,
        amount_cents: 450,
    }
}

fn placed() -> Incoming {
    Incoming::of(&OrderPlaced { line: line() }).sequence(1)
}

fn reserved() -> Incoming {
    Incoming::of(&StockReserved { line: line() }).sequence(2)
}

fn rejected() -> Incoming {
    Incoming::of(&StockRejected { line: line(), reason: Rejection::OutOfStock }).sequence(2)
}

#[track_caller]
fn then_status(
    scenario: Scenario<Consumer<Arc<Config>>>,
    status: &str,
    version: u32,
) -> Scenario<Consumer<Arc<Config>>> {
    scenario.then_item("order_status", "o-1", |order| {
        assert_eq!((&order["status"], &order["version"]), (&text(status), &number(version)));
    })
}

#[test]
fn the_status_follows_the_order() {
    let scenario = then_status(projection().when(placed()).then_applied(), "PLACED", 1);
    then_status(scenario.when(reserved()).then_applied(), "RESERVED", 2);
    then_status(projection().when_batch([placed(), rejected()]).then_applied(), "REJECTED", 2);
}

#[test]
fn what_comes_late_is_stale() {
    let late = projection().when(reserved()).then_applied().when(placed()).then_stale();
    then_status(late.then_nothing_written(), "RESERVED", 2);
}

#[test]
fn what_comes_twice_is_a_duplicate() {
    let twice = projection().when(reserved()).then_applied().when_again().then_duplicate();
    then_status(twice.redelivered().then_duplicate().then_nothing_written(), "RESERVED", 2);
}

#[test]
fn a_lost_answer_is_not_a_duplicate() {
    let lost = projection().with_update_fault(WriteFault::LostAnswer).when(placed());
    then_status(lost.then_applied(), "PLACED", 1);
}

#[test]
fn two_events_of_one_version_are_a_case_for_a_person() {
    let conflict = projection().when(reserved()).then_applied().when(rejected());
    let conflict = conflict.then_quarantined(Reason::Permanent, "version 2");
    then_status(conflict, "RESERVED", 2);
}

#[test]
fn an_event_without_a_sequence_cannot_be_placed_in_order() {
    projection()
        .when(&OrderPlaced { line: line() })
        .then_quarantined(Reason::Permanent, "the event has no sequence")
        .then_no_item("order_status", "o-1");
}

#[test]
fn a_poisonous_head_does_not_hold_up_its_order() {
    let bad = Incoming::json(OrderPlaced::TYPE, r#"{"order_id":7}"#).group("Order#o-1");
    let batch = projection().when_batch([bad, reserved()]).then_verdicts(["malformed", "applied"]);
    then_status(batch.then_listed([]), "RESERVED", 2);
}
