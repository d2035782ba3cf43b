//! From an order to its effects.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use oncebox::testing::{item, number, text};
use oncebox_tests::{Stack, http_event, wait_for};
use serde_json::{Value, json};

pub(crate) async fn seed(stack: &Stack) {
    let account =
        item([("account_id", text("a-1")), ("balance_cents", number(10_000)), ("entries", number(0))]);
    let stock = item([("sku", text("pen")), ("available", number(10)), ("entries", number(0))]);
    for (table, row) in [("accounts", account), ("stock", stock)] {
        let table = stack.name(["tables", table]);
        stack.dynamo.put_item().table_name(table).set_item(Some(row)).send().await.unwrap();
    }
}

pub(crate) fn order(sku: &str, quantity: u32) -> Value {
    json!({"account_id": "a-1", "sku": sku, "quantity": quantity, "amount_cents": 500})
}

pub(crate) async fn status(stack: &Stack, id: &str, expected: &str) -> Result<(), String> {
    wait_for(&format!("order {id} to be {expected}"), Duration::from_secs(60), || async {
        let found = stack.item("order_status", item([("order_id", text(id))])).await?;
        (found.get("status") == Some(&text(expected))).then_some(())
    })
    .await
}

pub(crate) async fn number_in(stack: &Stack, table: &str, key: (&str, &str), attribute: &str) -> i64 {
    let found = stack.item(table, item([(key.0, text(key.1))])).await.unwrap_or_default();
    found
        .get(attribute)
        .and_then(|value| AttributeValue::as_n(value).ok())
        .and_then(|n| n.parse().ok())
        .unwrap_or(-1)
}

#[tokio::test]
async fn an_order_is_charged_and_reserved_once_and_a_rejected_one_is_credited_back() {
    let stack = Stack::start(&[]).unwrap();
    seed(&stack).await;
    let (created, placed) = stack.post_order(&order("pen", 3)).await.unwrap();
    assert_eq!(created, 201, "{placed}");
    let reserved = placed["order_id"].as_str().unwrap();
    status(&stack, reserved, "RESERVED").await.unwrap();

    let (created, placed) = stack.post_order(&order("unicorn", 1)).await.unwrap();
    assert_eq!(created, 201, "{placed}");
    status(&stack, placed["order_id"].as_str().unwrap(), "REJECTED").await.unwrap();

    wait_for("three postings", Duration::from_secs(60), || async {
        (number_in(&stack, "accounts", ("account_id", "a-1"), "entries").await == 3).then_some(())
    })
    .await
    .unwrap();
    assert_eq!(number_in(&stack, "accounts", ("account_id", "a-1"), "balance_cents").await, 9_500);
    assert_eq!(number_in(&stack, "stock", ("sku", "pen"), "available").await, 7);
    wait_for("an empty outbox", Duration::from_secs(60), || async {
        stack.items("outbox").await.is_empty().then_some(())
    })
    .await
    .unwrap();

    let shown =
        stack.invoke("order-api", &http_event("GET", &format!("/orders/{reserved}"), "")).await.unwrap();
    let shown: Value = serde_json::from_str(shown["body"].as_str().unwrap()).unwrap();
    assert_eq!((&shown["status"], &shown["quantity"]), (&json!("RESERVED"), &json!(3)));
}

#[tokio::test]
async fn what_is_no_order_is_a_problem_and_writes_nothing() {
    let stack = Stack::start(&[]).unwrap();
    for (body, status, names) in [
        (json!({"account_id": "a", "sku": "s", "quantity": 0, "amount_cents": 1}), 422, "quantity"),
        (json!({"account_id": "a", "sku": "s", "quantity": 1}), 422, "amount_cents"),
        (json!([1]), 400, "JSON object"),
    ] {
        let (answered, problem) = stack.post_order(&body).await.unwrap();
        assert_eq!(answered, status, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(names), "{problem}");
    }
    for (method, path, status) in [
        ("GET", "/orders/none", 404),
        ("GET", "/", 404),
        ("DELETE", "/orders/1", 405),
        ("GET", "/orders", 405),
    ] {
        let answer = stack.invoke("order-api", &http_event(method, path, "")).await.unwrap();
        assert_eq!(answer["statusCode"], status, "{method} {path}");
        let headers = answer["headers"].to_string() + &answer["multiValueHeaders"].to_string();
        assert!(headers.contains("application/problem+json"), "{answer}");
    }
    assert!(stack.items("orders").await.is_empty() && stack.items("outbox").await.is_empty());
}

#[tokio::test]
async fn with_the_stream_off_the_sweepers_alone_bring_the_rest() {
    let stack = Stack::start(&["--parameter", "SweepGraceSeconds=0"]).unwrap();
    seed(&stack).await;
    let place = async || stack.post_order(&order("pen", 1)).await.unwrap();
    place().await;
    stack.switch_mappings("outbox-relay", false).await.unwrap();
    for _ in 0..4 {
        assert_eq!(place().await.0, 201);
    }
    let reserved = wait_for("5 reservations", Duration::from_secs(90), || async {
        let sweep = async || stack.invoke("outbox-sweeper", &json!({})).await.unwrap();
        tokio::join!(sweep(), sweep());
        (number_in(&stack, "stock", ("sku", "pen"), "entries").await == 5
            && stack.items("outbox").await.is_empty())
        .then_some(())
    });
    reserved.await.unwrap();
    // And the stream again, beside two sweepers.
    stack.switch_mappings("outbox-relay", true).await.unwrap();
    assert_eq!(place().await.0, 201);
    wait_for("6 reservations and 6 postings", Duration::from_secs(90), || async {
        let sweep = async || stack.invoke("outbox-sweeper", &json!({})).await.unwrap();
        tokio::join!(sweep(), sweep());
        let reserved = number_in(&stack, "stock", ("sku", "pen"), "entries").await;
        let posted = number_in(&stack, "accounts", ("account_id", "a-1"), "entries").await;
        ((reserved, posted) == (6, 6)).then_some(())
    })
    .await
    .unwrap();
    assert_eq!(number_in(&stack, "stock", ("sku", "pen"), "available").await, 4);
    assert_eq!(number_in(&stack, "accounts", ("account_id", "a-1"), "balance_cents").await, 7_000);
}
