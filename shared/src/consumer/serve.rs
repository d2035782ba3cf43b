use std::sync::Arc;
use std::time::Duration;

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde_json::value::RawValue;

use super::{Consumer, InvocationError};
use crate::time::{Clock, Deadline};

/// Assumed when the context states no usable deadline, as local runners do.
const UNSTATED: Duration = Duration::from_secs(30);

/// Runs `consumer` as a Lambda function until the runtime ends.
///
/// # Errors
/// When the Lambda Runtime API cannot be reached or answers out of protocol.
pub async fn serve<S: Clone + Send + Sync + 'static>(
    consumer: Consumer<S>,
) -> Result<(), lambda_runtime::Error> {
    let consumer = &consumer;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| async move {
        let clock: &Arc<dyn Clock> = &consumer.engine.parts.clock;
        let deadline = Deadline::from_context_millis(event.context.deadline, clock.now(), UNSTATED);
        consumer.handle(event.payload.get(), deadline).await
    }))
    .await
}

/// The type name is what dashboards and alarms see; it does not change with the Rust path.
impl From<InvocationError> for Diagnostic {
    fn from(error: InvocationError) -> Self {
        let error_type = match &error {
            InvocationError::NotABatch(_) => "Oncebox.NotABatch",
            InvocationError::Unidentified { .. } => "Oncebox.UnidentifiedRecords",
        };
        Self { error_type: error_type.to_owned(), error_message: error.to_string() }
    }
}
