//! One event in several wrappings, and bodies that are no event.

use oncebox::consumer::decode;
use oncebox::testing::SqsBatch;
use serde_json::json;

use crate::bench::{Bench, body, envelope};

fn sns(message: &str) -> String {
    json!({
        "Type": "Notification",
        "MessageId": "0f1c-sns",
        "TopicArn": "arn:aws:sns:eu-central-1:000000000000:orders",
        "Message": message,
        "Timestamp": "2026-11-30T12:00:00.000Z",
    })
    .to_string()
}

#[tokio::test(start_paused = true)]
async fn one_event_in_three_wrappings_is_one_event() {
    let bench = Bench::new();
    let raw = body(1, "a", "ok");
    let quoted = serde_json::to_string(&raw).unwrap();
    let batch = SqsBatch::standard("q")
        .record("1", &raw)
        .record("2", &sns(&raw))
        .record("3", &sns(&quoted))
        .record("4", &quoted);
    assert!(bench.failures(&batch).await.is_empty());
    assert_eq!(bench.paid("a"), "1");
}

#[test]
fn a_raw_event_with_fields_like_sns_is_not_unwrapped() {
    let mut event: serde_json::Value = serde_json::from_str(&body(1, "a", "ok")).unwrap();
    event["Type"] = json!("Notification");
    event["TopicArn"] = json!("arn:aws:sns:::t");
    event["Message"] = json!(body(2, "b", "ok"));
    assert!(decode(&event.to_string()).unwrap().id.ends_with("000000000001"));
}

#[test]
fn the_id_in_the_body_is_the_only_identity() {
    let plain = "01a3185c-5000-7000-8000-00000000000a";
    let shouted = envelope(&plain.to_uppercase(), "Paid", "{}");
    assert_eq!(decode(&shouted).unwrap().key(), decode(&envelope(plain, "Paid", "{}")).unwrap().key());
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_no_event_are_malformed_and_alone() {
    let whole: serde_json::Value = serde_json::from_str(&body(7, "a", "ok")).unwrap();
    let mut bodies = vec![
        String::new(),
        "{}".into(),
        "null".into(),
        "[]".into(),
        "\"\"".into(),
        "{\"specversion\":".into(),
        sns("{}"),
        sns("not json"),
        json!({"Type": "Notification", "Message": body(8, "a", "ok")}).to_string(),
    ];
    for field in ["specversion", "id", "source", "type", "data"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(field);
        bodies.push(without.to_string());
        for odd in [json!(null), json!("")] {
            if field != "data" {
                let mut event = whole.clone();
                event[field] = odd;
                bodies.push(event.to_string());
            }
        }
    }
    for (field, odd) in
        [("specversion", json!("0.3")), ("sequence", json!("soon")), ("schemaversion", json!(1.5))]
    {
        let mut event = whole.clone();
        event[field] = odd;
        bodies.push(event.to_string());
    }
    for body_text in bodies {
        let bench = Bench::new();
        let batch = SqsBatch::standard("q").record("bad", &body_text).record("good", &body(1, "a", "ok"));
        assert_eq!(bench.failures(&batch).await, ["bad"], "{body_text}");
        assert_eq!(bench.paid("a"), "1", "beside {body_text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_type_that_is_not_handled_is_acknowledged() {
    let bench = Bench::new();
    let batch = SqsBatch::standard("q").record("1", &envelope("x", "SomethingElse", "[1, 2]"));
    assert!(bench.failures(&batch).await.is_empty());
    assert!(bench.memory.items("inbox").is_empty());
}

/// CloudEvents asks for no `data`; who does not handle the type has no say in it.
#[tokio::test(start_paused = true)]
async fn an_event_without_data_is_an_event() {
    let bench = Bench::with_quarantine();
    let none = r#"{"specversion":"1.0","id":"1","source":"/test","type":"SomethingElse"}"#;
    let batch = SqsBatch::standard("q")
        .record("1", none)
        .record("2", &envelope("x", "SomethingElse", "null"))
        .record("3", &none.replace('}', r#","data_base64":"e30="}"#))
        .record("4", &none.replace("SomethingElse", "Paid"));
    assert!(bench.failures(&batch).await.is_empty());
    let details: Vec<String> = bench.cases().into_iter().map(|case| case.detail).collect();
    assert_eq!(details.len(), 2, "{details:?}");
    assert!(details.iter().any(|detail| detail.contains("data_base64")), "{details:?}");
    assert!(details.iter().any(|detail| detail.contains("the data of Paid")), "{details:?}");
}

/// What serialises to `null` is written and read like any other event.
#[test]
fn a_unit_struct_is_an_event() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct DayClosed;

    impl oncebox::event::Event for DayClosed {
        const TYPE: &'static str = "DayClosed";
        const AGGREGATE_TYPE: &'static str = "Shop";

        fn aggregate_id(&self) -> std::borrow::Cow<'_, str> {
            "main".into()
        }
    }

    async fn close(
        _event: oncebox::event::Message<DayClosed>,
        _reads: oncebox::effect::Reads,
    ) -> Result<oncebox::effect::Effects, oncebox::consumer::HandlerError> {
        Ok(oncebox::effect::Effects::new().emit(DayClosed))
    }

    oncebox::testing::kit::Given::new()
        .consumer(|kit| {
            let consumer = oncebox::consumer::Consumer::builder("closing", kit.store());
            consumer.inbox("inbox").outbox(kit.outbox()).on(close).build()
        })
        .when(&DayClosed)
        .then_applied()
        .then_emitted(|event: &DayClosed, envelope| {
            assert_eq!((event, envelope.data.get()), (&DayClosed, "null"));
        });
}

#[test]
fn data_keeps_its_bytes() {
    let data = r#"{"n": 123456789012345678901234567890123456789, "e":1e400,"t":"\u00e9\/"}"#;
    let parsed = decode(&envelope("x", "Paid", data)).unwrap();
    assert_eq!(parsed.data.get(), data);
    let again = oncebox::event::Envelope::parse(&parsed.to_json().unwrap()).unwrap();
    assert_eq!(again.data.get(), data);
}
