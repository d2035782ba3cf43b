//! `payment`: wiring only.

use std::sync::Arc;

use oncebox::config::Reader;
use oncebox::effect::remote::HttpTransport;
use oncebox::{aws, consumer, telemetry};

// A fifth less CPU than the C library's: docs/decisions/0016.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let built = payment::Config::read(Reader::from_env());
    let config = telemetry::or_log(built)?;
    let transport = Arc::new(telemetry::or_log(HttpTransport::new())?);
    let aws = aws::config().await;
    let (store, visibility) = (aws::store(&aws), aws::visibility(&aws));
    let consumer = telemetry::or_log(payment::consumer(config, store, visibility, transport))?;
    consumer::serve(consumer).await
}
