//! `order-api`: wiring only.

use std::sync::Arc;

use lambda_http::{Request, run, service_fn};
use oncebox::config::Reader;
use oncebox::{aws, telemetry};
use order_api::{Api, Config};

// A fifth less CPU than the C library's: docs/decisions/0016.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    let config = telemetry::or_log(Config::read(Reader::from_env()))?;
    let api = Arc::new(Api::new(config, aws::store(&aws::config().await)));
    run(service_fn(move |request: Request| {
        let api = Arc::clone(&api);
        async move { api.handle(request).await }
    }))
    .await
}
