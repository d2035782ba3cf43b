//! The floor of a consumer: a batch from SQS, one transaction of inbox key and balance for each message, failures answered
//! by message. Nothing else: no quarantine, no deadline, no retry delay, no logs, no guard against a panic, and a body that
//! cannot be read fails its message for ever. What oncebox costs above this is the price of those.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem, Update};
use futures::stream::{self, StreamExt};
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

/// As many as oncebox has in flight by default.
const CONCURRENCY: usize = 10;
const WINDOW: Duration = Duration::from_secs(90 * 86_400);

#[derive(Deserialize)]
struct Batch {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    message_id: String,
    body: String,
}

#[derive(Deserialize)]
struct Event {
    id: String,
    data: OrderPlaced,
}

#[derive(Deserialize)]
struct OrderPlaced {
    account_id: String,
    amount_cents: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    batch_item_failures: Vec<Failure>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    item_identifier: String,
}

struct App {
    client: Client,
    inbox: String,
    accounts: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let app = App {
        client: Client::new(&config),
        inbox: std::env::var("INBOX_TABLE")?,
        accounts: std::env::var("ACCOUNTS_TABLE")?,
    };
    let app = &app;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Batch>| app.handle(event.payload))).await
}

impl App {
    async fn handle(&self, batch: Batch) -> Result<Answer, Error> {
        let done = stream::iter(batch.records).map(|record| async move {
            match self.charge(&record.body).await {
                Ok(()) => None,
                Err(_) => Some(Failure { item_identifier: record.message_id }),
            }
        });
        let batch_item_failures =
            done.buffer_unordered(CONCURRENCY).filter_map(|failure| async { failure }).collect().await;
        Ok(Answer { batch_item_failures })
    }

    async fn charge(&self, body: &str) -> Result<(), Error> {
        let event: Event = serde_json::from_str(body)?;
        #[allow(clippy::disallowed_methods, reason = "the floor has no clock to inject")]
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let number = |number: i128| AttributeValue::N(number.to_string());
        let inbox = Put::builder()
            .table_name(&self.inbox)
            .item("pk", text(&event.id))
            .item("sk", text("billing"))
            .item("expires_at", number((now + WINDOW).as_secs().into()))
            .condition_expression("attribute_not_exists(pk)")
            .build()?;
        let balance = Update::builder()
            .table_name(&self.accounts)
            .key("account_id", text(&event.data.account_id))
            .update_expression("ADD balance_cents :delta, entries :one")
            .condition_expression("attribute_exists(account_id)")
            .expression_attribute_values(":delta", number((-event.data.amount_cents).into()))
            .expression_attribute_values(":one", number(1))
            .build()?;
        let sent = self
            .client
            .transact_write_items()
            .transact_items(TransactWriteItem::builder().put(inbox).build())
            .transact_items(TransactWriteItem::builder().update(balance).build())
            .send()
            .await;
        let Err(error) = sent else { return Ok(()) };
        let error = error.into_service_error();
        match &error {
            aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(
                cancelled,
            ) if cancelled.cancellation_reasons().first().and_then(|reason| reason.code())
                == Some("ConditionalCheckFailed") =>
            {
                Ok(())
            }
            _ => Err(error.into()),
        }
    }
}
