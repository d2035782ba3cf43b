//! Logs and metrics: one JSON object a line on standard error, with the fields at its top level. No payload, ever.
//!
//! * Every record of a batch is worked on in a span (target [`SPANS`]), whose fields stand on each line that is logged
//!   inside it, the handler's own lines included: consumer, event id and type, aggregate, attempt, trace and span id.
//! * The last line of an invocation is also its metrics, in CloudWatch's embedded metric format (target [`METRICS`]).
//! * Errors are logged as [`chain`] tells them.
//! * A panic is logged with its place, not with its message, which may quote what was being worked on.

mod chain;
#[cfg(any(feature = "consumer", feature = "relay"))]
mod emf;
#[cfg(feature = "aws")]
mod filter;
mod hidden;
#[cfg(feature = "aws")]
mod json;

pub use chain::chain;
#[cfg(any(feature = "consumer", feature = "relay"))]
pub(crate) use emf::{Emf, dimension_value};
#[cfg(feature = "aws")]
pub use filter::filter;
pub(crate) use hidden::Hidden;
#[cfg(feature = "aws")]
pub use json::JsonLines;

/// The target of lines that carry metrics. [`init`] lets them through at any level: an alarm must not fall silent
/// because somebody has turned down the logs.
pub const METRICS: &str = "oncebox::metrics";
/// The field of a line with target [`METRICS`] whose text is members of the line itself.
#[cfg(feature = "aws")]
const EMF: &str = "emf";
/// The target of the spans that records and requests are worked on in. [`init`] lets them through at any level, so that
/// an error can always be told whose it is.
pub const SPANS: &str = "oncebox::spans";

/// Starts logging to standard error, and takes the message out of panics. Call it once, first thing in `main`.
///
/// `RUST_LOG` sets the level, as in `info` (the default) or `warn,my_crate=debug`. The libraries that handle requests
/// are held at `info` whatever it says: below that, they log bodies.
#[cfg(feature = "aws")]
pub fn init() {
    use std::io::Write;

    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    // One write a line: lines of one process never mix.
    let stderr = |line: &str| drop(std::io::stderr().lock().write_all(line.as_bytes()));
    let filter = filter(&std::env::var("RUST_LOG").unwrap_or_default());
    // A second call keeps the first subscriber.
    let _ = tracing_subscriber::registry().with(filter).with(JsonLines::new(stderr)).try_init();
    std::panic::set_hook(Box::new(log_panic));
}

/// Logs where a panic happened. Its message stays out: it may quote what was being worked on.
#[cfg(feature = "aws")]
pub fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    tracing::error!(place, "panic");
}

/// Passes a start-up result on, and logs the error first: the runtime's own report of a failed start keeps only its
/// first line.
///
/// # Errors
/// The error of `result`.
pub fn or_log<T, E: std::error::Error + 'static>(result: Result<T, E>) -> Result<T, E> {
    if let Err(error) = &result {
        tracing::error!(error = chain(error), "the function cannot start");
    }
    result
}
