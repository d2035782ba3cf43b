//! The kit says what happened, and does not let a test pass that has shown nothing.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use aws_sdk_dynamodb::types::Update;

use super::*;
use crate::consumer::{BuildError, Config, Consumer, HandlerError};
use crate::effect::{Effects, OnFailed, Reads};
use crate::event::{Emit, Event, Message};
use crate::quarantine::Reason;
use crate::store::CancelCode;
use crate::testing::{Fault, WriteFault, item, number, text};

#[derive(serde::Serialize, serde::Deserialize)]
struct Paid {
    account: String,
    cents: i64,
}

impl Event for Paid {
    const TYPE: &'static str = "Paid";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Booked {
    account: String,
}

impl Event for Booked {
    const TYPE: &'static str = "Booked";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}

/// Books the amount; nothing costs more than 900, and 13 never works.
async fn book(event: Message<Paid>, _reads: Reads) -> Result<Effects, HandlerError> {
    if event.cents == 13 {
        return Err(HandlerError::transient("not on a Friday"));
    }
    let update = Update::builder()
        .table_name("accounts")
        .key("id", text(&event.account))
        .update_expression("ADD cents :cents")
        .condition_expression("attribute_exists(id)")
        .expression_attribute_values(":cents", number(event.cents))
        .build()?;
    let effects = Effects::new().update(update).on_failed(OnFailed::Permanent("no such account".into()));
    Ok(effects.emit(Emit::new(&Booked { account: event.account.clone() })))
}

fn given() -> Given {
    Given::new()
        .table("accounts", "id")
        .item("accounts", item([("id", text("a")), ("cents", number(0))]))
        .item("accounts", item([("id", text("b")), ("cents", number(0))]))
}

fn consumer(kit: &Kit) -> Result<Consumer<()>, BuildError> {
    let mut settings = kit.settings();
    let config = Config::read(&mut settings);
    let config = settings.finish(config).unwrap();
    Consumer::builder("booking", kit.store())
        .config(&config, kit.visibility())
        .outbox(kit.outbox())
        .on(book)
        .build()
}

fn booking() -> Scenario<Consumer<()>> {
    given().consumer(consumer)
}

fn paid(account: &str, cents: i64) -> Paid {
    Paid { account: account.to_owned(), cents }
}

/// What `test` says when it fails.
fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).expect_err("the test should have failed");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
}

#[test]
fn a_failure_shows_verdict_reason_and_calls() {
    let said = failure(|| {
        booking().when(&paid("nobody", 1)).then_applied();
    });
    insta::assert_snapshot!(said, @r#"
    expected applied, but m-1 (Paid 01a3185c-5000-7000-8000-000000000001), receive 1: permanent, quarantined: no such account

    delivery 1 from a standard queue:
      m-1 (Paid 01a3185c-5000-7000-8000-000000000001), receive 1: permanent, quarantined: no such account
    calls:
      transaction of put into inbox, update of accounts, put into outbox: cancelled: ConditionalCheckFailed at 1
      get from inbox: not there
      update of quarantine: written
    changed: INSERT in quarantine, pk "booking#01a3185c-5000-7000-8000-000000000001", sk "e175ca84da92f21d"
    "#);
}

#[test]
fn a_fault_that_nobody_met_fails_the_test() {
    let said = failure(|| {
        booking().with_fault(Fault::Throttled).with_fault(Fault::LostAnswer).when(Incoming::body("{}"));
    });
    assert!(said.starts_with("2 of the scripted answers and hooks were not asked for"), "{said}");
}

#[test]
fn nothing_is_true_of_no_message() {
    assert!(failure(|| drop(booking().then_applied())).contains("nothing has come in yet"));
    assert!(failure(|| drop(booking().redelivered())).contains("nothing has come in yet"));
    assert!(failure(|| drop(booking().when(&paid("a", 1)).retried())).contains("nothing was listed"));
}

#[test]
fn again_is_another_message_and_redelivered_is_the_same() {
    let scenario = booking().when(&paid("a", 5)).then_applied().when_again().then_duplicate();
    let calls = |scenario: &Scenario<_>| scenario.kit().script().calls().len();
    let before = calls(&scenario);
    let scenario = scenario.redelivered().then_duplicate().then_nothing_written().then_nothing_emitted();
    assert_eq!(calls(&scenario) - before, 1, "a redelivered message is looked up first, and that is all");
    drop(scenario.then_item("accounts", "a", |account| assert_eq!(account["cents"], number(5))));
}

#[test]
fn only_what_was_listed_is_retried() {
    let one = Incoming::of(&paid("a", 1));
    booking()
        .when_batch([one.clone().id("1"), Incoming::of(&paid("b", 13)).id("2"), one.id("3")])
        .then_verdicts(["applied", "transient", "applied"])
        .then_listed([1])
        .then_comes_again_in(10..=12)
        .retried()
        .then_transient("Friday")
        .then_nothing_emitted();
}

#[test]
fn a_visibility_that_cannot_be_set_is_left_to_the_queue() {
    let scenario = booking();
    scenario.kit().memory_visibility().fail_next();
    let scenario = scenario.when(&paid("a", 13)).then_transient("Friday");
    let said = failure(|| drop(scenario.then_comes_again_in(0..=u32::MAX)));
    assert!(said.contains("it comes when the queue says"), "{said}");
}

#[test]
fn a_transient_record_is_quarantined_on_its_last_receive() {
    given()
        .setting("MAX_RECEIVE_COUNT", "2")
        .consumer(consumer)
        .when(&paid("a", 13))
        .then_transient("")
        .retried()
        .then_quarantined(Reason::Exhausted, "Friday")
        .then_case(|case| assert_eq!((case.attempts, case.owner.as_str()), (2, "booking")));
}

#[test]
fn a_quarantine_that_does_not_take_it_makes_it_come_again() {
    let said = failure(|| {
        booking()
            .with_update_fault(WriteFault::Refused)
            .when(&paid("nobody", 1))
            .then_listed([0])
            .then_quarantined(Reason::Permanent, "");
    });
    assert!(said.starts_with("expected quarantined, but m-1"), "{said}");
    let said = failure(|| drop(booking().when(&paid("nobody", 1)).then_quarantined(Reason::TooOld, "")));
    assert!(said.starts_with("expected the case to be too_old"), "{said}");
}

#[test]
fn a_fifo_queue_holds_back_the_group_of_the_aggregate() {
    given()
        .fifo()
        .consumer(consumer)
        .when_batch([&paid("a", 13), &paid("a", 1), &paid("b", 1)])
        .then_verdicts(["transient", "held_back", "applied"]);
    booking().when_batch([&paid("a", 13), &paid("a", 1), &paid("b", 1)]).then_verdicts([
        "transient",
        "applied",
        "applied",
    ]);
}

#[test]
fn every_wrapping_is_the_same_event() {
    let event = || Incoming::of(&paid("a", 7)).id("one");
    booking()
        .when(event())
        .then_applied()
        .then_emitted(|booked: &Booked, envelope| {
            assert_eq!((booked.account.as_str(), envelope.cause.causation_id.as_deref()), ("a", Some("one")));
        })
        .when_batch([event().by_sns(), event().by_sns_quoted(), event().quoted()])
        .then_duplicate();
}

#[test]
fn time_passes_when_the_test_says_so() {
    let day = Duration::from_secs(86_400);
    booking()
        .when(Incoming::of(&paid("a", 1)).age(89 * day))
        .then_applied()
        .later(day)
        .when_again()
        .then_duplicate()
        .when(Incoming::of(&paid("a", 1)).age(90 * day))
        .then_quarantined(Reason::TooOld, "90 days")
        .when(Incoming::of(&paid("a", 1)).schema_version(2))
        .then_transient("version 2")
        .later(day)
        .retried()
        .then_quarantined(Reason::Malformed, "version 2");
}

#[test]
fn the_deadline_ends_a_constant_fault() {
    let scenario = booking().deadline_in(500).with_constant_fault(Fault::Throttled).when(&paid("a", 1));
    let scenario = scenario.then_transient("ThrottlingException").then_nothing_written();
    scenario.with_constant_fault(Fault::Pass).retried().then_applied();
}

#[test]
fn a_failed_look_at_an_item_says_what_is_missing() {
    let wrong_table = failure(|| drop(booking().then_no_item("acounts", "a")));
    assert!(wrong_table.starts_with("table \"acounts\" is not declared; the test has"), "{wrong_table}");
    assert!(failure(|| drop(booking().then_item("accounts", "z", |_| ()))).contains("it is not there"));
    assert!(failure(|| drop(booking().then_no_item("accounts", "a"))).contains("there is"));
    assert!(failure(|| drop(booking().then_no_item("accounts", ("a", "b")))).contains("no sort key"));
    let emitted = failure(|| drop(booking().when(&paid("a", 1)).then_emitted::<Paid>(|_, _| ())));
    assert!(emitted.starts_with("expected one Paid, but there are 0; emitted: [\"Booked\"]"), "{emitted}");
}

#[test]
fn a_runtime_of_the_test_s_own_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let said = failure(|| runtime.block_on(async { drop(Given::new()) }));
    assert!(said.contains("use #[test]"), "{said}");
}

/// What the chapter on testing says of each fault.
#[test]
fn each_fault_has_the_verdict_that_the_chapter_states() {
    use CancelCode::{ConditionalCheckFailed, None, TransactionConflict, ValidationError};
    for (fault, verdict) in [
        (Fault::LostAnswer, "applied"),
        (Fault::Unknown, "applied"),
        (Fault::InProgress, "applied"),
        (Fault::Throttled, "applied"),
        (Fault::CancelledNoReasons, "applied"),
        (Fault::Cancelled(vec![None, TransactionConflict, None]), "applied"),
        (Fault::Cancelled(vec![ConditionalCheckFailed, None, None]), "duplicate"),
        (Fault::Cancelled(vec![None, ConditionalCheckFailed, None]), "permanent"),
        (Fault::Cancelled(vec![None, None, ConditionalCheckFailed]), "permanent"),
        (Fault::Cancelled(vec![None, ValidationError, None]), "permanent"),
        (Fault::Refused, "permanent"),
    ] {
        booking().with_fault(fault).when(&paid("a", 1)).then_verdicts([verdict]);
    }
    booking().with_constant_fault(Fault::Unknown).when(&paid("a", 1)).then_transient("not known");
}

#[test]
fn what_the_memory_store_does_not_know_is_named() {
    async fn nested(event: Message<Paid>, _reads: Reads) -> Result<Effects, HandlerError> {
        let update = Update::builder()
            .table_name("accounts")
            .key("id", text(&event.account))
            .update_expression("SET cents = (cents + :one)")
            .expression_attribute_values(":one", number(1))
            .build()?;
        Ok(Effects::new().update(update))
    }
    let build = |kit: &Kit| Consumer::builder("nested", kit.store()).inbox("inbox").on(nested).build();
    let said = failure(|| drop(given().consumer(build).when(&paid("a", 1)).then_applied()));
    assert!(said.contains("NotInTheTwin") && said.contains("parentheses"), "{said}");
}
