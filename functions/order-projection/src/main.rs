//! `order-projection`: wiring only.

use oncebox::config::Reader;
use oncebox::{aws, consumer, telemetry};

// A fifth less CPU than the C library's: docs/decisions/0016.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let built = order_projection::Config::read(Reader::from_env());
    let config = telemetry::or_log(built)?;
    let aws = aws::config().await;
    let consumer =
        telemetry::or_log(order_projection::consumer(config, aws::store(&aws), aws::visibility(&aws)))?;
    consumer::serve(consumer).await
}
