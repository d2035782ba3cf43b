//! Consumers among bad messages, panics and crashes.

use std::time::Duration;

use aws_sdk_sqs::types::QueueAttributeName;
use oncebox::testing::{item, number, text};
use oncebox_tests::{Stack, wait_for};

use crate::orders::seed;

fn placed(id: u32) -> String {
    format!(
        r#"{{"specversion":"1.0","id":"01900000-0000-4000-8000-{id:012}","source":"/test","type":"OrderPlaced","subject":"o-{id}","aggregatetype":"Order","sequence":"1","data":{{"order_id":"o-{id}","account_id":"a-1","sku":"pen","quantity":1,"amount_cents":100}}}}"#
    )
}

async fn send(stack: &Stack, queue: &str, bodies: impl IntoIterator<Item = String>) {
    let url = stack.name(["queues", queue]);
    for body in bodies {
        stack.sqs.send_message().queue_url(url).message_body(body).send().await.unwrap();
    }
}

async fn waiting(stack: &Stack, group: &str, queue: &str) -> u32 {
    let attributes = stack.sqs.get_queue_attributes().queue_url(stack.name([group, queue]));
    let answer = attributes.attribute_names(QueueAttributeName::All).send().await.unwrap();
    let found = answer.attributes().and_then(|all| all.get(&QueueAttributeName::ApproximateNumberOfMessages));
    found.and_then(|count| count.parse().ok()).unwrap_or_default()
}

async fn postings(stack: &Stack) -> Option<String> {
    let account = stack.item("accounts", item([("account_id", text("a-1"))])).await?;
    account.get("entries").and_then(|entries| entries.as_n().ok()).cloned()
}

#[tokio::test]
async fn bad_messages_end_in_quarantine_with_a_reason_and_hold_nobody_up() {
    let stack = Stack::start(&["--parameter", "MaxReceiveCount=2"]).unwrap();
    seed(&stack).await;
    let bad = ["not json".to_owned(), "{}".to_owned(), placed(9).replace("a-1", "nobody")];
    send(&stack, "billing", [placed(1)].into_iter().chain(bad).chain([placed(2), placed(1)])).await;
    wait_for("the bad ones in quarantine", Duration::from_secs(90), || async {
        (stack.items("quarantine").await.len() == 3).then_some(())
    })
    .await
    .unwrap();
    wait_for("the good ones", Duration::from_secs(90), || async {
        (postings(&stack).await.as_deref() == Some("2")).then_some(())
    })
    .await
    .unwrap();
    let mut why: Vec<String> =
        stack.items("quarantine").await.iter().map(|case| case["detail"].as_s().unwrap().clone()).collect();
    why.sort();
    assert_eq!(
        why,
        [
            "the account does not exist",
            "the body has no \"specversion\"; a consumer never invents one",
            "the body is not a CloudEvents JSON object (line 1, column 2)",
        ]
    );
    assert_eq!(waiting(&stack, "dlqs", "billing").await, 0);
    assert_eq!(postings(&stack).await.as_deref(), Some("2"), "one event came twice");
    assert_eq!(stack.items("inbox").await.len(), 2);
}

#[tokio::test]
async fn a_panic_fails_one_record_and_a_crash_after_the_commit_applies_nothing_twice() {
    let faults = "billing:FAULTS=handler-panic:3:2,consumer-after-commit:4:2";
    let stack = Stack::start(&["--env", faults, "--env", "billing:FAULT_DIR={fault_dir}"]).unwrap();
    seed(&stack).await;
    send(&stack, "billing", (1..=20).map(placed)).await;
    wait_for("20 postings and an empty queue", Duration::from_secs(90), || async {
        (postings(&stack).await.as_deref() == Some("20")).then_some(())
    })
    .await
    .unwrap();
    let account = stack.item("accounts", item([("account_id", text("a-1"))])).await.unwrap();
    assert_eq!(account["balance_cents"], number(10_000 - 20 * 100));
    assert_eq!(stack.items("inbox").await.len(), 20);
}
