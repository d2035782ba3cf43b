//! From the message to the balance.

use std::sync::Arc;

use oncebox::config::Reader;
use oncebox::consumer::Consumer;
use oncebox::quarantine::Reason;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{Fault, item, number, text};
use order_events::{OrderLine, OrderPlaced, Rejection, StockRejected, StockReserved};

use crate::{Config, consumer};

/// Billing with one account that has 1000 cents.
fn billing() -> Scenario<Consumer<Arc<Config>>> {
    Given::new()
        .setting("ACCOUNTS_TABLE", "accounts")
        .table("accounts", "account_id")
        .item("accounts", item([("account_id", text("a-1")), ("balance_cents", number(1000))]))
        .consumer(|kit| consumer(Config::read(kit.settings()).unwrap(), kit.store(), kit.visibility()))
}

fn line(account: &str, amount_cents: u64) -> OrderLine {
    OrderLine {
        order_id: "o-1".into(),
        account_id: account.into(),
        sku: "pen".into(),
        quantity: 3,
        amount_cents,
    }
}

fn placed(account: &str, amount_cents: u64) -> OrderPlaced {
    OrderPlaced { line: line(account, amount_cents) }
}

/// The balance after so many postings.
#[track_caller]
fn then_balance(
    scenario: Scenario<Consumer<Arc<Config>>>,
    cents: i64,
    entries: u32,
) -> Scenario<Consumer<Arc<Config>>> {
    scenario.then_item("accounts", "a-1", |account| {
        assert_eq!((&account["balance_cents"], &account["entries"]), (&number(cents), &number(entries)));
    })
}

#[test]
fn an_order_is_charged_once_however_often_it_comes() {
    let charged = billing().when(&placed("a-1", 450)).then_applied().then_nothing_emitted();
    then_balance(charged.when_again().then_duplicate().redelivered().then_duplicate(), 550, 1);
}

#[test]
fn copies_in_one_batch_are_charged_once() {
    let copy = Incoming::of(&placed("a-1", 450)).id("one");
    let charged = billing().when_batch([copy.clone(), copy.clone().by_sns(), copy.by_sns_quoted()]);
    then_balance(charged.then_verdicts(["applied", "duplicate", "duplicate"]), 550, 1);
}

#[test]
fn a_lost_answer_is_found_out_in_the_same_delivery() {
    then_balance(billing().with_fault(Fault::LostAnswer).when(&placed("a-1", 450)).then_applied(), 550, 1);
}

#[test]
fn an_answer_lost_for_good_is_found_out_by_the_next_delivery() {
    let unknown = billing()
        .with_fault(Fault::LostAnswer)
        .with_constant_fault(Fault::Unknown)
        .when(&placed("a-1", 450))
        .then_transient("not known");
    let known = unknown.with_constant_fault(Fault::Pass).retried().then_duplicate();
    then_balance(known, 550, 1);
}

#[test]
fn a_rejected_order_is_credited_back_once() {
    let rejected = StockRejected { line: line("a-1", 450), reason: Rejection::OutOfStock };
    let credited = billing().when(&placed("a-1", 450)).when(&rejected).then_applied();
    then_balance(credited.when_again().then_duplicate(), 1000, 2);
}

#[test]
fn an_unknown_account_is_a_case_for_a_person() {
    billing()
        .when(&placed("nobody", 450))
        .then_quarantined(Reason::Permanent, "the account does not exist")
        .then_no_item("accounts", "nobody")
        .then_case(|case| {
            assert_eq!((case.owner.as_str(), case.event_type.as_str()), ("billing", "OrderPlaced"));
            assert_eq!(case.aggregate_id, "o-1");
            assert!(case.body.contains("nobody"), "the body is kept for the redrive");
            assert!(!case.detail.contains("nobody"), "the detail is logged, and is no place for payload");
        });
}

#[test]
fn an_amount_beyond_every_balance_is_permanent() {
    billing().when(&placed("a-1", u64::MAX)).then_quarantined(Reason::Permanent, "larger than a balance");
}

#[test]
fn a_busy_table_is_tried_again_later() {
    let busy = billing().with_constant_fault(Fault::Throttled).when(&placed("a-1", 450));
    let busy = busy.then_transient("ThrottlingException").then_nothing_written();
    then_balance(busy.with_constant_fault(Fault::Pass).retried().then_applied(), 550, 1);
}

#[test]
fn another_order_under_the_same_id_is_not_taken_for_a_duplicate() {
    let reused = billing()
        .when(Incoming::of(&placed("a-1", 450)).id("one"))
        .when(Incoming::of(&placed("a-1", 900)).id("one"))
        .then_quarantined(Reason::Permanent, "another event with this id");
    then_balance(reused, 550, 1);
}

#[test]
fn what_is_not_billed_is_acknowledged() {
    billing().when(&StockReserved { line: line("a-1", 450) }).then_unhandled().then_nothing_written();
}

#[test]
fn every_missing_setting_is_named_at_once() {
    let error = Config::read(Reader::new(|_| None)).unwrap_err().to_string();
    for name in ["INBOX_TABLE", "QUARANTINE_TABLE", "QUEUE_URL", "MAX_RECEIVE_COUNT", "ACCOUNTS_TABLE"] {
        assert!(error.contains(name), "{error}");
    }
}
