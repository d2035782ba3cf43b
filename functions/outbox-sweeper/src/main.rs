//! `outbox-sweeper`: wiring only.

use oncebox::config::Reader;
use oncebox::{aws, relay, telemetry};

// A fifth less CPU than the C library's: docs/decisions/0016.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let config = telemetry::or_log(outbox_sweeper::Config::read(Reader::from_env()))?;
    let aws = aws::config().await;
    relay::serve_sweeper(outbox_sweeper::sweeper(config, aws::store(&aws), aws::publisher(&aws))).await
}
