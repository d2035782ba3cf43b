use std::time::Duration;

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde_json::value::RawValue;

use super::{InvocationError, Relay};
use crate::time::Deadline;
use crate::warm_up;

/// Assumed when the context states no usable deadline, as local runners do.
const UNSTATED: Duration = Duration::from_secs(30);

/// Runs `relay` as a Lambda function until the runtime ends, after [`warm_up`](Relay::warm_up).
///
/// # Errors
/// When the Lambda Runtime API cannot be reached or answers out of protocol.
pub async fn serve(relay: Relay) -> Result<(), lambda_runtime::Error> {
    relay.warm_up().await;
    let relay = &relay;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| async move {
        let deadline = Deadline::from_context_millis(event.context.deadline, relay.clock().now(), UNSTATED);
        relay.handle(event.payload.get(), deadline).await
    }))
    .await
}

impl Relay {
    /// Opens the connection to DynamoDB by reading a row of the outbox table that is never there, so that the first event
    /// does not wait for it. Takes 1 s at most. A failure is logged and nothing else.
    pub async fn warm_up(&self) {
        warm_up::open(self.keeper.store.as_ref(), &self.keeper.table).await;
    }
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
