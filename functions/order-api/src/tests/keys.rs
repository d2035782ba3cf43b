//! The header `Idempotency-Key`.

use std::time::Duration;

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
    // A conflict about another item is not about this key.
    let elsewhere = Fault::Cancelled(vec![Clean, Conflict, Clean]);
    let shop = then_status(post_as(shop.with_constant_fault(elsewhere), "u", &[KEY], &order()), 503);
    let unknown = shop.with_fault(Fault::LostAnswer).with_constant_fault(Fault::Unknown);
    let unknown = then_status(post_as(unknown, "u", &[KEY], &order()), 504);
    let unknown = unknown.then_answer(|response| {
        assert!(json_of(response)["detail"].as_str().unwrap().contains("same Idempotency-Key"));
    });
    assert_eq!(orders(&unknown), (1, 1));
    let again = then_status(post_as(unknown.with_constant_fault(Fault::Pass), "u", &[KEY], &order()), 201);
    assert_eq!(orders(&again), (1, 1));
}

/// Every way in which the first post can end; after any of them, and once its row is published and gone and DynamoDB has
/// forgotten the token, the client's next post finds the one order that there is.
#[test]
fn after_any_end_of_the_first_post_the_next_one_makes_no_second_order() {
    for (fault, then) in [
        (Fault::LostAnswer, Fault::Unknown),
        (Fault::Unknown, Fault::Unknown),
        (Fault::LostAnswer, Fault::InProgress),
        (Fault::LostAnswer, Fault::Throttled),
        (Fault::LostAnswer, Fault::CancelledNoReasons),
        (Fault::Throttled, Fault::Throttled),
        (Fault::LostAnswer, Fault::Pass),
        (Fault::Pass, Fault::Pass),
    ] {
        let shop = keyed("optional").with_fault(fault.clone()).with_constant_fault(then.clone());
        let shop = post_as(shop, "u", &[KEY], &order());
        let shop = shop.with_constant_fault(Fault::Pass);
        let (before, store) = (orders(&shop).0, shop.kit().store());
        let rows = shop.kit().memory().items("outbox").into_iter();
        let keys = rows.map(|row| item([("pk", row["pk"].clone()), ("sk", row["sk"].clone())])).collect();
        let shop =
            shop.when_called(async |_| before == 0 || store.delete_batch("outbox", keys).await.is_ok());
        let shop = post_as(shop.later(Duration::from_secs(11 * 60)), "u", &[KEY], &order());
        let shop = then_status(shop, 201);
        assert_eq!(orders(&shop), (1, 1 - before), "{fault:?}, then {then:?}");
        let id = shop.kit().memory().items("orders")[0]["order_id"].clone();
        drop(
            shop.then_answer(|response| {
                assert_eq!(text(json_of(response)["order_id"].as_str().unwrap()), id)
            }),
        );
    }
}

#[test]
fn a_post_that_is_dropped_in_the_middle_leaves_all_or_nothing() {
    for fault in [Fault::LostAnswer, Fault::Unknown] {
        // The process ends while the answer is waited for.
        let shop = keyed("optional").with_fault(fault).with_constant_fault(Fault::Unknown);
        let shop = shop.when_called(async |api| {
            let first = api.handle(request("u", &[KEY], &order()));
            tokio::time::timeout(Duration::from_millis(1), first).await.is_err()
        });
        let shop = shop.then_answer(|cut| assert!(cut)).with_constant_fault(Fault::Pass);
        let (written, rows) = orders(&shop);
        assert_eq!((written, rows, shop.kit().memory().items("inbox").len()), (written, written, written));
        assert_eq!(orders(&then_status(post_as(shop, "u", &[KEY], &order()), 201)), (1, 1));
    }
}

/// A deployment between two posts may change what is answered. The client has been told what it has been told.
#[test]
fn a_repeat_is_answered_with_the_bytes_that_were_stored() {
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    let mut row = shop.kit().memory().items("inbox").pop().unwrap();
    let older = r#"{ "order_id":"o-7", "links":[] }"#;
    row.insert("response".to_owned(), text(older));
    shop.kit().memory().put_item("inbox", row).unwrap();
    let shop = then_status(post_as(shop, "u", &[KEY], &order()), 201);
    drop(shop.then_answer(|response| {
        assert_eq!(&**response.body(), older.as_bytes());
        assert_eq!(response.headers()["location"], "/orders/o-7");
    }));
}

/// What stored keys are compared by. Another hash would make every client that repeats over a deployment get 422.
#[test]
fn the_hash_of_an_order_stays() {
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    let row = shop.kit().memory().items("inbox").pop().unwrap();
    assert_eq!(row["body_hash"], text("70f9e5004ced93a05a959a58ba314003e62b638f54b6733af5e21e2058727ee8"));
    assert_eq!(row["pk"], text(format!("iam:u#{}", KEY.trim_matches('"'))));
    let expires_at = row["expires_at"].as_n().unwrap().parse::<i64>().unwrap();
    let processed_at = row["processed_at"].as_n().unwrap().parse::<i64>().unwrap();
    assert_eq!(expires_at - processed_at / 1000, 30 * 86_400);
}

/// Whatever stands in the way: it is not the client's fault.
#[test]
fn a_key_whose_row_cannot_be_read_is_not_called_used_for_another_order() {
    use oncebox::store::CancelCode::{ConditionalCheckFailed as Failed, None as Clean};

    let shop = keyed("optional").with_fault(Fault::Cancelled(vec![Failed, Clean, Clean]));
    let shop = then_status(post_as(shop, "u", &[KEY], &order()), 500).then_nothing_written();
    let shop = then_status(post_as(shop, "u", &[KEY], &order()), 201);
    for lost in ["response", "body_hash"] {
        let mut row = shop.kit().memory().items("inbox").pop().unwrap();
        row.remove(lost);
        let row = oncebox::store::CancelReason { code: Failed, item: Some(row) };
        let reasons =
            [row].into_iter().chain([Clean, Clean].map(oncebox::store::CancelReason::new)).collect();
        let shop = keyed("optional").with_fault(Fault::CancelledWith(reasons));
        then_status(post_as(shop, "u", &[KEY], &order()), 500).then_nothing_written();
    }
}

/// The same order, in whatever way it is written.
#[test]
fn an_order_is_compared_by_what_it_says() {
    let mut shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    for same in [
        r#"{"amount_cents":450,"quantity":3,"sku":"pen","account_id":"a-1"}"#,
        r#"{"account_id":"\u0061-1","sku":"pen","quantity":3,"amount_cents":450}"#,
    ] {
        shop = then_status(post_as(shop, "u", &[KEY], same), 201);
        assert_eq!(orders(&shop), (1, 1));
    }
    for other in [("a-1", "a-1 "), ("a-1", "A-1"), (":3", ":4"), ("pen", "pe\u{301}n")] {
        shop = then_status(post_as(shop, "u", &[KEY], &order().replace(other.0, other.1)), 422);
        assert_eq!(orders(&shop), (1, 1));
    }
}

/// A Lambda authorizer without a principal lets its callers in and does not tell them apart.
#[test]
fn a_caller_without_a_name_is_refused_and_nothing_is_written() {
    for (method, path) in [(Method::POST, "/orders"), (Method::GET, "/orders/o-1")] {
        let context = json!({"routeKey": "POST /orders", "timeEpoch": 0, "authorizer": {"lambda": {"tenant": "t"}},
            "http": {"method": "POST", "path": "/orders", "protocol": "HTTP/1.1", "sourceIp": "", "userAgent": ""}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let request = HttpRequest::builder().method(method).uri(path).header("idempotency-key", KEY);
        let request = request.body(Body::from(order())).unwrap().with_request_context(context);
        let shop = keyed("optional").when_called(async |api| api.handle(request).await.unwrap());
        then_status(shop, 500).then_nothing_written();
    }
}

#[test]
fn an_order_is_shown_to_the_client_that_placed_it() {
    let mut id = String::new();
    let shop = then_status(post_as(keyed("optional"), "u", &[KEY], &order()), 201);
    let mut shop = shop.then_answer(|response| {
        id = json_of(response)["order_id"].as_str().unwrap().to_owned();
    });
    for (user, status) in [("u", 200), ("somebody else", 404), ("u", 200)] {
        let mut show = request(user, &[], "");
        *show.method_mut() = Method::GET;
        *show.uri_mut() = format!("/orders/{id}").parse().unwrap();
        shop = then_status(shop.when_called(async |api| api.handle(show).await.unwrap()), status);
    }
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
