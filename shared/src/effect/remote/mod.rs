//! HTTP calls as effects (feature `remote`).
//!
//! No transaction covers a call to a provider. So the call is made *recoverable*: before every attempt a "started" row is
//! written, on the condition that the inbox key is absent; the effects that follow from the answer are committed with the
//! inbox key and the end of "started", in one transaction.
//!
//! * [`Remote::keyed`], for a provider that honours an idempotency key: every attempt sends the event's id as the key and
//!   the bytes of the first attempt, so the provider does it exactly once.
//! * [`Remote::unkeyed`], for one that does not: after a crash or a lost answer nobody knows whether it was done. The
//!   caller chooses what happens then ([`OnUnknown`]); nothing pretends otherwise.
//!
//! While one delivery has begun, every other delivery of the event is transient, until the first one's invocation must have
//! ended (the row's lease). After that, the next delivery takes over, with the frozen request.
//!
//! | The answer | Keyed | Unkeyed |
//! |---|---|---|
//! | 2xx, and [`Remote::results`] | goes to [`Remote::then`] | is stored, then goes to [`Remote::then`] |
//! | no connection came about | transient | definitely not done: "started" is cleared, transient |
//! | [`Remote::not_done`] | as without it | definitely not done: "started" is cleared, transient |
//! | 408, 409, 425, 429, 5xx, time-out, connection cut (be it in a 2xx's body) | transient, the same bytes again | unknown: by choice |
//! | 422, any other 4xx, 3xx | permanent | permanent; the answer is stored, and stays until a person resolves it |
//! | crash, and the lease has passed | the same bytes again | unknown: by choice; with a stored answer, known |
//! | the key's lifetime has passed | unknown: quarantined | |
//!
//! What comes again does so no sooner than the provider's `Retry-After` says, and not within the lease of another delivery,
//! up to the 12 h that SQS allows. Each call that is made again although the last one may have been done is logged, and
//! counted as `CalledAgain`.
//!
//! # Examples
//! A card is captured once per order; a decline is a business result, not an error:
//! ```
//! use std::borrow::Cow;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use aws_sdk_dynamodb::types::{AttributeValue, Put};
//! use oncebox::consumer::{BuildError, Consumer, HandlerError};
//! use oncebox::effect::remote::{Provider, Remote, Reply, Request};
//! use oncebox::effect::{Effects, Reads};
//! use oncebox::event::{Event, Message};
//! use oncebox::store::Store;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct StockReserved {
//!     order_id: String,
//!     amount_cents: i64,
//! }
//! # impl Event for StockReserved {
//! #     const TYPE: &'static str = "StockReserved";
//! #     const AGGREGATE_TYPE: &'static str = "Order";
//! #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.order_id) }
//! # }
//!
//! /// What to call.
//! async fn capture(event: Message<StockReserved>, _reads: Reads) -> Result<Remote, HandlerError> {
//!     let body = serde_json::json!({ "order": event.order_id, "amount_cents": event.amount_cents });
//!     let request = Request::post("https://pay.example/captures").json(&body)?;
//!     let day = Duration::from_secs(86_400);
//!     Ok(Remote::keyed(request, day).results([402]).then(move |reply, _reads| captured(event.clone(), reply)))
//! }
//!
//! /// What follows from the answer.
//! async fn captured(event: Message<StockReserved>, reply: Reply) -> Result<Effects, HandlerError> {
//!     let state = if reply.status() == 402 { "DECLINED" } else { "CAPTURED" };
//!     let put = Put::builder()
//!         .table_name("payments")
//!         .item("order_id", AttributeValue::S(event.order_id.clone()))
//!         .item("state", AttributeValue::S(state.to_owned()))
//!         .build()?;
//!     Ok(Effects::new().put(put))
//! }
//!
//! fn payment(store: Arc<dyn Store>, provider: Provider) -> Result<Consumer<()>, BuildError> {
//!     Consumer::builder("payment", store).inbox("inbox").remote(provider).on(capture).build()
//! }
//! # drop(payment);
//! ```

mod call;
mod config;
mod http;
mod judge;
mod provider;
mod reply;
mod request;
mod resolve;
mod started;
mod transport;

pub(crate) use call::Kind;
pub use call::{OnUnknown, Remote};
pub use config::Config;
pub use http::{HttpTransport, TransportError};
pub(crate) use judge::{Outcome, retry_after};
pub use provider::Provider;
pub use reply::Reply;
pub use request::{MAX_REQUEST_BODY, Method, Request};
pub use resolve::{Resolution, ResolveError, StartedCall, StartedCalls};
pub use started::names;
pub(crate) use started::{Started, number, reply_attributes, text};
pub use transport::{Credentials, NoReply, Outgoing, Transport};
