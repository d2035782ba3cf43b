//! Mails, and what becomes of one of which nobody knows.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::Consumer;
use oncebox::effect::remote::Reply;
use oncebox::quarantine::Reason;
use oncebox::testing::kit::{Given, Incoming, Scenario};
use oncebox::testing::{ScriptedTransport, Sends};
use order_events::{OrderLine, PaymentCaptured};

use crate::{Config, consumer};

type Notification = Scenario<Consumer<Arc<Config>>>;

fn notification(provider: &ScriptedTransport, on_unknown: &str) -> Notification {
    let provider = Arc::new(provider.clone());
    Given::new()
        .setting("REMOTE_TABLE", "remote")
        .setting("MAIL_URL", "https://mail.test")
        .setting("ON_UNKNOWN", on_unknown)
        .table_with_sort_key("remote", "pk", "sk")
        .consumer(|kit| {
            consumer(Config::read(kit.settings()).unwrap(), kit.store(), kit.visibility(), provider)
        })
}

fn paid() -> Incoming {
    let line = OrderLine {
        order_id: "o-1".into(),
        account_id: "a-1".into(),
        sku: "pen".into(),
        quantity: 3,
        amount_cents: 450,
    };
    Incoming::of(&PaymentCaptured { line, capture_id: "c-1".into() }).sequence(3)
}

fn answers(answers: impl IntoIterator<Item = Sends>) -> ScriptedTransport {
    let provider = ScriptedTransport::default();
    for answer in answers {
        provider.on_send(answer);
    }
    provider
}

#[test]
fn a_paid_order_is_mailed_once() {
    let provider = answers([]);
    let mailed = notification(&provider, "quarantine").when(paid()).then_applied();
    drop(mailed.when_again().then_duplicate());
    let sent = provider.sent();
    assert_eq!((sent.len(), &*sent[0].url), (1, "https://mail.test/messages"));
    assert_eq!(sent[0].header("idempotency-key"), None);
    assert_eq!(String::from_utf8(sent[0].body.clone()).unwrap(), r#"{"order_id":"o-1","to":"a-1"}"#);
}

#[test]
fn what_was_definitely_not_sent_is_sent_later() {
    for not_done in [Sends::NotSent, Sends::Reply(Reply::new(429, "")), Sends::Reply(Reply::new(503, ""))] {
        let provider = answers([not_done]);
        let busy = notification(&provider, "quarantine").when(paid()).then_listed([0]);
        drop(busy.redelivered().then_applied());
        assert_eq!(provider.sent().len(), 2);
    }
}

#[test]
fn what_may_have_been_sent_is_a_case_for_a_person_and_not_sent_again() {
    for unknown in [Sends::Lost, Sends::Reply(Reply::new(500, ""))] {
        let heard = match &unknown {
            Sends::Lost => "the provider did not answer",
            _ => "the provider answered 500",
        };
        let provider = answers([unknown]);
        let case =
            notification(&provider, "quarantine").when(paid()).then_quarantined(Reason::Unknown, heard);
        // Delivered once more, it still says what was heard of the call.
        let again = case.later(Duration::from_secs(600)).when_again();
        drop(again.then_quarantined(Reason::Unknown, heard));
        assert_eq!(provider.sent().len(), 1);
    }
}

#[test]
fn or_it_is_sent_again_where_that_is_the_choice() {
    let provider = answers([Sends::Lost]);
    let again = notification(&provider, "call-again").when(paid()).then_listed([0]);
    drop(again.later(Duration::from_secs(120)).redelivered().then_applied());
    assert_eq!(provider.sent().len(), 2);
}

#[test]
fn a_choice_that_is_none_does_not_start() {
    let reader = oncebox::config::Reader::new(|name| (name == "ON_UNKNOWN").then(|| "maybe".to_owned()));
    let error = Config::read(reader).unwrap_err().to_string();
    assert!(error.contains("neither quarantine nor call-again"), "{error}");
    assert!(error.contains("MAIL_URL is not set") && error.contains("REMOTE_TABLE is not set"), "{error}");
}
