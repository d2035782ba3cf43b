//! The header `Idempotency-Key`.

use lambda_http::RequestExt;
use lambda_http::http::HeaderValue;
use lambda_http::request::RequestContext;
use oncebox::testing::kit::Given;

use super::*;

const KEY: &str = "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";

fn keyed(setting: &str) -> Shop {
    settings(Given::new().setting("IDEMPOTENCY_KEY", setting)).producer(api)
}

fn request(user: &str, keys: &[&str], body: &str) -> Request {
    let context = json!({"routeKey": "POST /orders", "timeEpoch": 0, "authorizer": {"iam": {"userArn": user}},
        "http": {"method": "POST", "path": "/orders", "protocol": "HTTP/1.1", "sourceIp": "", "userAgent": ""}});
    let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
    let mut request = HttpRequest::builder().method(Method::POST).uri("/orders");
    for key in keys {
        request = request.header("idempotency-key", HeaderValue::from_bytes(key.as_bytes()).unwrap());
    }
    request.body(Body::from(body)).unwrap().with_request_context(context)
}

#[track_caller]
fn post_as<T>(shop: Shop<T>, user: &str, keys: &[&str], body: &str) -> Answered {
    let request = request(user, keys, body);
    shop.when_called(async |api| api.handle(request).await.unwrap())
}

fn orders<T>(shop: &Shop<T>) -> (usize, usize) {
    (shop.kit().memory().items("orders").len(), shop.kit().memory().items("outbox").len())
}

/// What makes an answer: all of it.
fn parts(response: &Response<Body>) -> (u16, Value, String) {
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    (response.status().as_u16(), json_of(response), location)
}

#[test]
fn a_repeat_is_answered_as_the_first_was_and_writes_nothing() {
    let mut first = None;
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    let mut shop = shop.then_answer(|response| first = Some(parts(response)));
    // Without the quotes it is the same key, and with other white space the same order.
    for key in [KEY, KEY.trim_matches('"')] {
        let spaced = order().replace(',', " , ");
        shop = post_as(shop, "u", &[key], &spaced);
        shop = shop.then_answer(|response| assert_eq!(Some(parts(response)), first));
        assert_eq!(orders(&shop), (1, 1));
    }
}

#[test]
fn a_key_is_of_one_client_and_of_one_order() {
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    let other = order().replace("450", "451");
    let shop = then_status(post_as(shop, "u", &[KEY], &other), 422);
    assert_eq!(orders(&shop), (1, 1));
    let shop = then_status(post_as(shop, "somebody else", &[KEY], &other), 201);
    assert_eq!(orders(&shop), (2, 2));
    let shop = then_status(post_as(shop, "u", &["another-key"], &order()), 201);
    assert_eq!(orders(&shop), (3, 3));
}

#[test]
fn without_a_key_each_post_is_an_order() {
    let shop = then_status(post_as(keyed("optional"), "u", &[], &order()), 201);
    let shop = then_status(post_as(shop, "u", &[], &order()), 201);
    assert_eq!((orders(&shop), shop.kit().memory().items("inbox").len()), ((2, 2), 0));
}

#[test]
fn a_key_that_is_none_is_a_bad_request() {
    let long = "x".repeat(256);
    for bad in [&[""][..], &["\"\""], &["\"a"], &["a b"], &["a, b"], &["ü"], &[&*long], &[KEY, KEY]] {
        then_status(post_as(keyed("optional"), "u", bad, &order()), 400).then_nothing_written();
    }
}

#[test]
fn the_header_may_be_required_or_not_looked_at() {
    then_status(post_as(keyed("required"), "u", &[], &order()), 400).then_nothing_written();
    then_status(post_as(keyed("required"), "u", &[KEY], &order()), 201);
    let off = then_status(post_as(keyed("off"), "u", &["\"a"], &order()), 201);
    assert_eq!(off.kit().memory().items("inbox").len(), 0);
}

#[test]
fn failures_are_not_stored() {
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], "{}"), 422).then_nothing_written();
    let shop = then_status(post_as(shop.with_constant_fault(Fault::Throttled), "u", &[KEY], &order()), 503);
    let shop = shop.then_nothing_written().with_constant_fault(Fault::Pass);
    assert_eq!(orders(&then_status(post_as(shop, "u", &[KEY], &order()), 201)), (1, 1));
}

#[test]
fn conflicts_that_last_are_409_and_a_lost_answer_is_found_by_the_key() {
    use oncebox::store::CancelCode::{None as Clean, TransactionConflict as Conflict};

    let conflict = Fault::Cancelled(vec![Conflict, Clean, Clean]);
    let shop = post_as(keyed("optional").with_constant_fault(conflict), "u", &[KEY], &order());
    let shop = then_status(shop, 409).then_nothing_written();
    let shop = shop.then_answer(|response| assert_eq!(response.headers()["retry-after"], "1"));
    let unknown = shop.with_fault(Fault::LostAnswer).with_constant_fault(Fault::Unknown);
    let unknown = then_status(post_as(unknown, "u", &[KEY], &order()), 504);
    let unknown = unknown.then_answer(|response| {
        assert!(json_of(response)["detail"].as_str().unwrap().contains("same Idempotency-Key"));
    });
    assert_eq!(orders(&unknown), (1, 1));
    let again = then_status(post_as(unknown.with_constant_fault(Fault::Pass), "u", &[KEY], &order()), 201);
    assert_eq!(orders(&again), (1, 1));
}

#[test]
fn bad_settings_are_all_named() {
    let error = |name: &'static str, value: &'static str| {
        let reader = oncebox::config::Reader::new(move |asked| (asked == name).then(|| value.to_owned()));
        Config::read(reader).unwrap_err().to_string()
    };
    assert!(error("IDEMPOTENCY_KEY", "maybe").contains("none of off, optional and required"));
    assert!(error("IDEMPOTENCY_WINDOW_DAYS", "0").contains("IDEMPOTENCY_WINDOW_DAYS cannot be used"));
    assert!(error("X", "").contains("INBOX_TABLE is not set"));
    assert!(!error("IDEMPOTENCY_KEY", "off").contains("INBOX_TABLE"));
}
