//! SDK clients for a function's `main`: one configuration and one HTTP client for all of them.

use std::sync::Arc;
use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;

use crate::store::{DynamoStore, Store};

/// The environment's AWS configuration. `AWS_ENDPOINT_URL` is honoured by every client that is made from it.
///
/// A call that takes longer than 5 s is given up and, where that is safe, tried again: a connection that died
/// silently must not use up the whole invocation.
pub async fn config() -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(5))
        .build();
    aws_config::defaults(BehaviorVersion::latest()).timeout_config(timeouts).load().await
}

/// DynamoDB, as the library's [`Store`].
#[must_use]
pub fn store(config: &SdkConfig) -> Arc<dyn Store> {
    Arc::new(DynamoStore::new(aws_sdk_dynamodb::Client::new(config)))
}

/// SNS and SQS, as the relay's publisher.
#[cfg(feature = "relay")]
#[must_use]
pub fn publisher(config: &SdkConfig) -> Arc<dyn crate::relay::Publisher> {
    Arc::new(crate::relay::AwsPublisher::new(
        aws_sdk_sns::Client::new(config),
        aws_sdk_sqs::Client::new(config),
    ))
}

/// SQS, as a consumer's means to set visibility.
#[cfg(feature = "consumer")]
#[must_use]
pub fn visibility(config: &SdkConfig) -> Arc<dyn crate::consumer::Visibility> {
    Arc::new(crate::consumer::SqsVisibility::new(aws_sdk_sqs::Client::new(config)))
}
