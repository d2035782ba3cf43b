//! The projection of an order, which applies its events in order: what becomes of a gap.

use std::time::Duration;

use oncebox::testing::{item, number, text};
use oncebox_tests::{Stack, wait_for};
use serde_json::json;

fn event(order: &str, sequence: u32) -> String {
    let event_type = if sequence == 1 { "OrderPlaced" } else { "StockReserved" };
    let line =
        json!({"order_id": order, "account_id": "a-1", "sku": "pen", "quantity": 1, "amount_cents": 100});
    let envelope = json!({
        "specversion": "1.0",
        "id": format!("{order}-{sequence}"),
        "source": "/test",
        "type": event_type,
        "subject": order,
        "aggregatetype": "Order",
        "sequence": sequence.to_string(),
        "data": line,
    });
    envelope.to_string()
}

/// As an operator does: into the group of the order, under a deduplication id that the queue has not seen.
async fn send(stack: &Stack, order: &str, sequence: u32, dedup: &str) {
    let url = stack.name(["queues", "order-projection"]);
    assert!(url.ends_with(".fifo"), "{url}");
    let message = stack.sqs.send_message().queue_url(url).message_body(event(order, sequence));
    let message = message.message_group_id(format!("Order#{order}")).message_deduplication_id(dedup);
    message.send().await.unwrap();
}

async fn status(stack: &Stack, order: &str, expected: (&str, u32)) {
    wait_for(&format!("order {order} to be {expected:?}"), Duration::from_secs(90), || async {
        let found = stack.item("order_status", item([("order_id", text(order))])).await?;
        let shown = (found.get("status")?, found.get("version")?);
        (shown == (&text(expected.0), &number(expected.1))).then_some(())
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn an_event_without_its_predecessor_waits_is_quarantined_and_can_be_sent_again() {
    let stack = Stack::start(&["--parameter", "MaxReceiveCount=2"]).unwrap();
    send(&stack, "gap", 2, "first").await;
    send(&stack, "whole", 1, "first-1").await;
    send(&stack, "whole", 2, "first-2").await;
    status(&stack, "whole", ("RESERVED", 2)).await;
    let case = wait_for("the event behind the gap in quarantine", Duration::from_secs(90), || async {
        stack.items("quarantine").await.into_iter().next()
    });
    let case = case.await.unwrap();
    assert_eq!((&case["reason"], &case["attempts"]), (&text("exhausted"), &number(2)));
    let detail = case["detail"].as_s().unwrap();
    assert!(detail.contains("expected 1, found 2"), "{detail}");
    assert!(stack.item("order_status", item([("order_id", text("gap"))])).await.is_none());
    for sequence in [1, 2] {
        send(&stack, "gap", sequence, &format!("again-{sequence}")).await;
    }
    status(&stack, "gap", ("RESERVED", 2)).await;
    assert_eq!(stack.items("quarantine").await.len(), 1);
}
