//! Takes orders over HTTP. An order and its `OrderPlaced` event are one transaction: the event exists if and only if the
//! order does.
//!
//! * `POST /orders` with `{"account_id", "sku", "quantity", "amount_cents"}` answers 201 and the order's id.
//! * `GET /orders/{id}` answers the order and, once the projection has caught up, its status.
//!
//! What is wrong is answered as `application/problem+json` (RFC 9457).

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
use oncebox::store::Store;
use oncebox::time::{Clock, Ids};
use serde_json::json;
use tracing::Instrument;

pub use config::Config;
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
}

impl Api {
    /// Serves orders out of `store`.
    #[must_use]
    pub fn new(config: Config, store: Arc<dyn Store>) -> Self {
        Self { orders: Orders::new(config, store) }
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self { orders: self.orders.with_time(clock, ids) }
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
            (&Method::POST, ["orders"]) => self.place(request.body(), origin).await,
            (&Method::GET, ["orders", id]) if !id.is_empty() => self.show(id).await,
            (_, ["orders"]) => Err(Problem::method_not_allowed("POST")),
            (_, ["orders", _]) => Err(Problem::method_not_allowed("GET")),
            _ => Err(Problem::new(StatusCode::NOT_FOUND, "There is nothing here")),
        }
    }

    async fn place(&self, body: &[u8], origin: &Origin) -> Result<Response<Body>, Problem> {
        if body.len() > MAX_BODY {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "The order is larger than 16 KiB"));
        }
        let order = NewOrder::read(body)?;
        let id = self.orders.place(order, origin).await?;
        let response = Response::builder()
            .status(StatusCode::CREATED)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::LOCATION, format!("/orders/{id}"))
            .body(Body::Text(json!({ "order_id": id }).to_string()));
        response.map_err(|_| Problem::internal())
    }

    async fn show(&self, id: &str) -> Result<Response<Body>, Problem> {
        let Some(order) = self.orders.find(id).await? else {
            return Err(Problem::new(StatusCode::NOT_FOUND, "There is no such order"));
        };
        let text = serde_json::to_string(&order).map_err(|_| Problem::internal())?;
        Response::builder()
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::Text(text))
            .map_err(|_| Problem::internal())
    }
}

fn tracing_error(problem: &Problem) {
    tracing::error!(status = problem.status.as_u16(), cause = problem.cause.as_deref(), "request failed");
}
