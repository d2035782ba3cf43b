use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde_json::value::RawValue;

use std::time::Duration;

use super::{Builder, Consumer, InvocationError};
use crate::time::Deadline;
use crate::warm_up;

/// Runs `consumer` as a Lambda function until the runtime ends, after [`warm_up`](Consumer::warm_up).
///
/// # Errors
/// When the Lambda Runtime API cannot be reached or answers out of protocol.
pub async fn serve<S: Clone + Send + Sync + 'static>(
    consumer: Consumer<S>,
) -> Result<(), lambda_runtime::Error> {
    consumer.warm_up().await;
    let consumer = &consumer;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| async move {
        let deadline = consumer.deadline(event.context.deadline);
        consumer.handle(event.payload.get(), deadline).await
    }))
    .await
}

impl<S: Clone + Send + Sync + 'static> Builder<S> {
    /// The time that an invocation is taken to have when its deadline is unknown: absent, or past when it begins, as local
    /// runners have it. Default 30 s; the function's timeout is a good choice.
    pub fn unstated_deadline(mut self, time: Duration) -> Self {
        self.parts.unstated = time;
        self
    }
}

impl<S: Clone + Send + Sync + 'static> Consumer<S> {
    /// Opens the connection to DynamoDB by reading a row of the inbox table that is never there, so that the first event
    /// does not wait for it. Takes 1 s at most. A failure is logged and nothing else. Without an inbox it does nothing.
    pub async fn warm_up(&self) {
        let parts = &self.engine.parts;
        if let Some(table) = &parts.inbox {
            warm_up::open(parts.store.as_ref(), table).await;
        }
    }

    /// The deadline of an invocation whose context states `millis`, epoch milliseconds, for those who call
    /// [`handle`](Self::handle) themselves. One that is past already is taken for unknown.
    #[must_use]
    pub fn deadline(&self, millis: u64) -> Deadline {
        let parts = &self.engine.parts;
        Deadline::from_context_millis(millis, parts.clock.now(), parts.unstated)
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
