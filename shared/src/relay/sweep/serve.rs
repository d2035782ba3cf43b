use std::time::Duration;

use jiff::Timestamp;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::value::RawValue;

use super::{Sweeper, Swept};
use crate::telemetry::{Emf, METRICS, chain, dimension_value};
use crate::time::Deadline;

/// Assumed when the context states no usable deadline, as local runners do.
const UNSTATED: Duration = Duration::from_secs(30);

/// Runs `sweeper` as a Lambda function until the runtime ends. Each invocation is a sweep, whatever its event says.
///
/// # Errors
/// When the Lambda Runtime API cannot be reached or answers out of protocol.
pub async fn serve(sweeper: Sweeper) -> Result<(), lambda_runtime::Error> {
    let sweeper = &sweeper;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| async move {
        let deadline = Deadline::from_context_millis(event.context.deadline, sweeper.clock().now(), UNSTATED);
        let swept = sweeper.sweep(deadline).await.map_err(|error| chain(&error))?;
        report(&swept, sweeper.name(), sweeper.clock().now());
        Ok::<(), lambda_runtime::Error>(())
    }))
    .await
}

/// The last line of an invocation, which is its metrics too.
fn report(swept: &Swept, relay: &str, now: Timestamp) {
    let mut emf = Emf::new(now, "relay");
    emf.count("Published", swept.published);
    emf.count("Quarantined", swept.quarantined);
    emf.count("Failed", swept.failed);
    emf.count("Held", swept.held);
    emf.count("PublishCalls", swept.tally.calls());
    swept.tally.report(now);
    // Zero too: an alarm has to see that the backlog is gone.
    let age = swept.backlog_age_ms.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default();
    emf.times("BacklogAge", [age.saturating_mul(1000)]);
    tracing::info!(
        target: METRICS,
        relay = dimension_value(relay),
        seen = swept.seen,
        young = swept.young,
        held = swept.held,
        published = swept.published,
        quarantined = swept.quarantined,
        failed = swept.failed,
        odd = swept.odd,
        complete = swept.complete,
        backlog_age_ms = swept.backlog_age_ms,
        emf = emf.into_lines().first(),
        "sweep done"
    );
}
