use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{AttributeValue, Put};
use lambda_http::Request;
use lambda_http::http::StatusCode;
use oncebox::event::Emit;
use oncebox::inbox::{IdempotencyKey, Repeat, RequestKey};
use oncebox::outbox::{CommitError, Outbox, Transaction};
use oncebox::store::{Item, Store, StoreError};
use oncebox::telemetry::chain;
use oncebox::time::{Clock, Ids, RandomIds, SystemClock};
use order_events::{OrderLine, OrderPlaced};
use serde::{Deserialize, Serialize};

use crate::Config;
use crate::domain::NewOrder;
use crate::problem::Problem;
use crate::trace::Origin;

/// The consumer's name of the keys of requests in the inbox.
const API: &str = "order-api";
/// The attribute with the client's name.
const PLACED_BY: &str = "placed_by";
/// Bytes of an order's id: a UUID has 36. DynamoDB refuses to look for one of more than 2048.
const MAX_ID: usize = 64;

/// Orders in DynamoDB.
#[derive(Debug)]
pub(crate) struct Orders {
    config: Config,
    store: Arc<dyn Store>,
    outbox: Outbox,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

/// What a client is answered who has placed an order.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) order_id: String,
    /// The body, which a repeat is answered with to the byte.
    pub(crate) answer: String,
}

/// The body. It is stored, so that fields may be added, and `order_id` has to stay.
#[derive(Serialize, Deserialize)]
struct Answer {
    order_id: String,
}

impl Placed {
    fn new(order_id: String) -> Result<Self, Problem> {
        let answer = Answer { order_id };
        let text = serde_json::to_string(&answer).map_err(|_| Problem::internal())?;
        Ok(Self { order_id: answer.order_id, answer: text })
    }

    fn stored(answer: String) -> Result<Self, Problem> {
        let Answer { order_id } =
            serde_json::from_str(&answer).map_err(|error| Problem::internal().because(chain(&error)))?;
        Ok(Self { order_id, answer })
    }
}

/// An order as the API shows it.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    order_id: String,
    account_id: String,
    sku: String,
    quantity: u64,
    amount_cents: u64,
    /// `null` until the projection has seen the order.
    status: Option<String>,
}

impl Orders {
    pub(crate) fn new(config: Config, store: Arc<dyn Store>) -> Self {
        let outbox =
            Outbox::new(Arc::clone(&store), config.outbox_table.as_str(), config.event_source.as_str())
                .routes(config.routes.clone());
        Self { config, store, outbox, clock: Arc::new(SystemClock), ids: Arc::new(RandomIds) }
    }

    pub(crate) fn with_time(self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        let outbox = self.outbox.with_time(Arc::clone(&clock), Arc::clone(&ids));
        Self { outbox, clock, ids, ..self }
    }

    /// Where a request comes from.
    pub(crate) fn origin(&self, request: &Request) -> Origin {
        Origin::of(request, self.clock.as_ref(), self.ids.as_ref())
    }

    /// Writes the order and its event, and answers what the client is answered. With a key, the same order of the same
    /// client is written once, and answered alike each time.
    pub(crate) async fn place(
        &self,
        order: NewOrder,
        client: String,
        key: Option<IdempotencyKey>,
        origin: &Origin,
    ) -> Result<Placed, Problem> {
        let now = self.clock.now();
        let placed = Placed::new(self.ids.fresh(now).to_string())?;
        let id = placed.order_id.clone();
        let key = key.map(|key| self.key(&client, &key, &order, &placed)).transpose()?;
        let line = OrderLine {
            order_id: id.clone(),
            account_id: order.account_id,
            sku: order.sku,
            quantity: order.quantity,
            amount_cents: order.amount_cents,
        };
        let built = |error: BuildError| Problem::internal().because(chain(&error));
        let order = self.put(&line, client, now.as_millisecond()).map_err(built)?;
        let event = Emit::new(&OrderPlaced { line }).sequence(1).cause(origin.cause(&id));
        // The key stands first, where `repeat` looks for it.
        let transaction = match &key {
            Some(key) => Transaction::new().put(key.put(now).map_err(built)?),
            None => Transaction::new(),
        };
        let Err(error) = self.outbox.commit(transaction.put(order).emit(event)).await else {
            return Ok(placed);
        };
        match key.as_ref().and_then(|key| key.repeat(&error, 0)) {
            Some(Repeat::Same { response }) => {
                tracing::info!("a repeated request, answered as before");
                Placed::stored(response)
            }
            Some(Repeat::Other) => {
                let detail = "The Idempotency-Key was used for another order";
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
            }
            Some(Repeat::Concurrent) => Err(Problem::concurrent(chain(&error))),
            Some(_) => Err(Problem::internal().because("the row of the key cannot be read".to_owned())),
            None => Err(of_commit(&error, key.is_some())),
        }
    }

    fn key(
        &self,
        client: &str,
        key: &IdempotencyKey,
        order: &NewOrder,
        placed: &Placed,
    ) -> Result<RequestKey, Problem> {
        let request = serde_json::to_string(order).map_err(|_| Problem::internal())?;
        let response = placed.answer.as_str();
        let (table, window) = (self.config.inbox_table.as_str(), self.config.idempotency_window.into());
        RequestKey::new(table, API, client, key, &request, response, window)
            .map_err(|error| Problem::internal().because(chain(&error)))
    }

    /// The order, if `client` has placed it; another client's is as if it were not there.
    pub(crate) async fn find(&self, id: &str, client: &str) -> Result<Option<Shown>, Problem> {
        if id.len() > MAX_ID {
            return Ok(None);
        }
        let key = || Item::from([("order_id".to_owned(), AttributeValue::S(id.to_owned()))]);
        let busy = |error: StoreError| Problem::busy(chain(&error));
        let Some(order) = self.store.get(&self.config.orders_table, key()).await.map_err(busy)? else {
            return Ok(None);
        };
        if text(&order, PLACED_BY) != client {
            return Ok(None);
        }
        let status = self.store.get(&self.config.order_status_table, key()).await.map_err(busy)?;
        Ok(Some(Shown {
            order_id: text(&order, "order_id"),
            account_id: text(&order, "account_id"),
            sku: text(&order, "sku"),
            quantity: number(&order, "quantity"),
            amount_cents: number(&order, "amount_cents"),
            status: status.map(|status| text(&status, "status")),
        }))
    }

    fn put(&self, line: &OrderLine, client: String, created_at: i64) -> Result<Put, BuildError> {
        let text = |value: &str| AttributeValue::S(value.to_owned());
        let number = |value: &dyn ToString| AttributeValue::N(value.to_string());
        Put::builder()
            .table_name(&self.config.orders_table)
            .item("order_id", text(&line.order_id))
            .item("account_id", text(&line.account_id))
            .item("sku", text(&line.sku))
            .item("quantity", number(&line.quantity))
            .item("amount_cents", number(&line.amount_cents))
            .item(PLACED_BY, AttributeValue::S(client))
            .item("created_at", number(&created_at))
            .item("version", number(&1))
            .condition_expression("attribute_not_exists(order_id)")
            .build()
    }
}

fn of_commit(error: &CommitError, keyed: bool) -> Problem {
    match error {
        CommitError::Busy { .. } => Problem::busy(chain(error)),
        CommitError::OutcomeUnknown { .. } => {
            let detail = if keyed {
                "It is not known whether the order was written; send it again with the same Idempotency-Key"
            } else {
                "It is not known whether the order was written; look for it before you send it again"
            };
            Problem::new(StatusCode::GATEWAY_TIMEOUT, detail).because(chain(error))
        }
        _ => Problem::internal().because(chain(error)),
    }
}

fn text(item: &Item, name: &str) -> String {
    item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}

fn number(item: &Item, name: &str) -> u64 {
    item.get(name).and_then(|value| value.as_n().ok()).and_then(|text| text.parse().ok()).unwrap_or_default()
}
