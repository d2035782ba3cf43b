//! Many posts with one `Idempotency-Key`, at once.

use std::time::Duration;

use oncebox::testing::text;
use oncebox_tests::{Stack, http_event, wait_for};
use serde_json::{Value, json};

use crate::orders::{number_in, order, seed};

const POSTS: usize = 50;

fn post(key: &str, user: &str) -> Value {
    let mut event = http_event("POST", "/orders", &order("pen", 1).to_string());
    event["headers"]["idempotency-key"] = json!(key);
    event["requestContext"]["authorizer"] = json!({ "iam": { "userArn": user } });
    event
}

#[tokio::test]
async fn fifty_posts_with_one_key_at_once_are_one_order_and_fifty_equal_answers() {
    let stack = Stack::start(&[]).unwrap();
    seed(&stack).await;
    let event = post("\"k-1\"", "arn:aws:iam::1:user/shop");
    // A conflict that outlasts the retries is answered 409, and succeeds when the client tries again.
    let one = async |_: usize| {
        for _ in 0..20 {
            let answer = stack.invoke("order-api", &event).await.unwrap();
            if answer["statusCode"] != 409 {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("409 twenty times");
    };
    let answers = futures::future::join_all((0..POSTS).map(one)).await;
    for answer in &answers {
        assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(201), &answers[0]["body"]), "{answer}");
        assert_eq!(answer["headers"], answers[0]["headers"]);
    }
    assert_eq!(stack.items("orders").await.len(), 1);
    let keys = stack.items("inbox").await;
    assert_eq!(keys.iter().filter(|key| key["sk"] == text("order-api")).count(), 1);

    // Somebody else's equal key is another key, and does not show the first one's answer.
    let other = stack.invoke("order-api", &post("\"k-1\"", "arn:aws:iam::2:user/shop")).await.unwrap();
    assert_eq!(other["statusCode"], 201);
    assert_ne!(other["body"], answers[0]["body"]);
    wait_for("two postings, of two orders and events", Duration::from_secs(60), || async {
        (number_in(&stack, "accounts", ("account_id", "a-1"), "entries").await == 2).then_some(())
    })
    .await
    .unwrap();
}
