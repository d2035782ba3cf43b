//! Many posts with one `Idempotency-Key`, at once.

use std::time::Duration;

use oncebox::testing::{number, text};
use oncebox_tests::{Stack, http_event, wait_for};
use serde_json::{Value, json};

use crate::orders::{number_in, order, seed};

const POSTS: usize = 50;

/// Tries again what is answered 409, as a client does.
async fn settled(stack: &Stack, event: &Value) -> Value {
    for _ in 0..20 {
        let answer = stack.invoke("order-api", event).await.unwrap();
        if answer["statusCode"] != 409 {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("409 twenty times");
}

#[tokio::test]
async fn of_two_orders_with_one_key_at_once_one_is_placed_and_the_other_is_refused() {
    let stack = Stack::start(&[]).unwrap();
    seed(&stack).await;
    let user = "arn:aws:iam::1:user/shop";
    let mut events = [post("\"k-1\"", user), post("\"k-1\"", user)];
    events[1]["body"] = json!(order("pen", 2).to_string());
    let posts = (0..20).map(|number| settled(&stack, &events[number % 2]));
    let answers = futures::future::join_all(posts).await;
    let placed = usize::from(answers[0]["statusCode"] != 201);
    for (number, answer) in answers.iter().enumerate() {
        let expected = if number % 2 == placed { 201 } else { 422 };
        assert_eq!(answer["statusCode"], expected, "{answer}");
        if expected == 201 {
            assert_eq!(answer["body"], answers[placed]["body"]);
        }
    }
    let orders = stack.items("orders").await;
    let quantity = number(i64::try_from(placed).unwrap() + 1);
    assert_eq!((orders.len(), &orders[0]["quantity"]), (1, &quantity));
    assert_eq!(orders[0]["placed_by"], text("iam:arn:aws:iam::1:user/shop"));

    // It is shown to nobody else.
    for (user, status) in [("shop", 200), ("other", 404)] {
        let mut show = http_event("GET", answers[placed]["headers"]["location"].as_str().unwrap(), "");
        show["requestContext"]["authorizer"] =
            json!({ "iam": { "userArn": format!("arn:aws:iam::1:user/{user}") } });
        assert_eq!(stack.invoke("order-api", &show).await.unwrap()["statusCode"], status, "{user}");
    }
}

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
    let answers = futures::future::join_all((0..POSTS).map(|_| settled(&stack, &event))).await;
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
