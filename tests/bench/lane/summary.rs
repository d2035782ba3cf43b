use std::time::Duration;

use serde_json::json;

use crate::options::Options;
use crate::runtime::Window;
use crate::work::Found;

/// The run in one line of JSON.
pub(crate) fn line(options: &Options, window: &Window, found: Found, connections: usize) -> String {
    let events = options.batch * options.invocations;
    let each = |total: f64| rounded(total / events as f64);
    let millis = |time: Duration| rounded(time.as_secs_f64() * 1000.0);
    let seconds = window.measured.as_secs_f64();
    json!({
        "work": options.work.name(),
        "variant": options.variant.name(),
        "batch": options.batch,
        "latency_ms": options.latency.as_millis(),
        "invocations": options.invocations,
        "events": events,
        "seconds": seconds,
        "events_per_s": rounded(events as f64 / seconds),
        "cpu_us_per_event": each(window.spent.cpu_ns as f64 / 1000.0),
        "threads_ended": window.spent.threads_ended,
        "calls": window.counts.calls(),
        "calls_per_event": each(window.counts.calls() as f64),
        "calls_by_operation": window.counts.by_operation,
        "bytes_in": window.counts.bytes_in,
        "bytes_out": window.counts.bytes_out,
        "write_units": window.counts.units.write,
        "read_units": window.counts.units.read,
        "connections": connections,
        "init_ms": millis(window.init),
        "first_ms": millis(window.first),
        "peak_mb": rounded(window.peak_kib as f64 / 1024.0),
        "failures_reported": found.failures_reported,
        "deletes": found.deletes,
    })
    .to_string()
}

/// To a thousandth.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
