//! Logs: one JSON object a line on standard error, with the fields at its top level. No payload, ever.

/// Starts logging. `RUST_LOG` sets the level; the default is `info`. Call it once, first thing in `main`.
#[cfg(feature = "aws")]
pub fn init() {
    use tracing_subscriber::EnvFilter;

    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_env_filter(filter);
    // A second call keeps the first subscriber.
    let _ = logs.try_init();
}

/// The error with its sources, in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}

/// Passes a start-up result on, and logs the error first: the runtime's own report of a failed start keeps only its
/// first line.
///
/// # Errors
/// The error of `result`.
pub fn or_log<T, E: std::error::Error>(result: Result<T, E>) -> Result<T, E> {
    if let Err(error) = &result {
        tracing::error!(error = chain(error), "the function cannot start");
    }
    result
}
