//! Published rows that are kept, and what comes of publishing them again.

use std::sync::Arc;
use std::time::Duration;

use oncebox::outbox::Destination;
use oncebox::relay::{Outgoing, Replay, Selection};
use oncebox::store::DynamoStore;
use oncebox::testing::MemoryPublisher;
use oncebox::time::{Clock, Deadline, SystemClock};
use oncebox_tests::{Stack, wait_for};
use serde_json::json;

use crate::orders::{number_in, order, seed};

/// What is replayed goes to billing, as a queue would bring it.
fn as_delivered(sent: &[(Destination, Outgoing)]) -> serde_json::Value {
    let records = sent.iter().enumerate().map(|(n, (_, entry))| {
        json!({"messageId": format!("m-{n}"), "receiptHandle": "r", "body": entry.body, "messageAttributes": {},
            "attributes": {"ApproximateReceiveCount": "1"}, "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:billing", "awsRegion": "eu-central-1"})
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}

#[tokio::test]
async fn kept_rows_are_swept_by_their_index_expire_later_and_are_replayed_without_a_second_effect() {
    let stack =
        Stack::start(&["--parameter", "OutboxKeepDays=7", "--parameter", "SweepGraceSeconds=0"]).unwrap();
    seed(&stack).await;
    stack.switch_mappings("outbox-relay", false).await.unwrap();
    for _ in 0..3 {
        assert_eq!(stack.post_order(&order("pen", 1)).await.unwrap().0, 201);
    }
    wait_for(
        "3 orders and 3 reservations, published by sweeps of the index",
        Duration::from_secs(120),
        || async {
            stack.invoke("outbox-sweeper", &json!({})).await.unwrap();
            let rows = stack.items("outbox").await;
            let published = rows.iter().filter(|row| row.contains_key("published_at")).count();
            let posted = number_in(&stack, "accounts", ("account_id", "a-1"), "entries").await;
            ((rows.len(), published, posted) == (6, 6, 3)).then_some(())
        },
    )
    .await
    .unwrap();
    for row in stack.items("outbox").await {
        let seconds = |name: &str| row[name].as_n().unwrap().parse::<i64>().unwrap();
        assert_eq!(seconds("expires_at") - seconds("published_at") / 1000, 7 * 86_400);
        assert!(!row.contains_key("pending"));
    }

    let store = Arc::new(DynamoStore::new(stack.dynamo.clone()));
    let publisher = MemoryPublisher::default();
    let routes = r#"{"Order": ["https://billing"]}"#.parse().unwrap();
    let replay = Replay::new(store, Arc::new(publisher.clone()), stack.name(["tables", "outbox"]), routes);
    let deadline = Deadline::after(SystemClock.now(), Duration::from_secs(60));
    let placed = Selection::all().event_type("OrderPlaced");
    assert_eq!(replay.rows(&placed, None, deadline).await.unwrap().published, 3);
    let answer = stack.invoke("billing", &as_delivered(&publisher.accepted())).await.unwrap();
    assert_eq!(answer["batchItemFailures"], json!([]), "{answer}");
    assert_eq!(number_in(&stack, "accounts", ("account_id", "a-1"), "entries").await, 3, "duplicates");
}

/// C47: a chained consumer commits and dies before its answer, and every later delivery fails. Its rows go out all the same.
#[tokio::test]
async fn c47_what_a_chained_consumer_has_committed_goes_out_whatever_becomes_of_its_message() {
    let stack = Stack::start(&[]).unwrap();
    seed(&stack).await;
    // Its queue brings it nothing: the one delivery is made by hand, and its answer is thrown away.
    stack.switch_mappings("inventory", false).await.unwrap();
    let (created, placed) = stack.post_order(&order("pen", 2)).await.unwrap();
    assert_eq!(created, 201, "{placed}");
    let id = placed["order_id"].as_str().unwrap();
    let queue = stack.name(["queues", "inventory"]);
    let body = wait_for("the order on inventory's queue", Duration::from_secs(60), || async {
        let got = stack.sqs.receive_message().queue_url(queue).visibility_timeout(0).send().await.ok()?;
        got.messages?.first()?.body.clone()
    })
    .await
    .unwrap();
    let delivery = json!({"Records": [{"messageId": "m-1", "receiptHandle": "r", "body": body, "messageAttributes": {},
        "attributes": {"ApproximateReceiveCount": "1"}, "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:inventory", "awsRegion": "eu-central-1"}]});
    stack.invoke("inventory", &delivery).await.unwrap();
    crate::orders::status(&stack, id, "RESERVED").await.unwrap();
    assert_eq!(number_in(&stack, "stock", ("sku", "pen"), "available").await, 8);
    let still = stack.sqs.receive_message().queue_url(queue).visibility_timeout(0).send().await.unwrap();
    assert!(!still.messages().is_empty(), "the message was never acknowledged");
}
