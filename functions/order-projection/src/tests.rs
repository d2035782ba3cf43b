//! Every event of an order is applied once and in order, however often and in whatever order it is delivered.

use std::borrow::Cow;
use std::sync::Arc;

use oncebox::consumer::Consumer;
use oncebox::event::Event;
use oncebox::quarantine::Reason;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{WriteFault, number, text};
use order_events::{OrderLine, OrderPlaced, Rejection, StockRejected, StockReserved};

use crate::{Config, consumer};

/// `MAX_RECEIVE_COUNT` of the kit.
const LAST_RECEIVE: u32 = 5;

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
fn an_event_that_comes_too_early_waits_for_the_one_before_it() {
    let early = projection().when(reserved()).then_transient("expected 1, found 2").then_listed([0]);
    let early = early.then_no_item("order_status", "o-1").when(placed()).then_applied();
    then_status(early.when(reserved()).then_applied(), "RESERVED", 2);
}

#[test]
fn the_rest_of_its_order_waits_with_it_and_other_orders_do_not() {
    let other = OrderPlaced { line: OrderLine { order_id: "o-2".into(), ..line() } };
    let batch = [reserved(), placed(), Incoming::of(&other).sequence(1)];
    let held = projection().when_batch(batch).then_verdicts(["transient", "held_back", "applied"]);
    held.then_listed([0, 1]).then_no_item("order_status", "o-1");
}

#[test]
fn what_comes_twice_is_a_duplicate() {
    let twice = projection().when(placed()).then_applied().when_again().then_duplicate();
    then_status(twice.redelivered().then_duplicate().then_nothing_written(), "PLACED", 1);
}

#[test]
fn a_copy_of_what_lies_behind_is_stale() {
    let behind = projection().when(placed().id("first")).when(reserved()).then_applied();
    then_status(behind.when(placed().id("first")).then_stale().then_nothing_written(), "RESERVED", 2);
}

#[test]
fn a_lost_answer_is_not_a_duplicate() {
    let lost = projection().with_update_fault(WriteFault::LostAnswer).when(placed());
    then_status(lost.then_applied(), "PLACED", 1);
}

#[test]
fn two_events_with_one_sequence_are_a_case_for_a_person() {
    let conflict = projection().when(placed()).when(reserved()).then_applied().when(rejected());
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

/// An event of an order that the projection has never heard of.
#[derive(serde::Serialize, serde::Deserialize)]
struct OrderAnnotated {}

impl Event for OrderAnnotated {
    const TYPE: &'static str = "OrderAnnotated";
    const AGGREGATE_TYPE: &'static str = "Order";

    fn aggregate_id(&self) -> Cow<'_, str> {
        "o-1".into()
    }
}

/// One of another aggregate, with the same id.
#[derive(serde::Serialize, serde::Deserialize)]
struct AccountOpened {}

impl Event for AccountOpened {
    const TYPE: &'static str = "AccountOpened";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> Cow<'_, str> {
        "o-1".into()
    }
}

#[test]
fn an_event_of_a_type_that_changes_no_status_advances_the_order() {
    let counted =
        projection().when(placed()).when(Incoming::of(&OrderAnnotated {}).sequence(2)).then_unhandled();
    let counted = then_status(counted, "PLACED", 2);
    let next = Incoming::of(&StockReserved { line: line() }).sequence(3);
    then_status(counted.when(next).then_applied(), "RESERVED", 3);
}

#[test]
fn it_waits_in_its_turn_and_an_event_of_another_aggregate_counts_for_none() {
    projection().when(Incoming::of(&OrderAnnotated {}).sequence(2)).then_transient("expected 1, found 2");
    let other = Incoming::of(&AccountOpened {}).sequence(1);
    projection().when(other).then_unhandled().then_no_item("order_status", "o-1");
}

/// What docs/operations.md says of a gap: the events behind it are transient, and exhausted in the end.
#[test]
fn behind_an_event_in_quarantine_its_order_stops() {
    let bad = Incoming::json(OrderPlaced::TYPE, r#"{"order_id":7}"#).sequence(1).group("Order#o-1");
    let gap = projection().when_batch([bad, reserved()]).then_verdicts(["malformed", "transient"]);
    let gap = gap.then_listed([1]).then_no_item("order_status", "o-1");
    let last = reserved().received(LAST_RECEIVE);
    let stopped = gap.when(last).then_quarantined(Reason::Exhausted, "expected 1, found 2").then_listed([]);
    // Mended, and sent again in order.
    then_status(stopped.when(placed()).then_applied().when(reserved()).then_applied(), "RESERVED", 2);
}
