//! A consumer that captures a card once per event.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::Update;
use oncebox::consumer::{Builder, Consumer, HandlerError};
use oncebox::effect::remote::{OnUnknown, Outgoing, Provider, Remote, Reply, Request, Transport};
use oncebox::effect::{Effects, Reads};
use oncebox::event::{Event, Message};
use oncebox::quarantine::{self, Case, Quarantine};
use oncebox::retry::Backoff;
use oncebox::store::{Item, Store};
use oncebox::testing::{CountedIds, item, number, text};
use oncebox::time::Clock;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reserved {
    pub(crate) order: String,
}

impl Event for Reserved {
    const TYPE: &'static str = "Reserved";
    const AGGREGATE_TYPE: &'static str = "Order";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.order)
    }
}

/// How the provider is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Keyed,
    Unkeyed(OnUnknown),
}

/// What the handlers are told.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) mode: Mode,
    pub(crate) url: String,
    pub(crate) timeout: Duration,
    /// Raised by each run of the handler, so that a rebuilt request would have another body.
    pub(crate) runs: Arc<std::sync::atomic::AtomicU32>,
}

/// How long the provider of the tests remembers a key.
pub(crate) const LIFETIME: Duration = Duration::from_secs(86_400);

/// The secret that must not be stored anywhere.
pub(crate) const SECRET: &str = "s3cr3t-of-the-provider";

async fn capture(event: Message<Reserved>, _reads: Reads, app: App) -> Result<Remote, HandlerError> {
    let run = app.runs.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let body = serde_json::json!({ "order": event.order, "run": run });
    let request = Request::post(format!("{}/captures", app.url)).json(&body)?;
    let remote = match app.mode {
        Mode::Keyed => Remote::keyed(request, LIFETIME),
        Mode::Unkeyed(on_unknown) => Remote::unkeyed(request, on_unknown).not_done([429]),
    };
    let remote = remote.results([402]).timeout(app.timeout).keep_headers(["x-capture"]);
    Ok(remote.then(move |reply, _reads| captured(event.clone(), reply)))
}

async fn captured(event: Message<Reserved>, reply: Reply) -> Result<Effects, HandlerError> {
    let state = if reply.status() == 402 { "DECLINED" } else { "CAPTURED" };
    let update = Update::builder()
        .table_name("payments")
        .key("order", text(event.order.as_str()))
        .update_expression("SET #state = :state ADD times :one")
        .expression_attribute_names("#state", "state")
        .expression_attribute_values(":state", text(state))
        .expression_attribute_values(":one", number(1))
        .build()?;
    Ok(Effects::new().update(update))
}

pub(crate) const TABLES: [(&str, &str, Option<&str>); 4] = [
    ("inbox", "pk", Some("sk")),
    ("remote", "pk", Some("sk")),
    ("quarantine", "pk", Some("sk")),
    ("payments", "order", None),
];

pub(crate) fn consumer(
    store: &Arc<dyn Store>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    app: App,
    tune: impl FnOnce(Builder<()>) -> Builder<()>,
) -> Consumer<App> {
    let provider = Provider::new("remote", transport)
        .credentials(|request: &mut Outgoing| request.header("authorization", format!("Bearer {SECRET}")));
    let builder = Consumer::builder("payment", Arc::clone(store))
        .inbox("inbox")
        .quarantine(Quarantine::new(Arc::clone(store), "quarantine"))
        .remote(provider)
        .with_time(clock, Arc::new(CountedIds::default()))
        .backoff(Backoff { base: Duration::from_millis(5), cap: Duration::from_millis(20) });
    tune(builder).state(app).on(capture).build().unwrap()
}

/// The id of event number `number`, as the provider gets it.
pub(crate) fn event(number: usize) -> String {
    format!("01a3185c-5000-7000-8000-{number:012}")
}

pub(crate) fn body(number: usize) -> String {
    let id = event(number);
    format!(
        r#"{{"specversion":"1.0","id":"{id}","source":"/test","type":"Reserved","data":{{"order":"o-{number}"}}}}"#
    )
}

/// All of a table.
pub(crate) async fn rows(store: &Arc<dyn Store>, table: &str) -> Vec<Item> {
    store.scan(table, None).await.unwrap().items
}

pub(crate) async fn cases(store: &Arc<dyn Store>) -> Vec<Case> {
    rows(store, "quarantine").await.iter().map(|row| quarantine::read(row, &[]).unwrap()).collect()
}

/// The payment of order number `number`: its state, and how often the effect was applied.
pub(crate) async fn payment(store: &Arc<dyn Store>, number: usize) -> Option<(String, String)> {
    let found = store.get("payments", item([("order", text(format!("o-{number}")))])).await.unwrap()?;
    Some((found["state"].as_s().unwrap().clone(), found["times"].as_n().unwrap().clone()))
}
