use std::time::Duration;

use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::value::RawValue;

use super::{Sweeper, Swept};
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
        let swept = sweeper.sweep(deadline).await?;
        report(&swept);
        Ok::<(), lambda_runtime::Error>(())
    }))
    .await
}

fn report(swept: &Swept) {
    tracing::info!(
        seen = swept.seen,
        young = swept.young,
        held = swept.held,
        published = swept.published,
        quarantined = swept.quarantined,
        failed = swept.failed,
        odd = swept.odd,
        complete = swept.complete,
        backlog_age_ms = swept.backlog_age_ms,
        "sweep done"
    );
}
