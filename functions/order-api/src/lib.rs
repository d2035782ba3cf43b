//! Takes orders over HTTP. An order and its `OrderPlaced` event are one transaction: the event exists if and only if the
//! order does.
//!
//! * `POST /orders` with `{"account_id", "sku", "quantity", "amount_cents"}` answers 201 and the order's id.
//!   With an `Idempotency-Key`, the same order of the same client is placed once: a repeat is answered as the first was.
//! * `GET /orders/{id}` answers the order to the client that placed it and, once the projection has caught up, its status.
//!
//! What is wrong is answered as `application/problem+json` (RFC 9457).

mod client;
mod config;
mod domain;
mod orders;
mod problem;
#[cfg(test)]
mod tests;
mod trace;

use std::sync::Arc;

use lambda_http::http::{Method, StatusCode, header};
use lambda_http::{Body, Error, Request, Response};
use oncebox::inbox::{IdempotencyKey, NotAKey};
use oncebox::store::Store;
use oncebox::time::{Clock, Ids};
use tracing::Instrument;

pub use config::{Config, Idempotency};
use domain::NewOrder;
use orders::Orders;
use problem::Problem;
use trace::Origin;

/// Bytes of a request body that are looked at.
const MAX_BODY: usize = 16 * 1024;

/// The HTTP side.
#[derive(Debug)]
pub struct Api {
    orders: Orders,
    idempotency: Idempotency,
}

impl Api {
    /// Serves orders out of `store`.
    #[must_use]
    pub fn new(config: Config, store: Arc<dyn Store>) -> Self {
        Self { idempotency: config.idempotency, orders: Orders::new(config, store) }
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self { orders: self.orders.with_time(clock, ids), ..self }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// Only when a response cannot be built; everything else is answered as a problem.
    pub async fn handle(&self, request: Request) -> Result<Response<Body>, Error> {
        let origin = self.orders.origin(&request);
        let span = origin.span();
        async {
            let (status, answer) = match self.route(&request, &origin).await {
                Ok(response) => (response.status(), Ok(response)),
                Err(problem) => {
                    if problem.status.is_server_error() {
                        tracing_error(&problem);
                    }
                    (problem.status, problem.into_response())
                }
            };
            tracing::info!(method = request.method().as_str(), status = status.as_u16(), "request done");
            Ok(answer?)
        }
        .instrument(span)
        .await
    }

    async fn route(&self, request: &Request, origin: &Origin) -> Result<Response<Body>, Problem> {
        let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        match (request.method(), path.as_slice()) {
            (&Method::POST, ["orders"]) => self.place(request, origin).await,
            (&Method::GET, ["orders", id]) if !id.is_empty() => self.show(request, id).await,
            (_, ["orders"]) => Err(Problem::method_not_allowed("POST")),
            (_, ["orders", _]) => Err(Problem::method_not_allowed("GET")),
            _ => Err(Problem::new(StatusCode::NOT_FOUND, "There is nothing here")),
        }
    }

    async fn place(&self, request: &Request, origin: &Origin) -> Result<Response<Body>, Problem> {
        let body: &[u8] = request.body();
        if body.len() > MAX_BODY {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "The order is larger than 16 KiB"));
        }
        let key = self.key(request)?;
        let order = NewOrder::read(body)?;
        let placed = self.orders.place(order, caller(request)?, key, origin).await?;
        Response::builder()
            .status(StatusCode::CREATED)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::LOCATION, format!("/orders/{}", placed.order_id))
            .body(Body::Text(placed.answer))
            .map_err(|_| Problem::internal())
    }

    /// The client's key, where there is one and keys are looked at.
    fn key(&self, request: &Request) -> Result<Option<IdempotencyKey>, Problem> {
        let wrong = |detail: String| Problem::new(StatusCode::BAD_REQUEST, detail);
        let mut headers = request.headers().get_all("idempotency-key").iter();
        let header = match (self.idempotency, headers.next()) {
            (Idempotency::Off, _) | (Idempotency::Optional, None) => return Ok(None),
            (Idempotency::Required, None) => {
                return Err(wrong(
                    "An Idempotency-Key is needed: a quoted string of your own making".to_owned(),
                ));
            }
            (_, Some(header)) => header,
        };
        if headers.next().is_some() {
            return Err(wrong("There is more than one Idempotency-Key".to_owned()));
        }
        let text = header.to_str().map_err(|_| wrong(NotAKey::NotAString.to_string()))?;
        text.parse().map(Some).map_err(|error: NotAKey| wrong(error.to_string()))
    }

    async fn show(&self, request: &Request, id: &str) -> Result<Response<Body>, Problem> {
        let Some(order) = self.orders.find(id, &caller(request)?).await? else {
            return Err(Problem::new(StatusCode::NOT_FOUND, "There is no such order"));
        };
        let text = serde_json::to_string(&order).map_err(|_| Problem::internal())?;
        Response::builder()
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::Text(text))
            .map_err(|_| Problem::internal())
    }
}

/// Who calls. That nobody can tell is a fault of the deployment: the callers would all be one.
fn caller(request: &Request) -> Result<String, Problem> {
    client::of(request).map_err(|unnamed| Problem::internal().because(unnamed.to_string()))
}

fn tracing_error(problem: &Problem) {
    tracing::error!(status = problem.status.as_u16(), cause = problem.cause.as_deref(), "request failed");
}
