//! From the reservation to the capture and what is told of it.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::Consumer;
use oncebox::effect::remote::Reply;
use oncebox::quarantine::Reason;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{Fault, ScriptedTransport, Sends};
use order_events::{OrderLine, PaymentCaptured, PaymentDeclined, StockReserved};

use crate::{Config, consumer};

const EVENT: &str = "0190a3e4-7b1c-4def-8a00-000000000001";

type Payment = Scenario<Consumer<Arc<Config>>>;

fn payment(provider: &ScriptedTransport) -> Payment {
    let provider = Arc::new(provider.clone());
    settings(Given::new()).consumer(|kit| {
        consumer(Config::read(kit.settings()).unwrap(), kit.store(), kit.visibility(), provider)
    })
}

fn settings(given: Given) -> Given {
    given
        .setting("REMOTE_TABLE", "remote")
        .setting("EVENT_SOURCE", "/shop/payment")
        .setting("ROUTES", r#"{"Order": ["arn:aws:sns:eu-central-1:000000000000:orders"]}"#)
        .setting("PAYMENT_URL", "https://pay.test/")
        .setting("PAYMENT_TOKEN", "s3cret")
        .table_with_sort_key("remote", "pk", "sk")
}

fn reserved() -> Incoming {
    let line = OrderLine {
        order_id: "o-1".into(),
        account_id: "a-1".into(),
        sku: "pen".into(),
        quantity: 3,
        amount_cents: 450,
    };
    Incoming::of(&StockReserved { line }).id(EVENT).sequence(2)
}

fn answers(answers: impl IntoIterator<Item = Sends>) -> ScriptedTransport {
    let provider = ScriptedTransport::default();
    for answer in answers {
        provider.on_send(answer);
    }
    provider
}

fn captured() -> Sends {
    Sends::Reply(Reply::new(201, r#"{"id":"c-1"}"#))
}

#[track_caller]
fn then_captured(payment: Payment) -> Payment {
    payment.then_applied().then_emitted(|event: &PaymentCaptured, envelope| {
        assert_eq!((&*event.capture_id, &*event.line.order_id), ("c-1", "o-1"));
        assert_eq!(envelope.sequence, Some(3), "the order's version line goes on");
    })
}

#[test]
fn an_order_is_captured_under_its_event_s_id() {
    let provider = answers([captured()]);
    let done = then_captured(payment(&provider).when(reserved()));
    let sent = provider.sent();
    assert_eq!((sent.len(), sent[0].method, &*sent[0].url), (1, "POST", "https://pay.test/captures"));
    assert_eq!(sent[0].header("idempotency-key"), Some(EVENT));
    assert_eq!(sent[0].header("authorization"), Some("Bearer s3cret"));
    let body = String::from_utf8(sent[0].body.clone()).unwrap();
    assert_eq!(body, r#"{"account_id":"a-1","amount_cents":450,"order_id":"o-1"}"#);
    drop(done.when_again().then_duplicate());
    assert_eq!(provider.sent().len(), 1);
}

#[test]
fn a_declined_payment_is_a_result() {
    for (body, reason) in [(r#"{"reason":"no funds"}"#, "no funds"), ("<html>", "declined")] {
        let provider = answers([Sends::Reply(Reply::new(402, body))]);
        payment(&provider).when(reserved()).then_applied().then_emitted(
            |event: &PaymentDeclined, envelope| {
                assert_eq!((&*event.reason, envelope.sequence), (reason, Some(3)));
            },
        );
    }
}

#[test]
fn whatever_comes_before_the_answer_the_same_request_is_sent_again_under_the_same_key() {
    let trouble = [
        Sends::NotSent,
        Sends::Lost,
        Sends::Reply(Reply::new(409, "")),
        Sends::Reply(Reply::new(429, "")),
        Sends::Reply(Reply::new(500, "")),
    ];
    for trouble in trouble {
        let provider = answers([trouble, captured()]);
        let first = payment(&provider).when(reserved());
        // The lease of the first attempt has to pass before another one may begin.
        let later = first.then_listed([0]).later(Duration::from_secs(120));
        drop(then_captured(later.redelivered()));
        let sent = provider.sent();
        assert_eq!((sent.len(), sent[0].header("idempotency-key")), (2, Some(EVENT)));
        assert_eq!((&sent[0].body, &sent[0].headers), (&sent[1].body, &sent[1].headers));
    }
}

#[test]
fn a_lost_answer_of_the_commit_captures_nothing_twice() {
    let provider = answers([captured()]);
    drop(then_captured(
        payment(&provider).with_fault(Fault::Pass).with_fault(Fault::LostAnswer).when(reserved()),
    ));
    assert_eq!(provider.sent().len(), 1);
}

#[test]
fn what_the_provider_will_never_take_is_a_case_for_a_person() {
    let provider = answers([Sends::Reply(Reply::new(422, ""))]);
    drop(payment(&provider).when(reserved()).then_quarantined(Reason::Permanent, "422"));
}

#[test]
fn every_missing_setting_is_named_and_no_debug_text_shows_the_token() {
    let error = Config::read(oncebox::config::Reader::new(|_| None)).unwrap_err().to_string();
    for name in ["REMOTE_TABLE", "OUTBOX_TABLE", "INBOX_TABLE", "PAYMENT_URL", "ROUTES"] {
        assert!(error.contains(&format!("{name} is not set")), "{error}");
    }
    assert!(!error.contains("PAYMENT_TOKEN"), "a provider may want none: {error}");
    let provider = ScriptedTransport::default();
    let kept = payment(&provider);
    let config = Config::read(kept.kit().settings()).unwrap();
    assert!(!format!("{config:?}").contains("s3cret"));
}
