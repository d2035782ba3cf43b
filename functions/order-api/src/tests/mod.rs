//! What a client is answered, and what is written then.

mod keys;

use lambda_http::http::{Method, Request as HttpRequest, StatusCode};
use lambda_http::{Body, Request, Response};
use oncebox::testing::kit::{Called, Given, Kit, Scenario};
use oncebox::testing::{Fault, GetFault, item, number, text};
use order_events::OrderPlaced;
use serde_json::{Value, json};

use crate::{Api, Config};

type Shop<T = ()> = Scenario<Called<Api, T>>;
type Answered = Shop<Response<Body>>;

fn shop() -> Shop {
    settings(Given::new()).producer(api)
}

fn settings(given: Given) -> Given {
    given
        .setting("ORDERS_TABLE", "orders")
        .setting("ORDER_STATUS_TABLE", "order_status")
        .setting("EVENT_SOURCE", "/shop/order-api")
        .setting("ROUTES", r#"{"Order": ["arn:aws:sns:eu-central-1:000000000000:orders"]}"#)
        .table("orders", "order_id")
        .table("order_status", "order_id")
}

fn api(kit: &Kit) -> Api {
    Api::new(Config::read(kit.settings()).unwrap(), kit.store()).with_time(kit.clock(), kit.ids())
}

#[track_caller]
fn send<T>(shop: Shop<T>, method: Method, path: &str, body: &str) -> Answered {
    let request: Request = HttpRequest::builder().method(method).uri(path).body(body.into()).unwrap();
    shop.when_called(async |api| api.handle(request).await.unwrap())
}

#[track_caller]
fn post<T>(shop: Shop<T>, body: &str) -> Answered {
    send(shop, Method::POST, "/orders", body)
}

fn order() -> String {
    json!({"account_id": "a-1", "sku": "pen", "quantity": 3, "amount_cents": 450}).to_string()
}

fn json_of(response: &Response<Body>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

#[track_caller]
fn then_status(shop: Answered, status: u16) -> Answered {
    shop.then_answer(|response| {
        assert_eq!(response.status().as_u16(), status, "{:?}", response.body());
        if !response.status().is_success() {
            assert_eq!(response.headers()["content-type"], "application/problem+json");
            assert_eq!(json_of(response)["status"], status);
        }
    })
}

#[test]
fn an_order_and_its_event_are_written_together() {
    let placed = then_status(post(shop(), &order()), 201);
    let mut id = String::new();
    let placed = placed.then_answer(|response| {
        id = json_of(response)["order_id"].as_str().unwrap().to_owned();
        assert_eq!(response.headers()["location"], format!("/orders/{id}"));
    });
    let expected = (text("a-1"), text("pen"), number(3), number(450));
    let placed = placed
        .then_item("orders", &id, |order| {
            let stored = |name: &str| order[name].clone();
            let found = (stored("account_id"), stored("sku"), stored("quantity"), stored("amount_cents"));
            assert_eq!(found, expected);
            assert_eq!(order["version"], number(1));
        })
        .then_emitted(|event: &OrderPlaced, envelope| {
            assert_eq!((&event.line.order_id, event.line.amount_cents), (&id, 450));
            assert_eq!((envelope.sequence, envelope.source.as_str()), (Some(1), "/shop/order-api"));
        });
    let calls = placed.kit().script().calls();
    assert_eq!((calls.len(), calls[0].items), (1, 2), "one transaction of the order and its row");
}

#[test]
fn an_event_is_in_its_request_s_trace() {
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = HttpRequest::builder().method(Method::POST).uri("/orders").header("traceparent", caller);
    let request: Request = request.header("x-correlation-id", "cart-7").body(order().into()).unwrap();
    let placed = shop().when_called(async |api| api.handle(request).await.unwrap());
    drop(placed.then_emitted(|_: &OrderPlaced, envelope| {
        let traceparent = envelope.cause.traceparent.as_deref().unwrap();
        assert!(traceparent.starts_with(&caller[..36]) && traceparent != caller, "{traceparent}");
        assert_eq!(envelope.cause.correlation_id.as_deref(), Some("cart-7"));
    }));
}

#[test]
fn what_is_wrong_with_a_request_is_said_and_nothing_is_written() {
    let large = format!(r#"{{"account_id":"{}"}}"#, "x".repeat(17 * 1024));
    let body = order();
    for (method, path, body, status) in [
        (Method::POST, "/orders", "", 400),
        (Method::POST, "/orders", "[]", 400),
        (Method::GET, "/", "", 404),
        (Method::POST, "/nothing/here", &*body, 404),
        (Method::GET, "/orders/none", "", 404),
        (Method::PUT, "/orders", &*body, 405),
        (Method::DELETE, "/orders/o-1", "", 405),
        (Method::POST, "/orders", &*large, 413),
        (Method::POST, "/orders", r#"{"quantity":0}"#, 422),
    ] {
        then_status(send(shop(), method, path, body), status).then_nothing_written();
    }
}

#[test]
fn the_allowed_method_is_named() {
    let refused = send(shop(), Method::PUT, "/orders", "");
    drop(refused.then_answer(|response| assert_eq!(response.headers()["allow"], "POST")));
}

#[test]
fn every_wrong_field_is_named() {
    post(shop(), r#"{"account_id":"a","sku":"","quantity":1,"amount_cents":1,"colour":"red"}"#).then_answer(
        |response| {
            let errors = json_of(response)["errors"].clone();
            let fields: Vec<&str> =
                errors.as_array().unwrap().iter().filter_map(|error| error["field"].as_str()).collect();
            assert_eq!(fields, ["sku", "colour"]);
        },
    );
}

#[test]
fn a_field_that_is_there_twice_is_not_guessed_at() {
    let twice = r#"{"account_id":"a-1","sku":"pen","quantity":3,"amount_cents":1,"amount_cents":450}"#;
    let refused = then_status(post(shop(), twice), 422).then_nothing_written();
    drop(refused.then_answer(|response| {
        assert_eq!(
            json_of(response)["errors"],
            json!([{"field": "amount_cents", "detail": "is there twice"}])
        );
    }));
}

#[test]
fn a_character_that_no_queue_takes_is_the_client_s_to_mend() {
    for odd in ["\u{fffe}", "\u{ffff}", "\u{7f}", "\u{85}"] {
        let body = order().replace("a-1", odd);
        let refused = then_status(post(shop(), &body), 422).then_nothing_written();
        drop(
            refused.then_answer(|response| assert_eq!(json_of(response)["errors"][0]["field"], "account_id")),
        );
    }
    for fine in ["\u{301}", "\u{fffd}", "\u{1f4a9}", "\u{10ffff}", "\u{2028}"] {
        then_status(post(shop(), &order().replace("a-1", fine)), 201);
    }
}

#[test]
fn the_largest_order_is_taken_and_no_larger_one() {
    let body = |quantity: u64, cents: u64| {
        json!({"account_id": "a".repeat(128), "sku": "s", "quantity": quantity, "amount_cents": cents})
            .to_string()
    };
    then_status(post(shop(), &body(1_000_000, 1_000_000_000_000)), 201);
    then_status(post(shop(), &body(1_000_001, 1)), 422);
    then_status(post(shop(), &body(1, 1_000_000_000_001)), 422);
    then_status(post(shop(), &body(1, 1).replace(r#":1,"#, ":1.0,")), 422);
    then_status(post(shop(), &body(1, 1).replace(&"a".repeat(128), &"é".repeat(65))), 422);
}

#[test]
fn an_id_that_no_order_has_is_not_looked_for() {
    // DynamoDB refuses a key of more than 2048 bytes, and the client would be told to try again for ever.
    let path = format!("/orders/{}", "x".repeat(3_000));
    let none = then_status(send(shop(), Method::GET, &path, ""), 404);
    assert!(none.kit().script().calls().is_empty());
}

#[test]
fn a_busy_table_means_try_again() {
    let busy = post(shop().with_constant_fault(Fault::Throttled), &order());
    let busy = then_status(busy, 503).then_nothing_written();
    let busy = busy.then_answer(|response| assert_eq!(response.headers()["retry-after"], "1"));
    then_status(post(busy.with_constant_fault(Fault::Pass), &order()), 201);
}

#[test]
fn a_lost_answer_is_found_out() {
    let placed = then_status(post(shop().with_fault(Fault::LostAnswer), &order()), 201);
    assert_eq!(placed.kit().memory().items("orders").len(), 1);
    assert_eq!(placed.kit().memory().items("outbox").len(), 1);
}

#[test]
fn an_unknown_outcome_is_not_called_a_failure() {
    let unknown = shop().with_fault(Fault::LostAnswer).with_constant_fault(Fault::Unknown);
    let unknown = then_status(post(unknown, &order()), 504);
    drop(unknown.then_answer(|response| {
        assert!(json_of(response)["detail"].as_str().unwrap().contains("not known whether"));
        assert!(!response.headers().contains_key("retry-after"), "a retry would be a second order");
    }));
}

#[test]
fn an_order_is_shown_with_what_is_known_of_it() {
    let row = [("order_id", text("o-1")), ("account_id", text("a-1")), ("sku", text("pen"))];
    let placed_by = ("placed_by", text("anybody"));
    let order = item([row[0].clone(), row[1].clone(), row[2].clone(), ("quantity", number(3)), placed_by]);
    let shop = shop();
    shop.kit().memory().put_item("orders", order).unwrap();
    let shown = then_status(send(shop, Method::GET, "/orders/o-1", ""), 200);
    let shown = shown.then_answer(|response| assert_eq!(json_of(response)["status"], Value::Null));
    let status = item([("order_id", text("o-1")), ("status", text("RESERVED"))]);
    shown.kit().memory().put_item("order_status", status).unwrap();
    let shown = then_status(send(shown, Method::GET, "/orders/o-1", ""), 200);
    let shown = shown.then_answer(|response| assert_eq!(json_of(response)["status"], "RESERVED"));
    let busy = send(shown.with_get_fault(GetFault::TimedOut), Method::GET, "/orders/o-1", "");
    then_status(busy, StatusCode::SERVICE_UNAVAILABLE.as_u16());
}
