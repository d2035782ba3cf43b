use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};

/// A DynamoDB client for an emulator at `endpoint`.
///
/// `account` is the access key; MiniStack takes 12 digits for an account of its own, so that tests can share one
/// emulator. The client does not retry: a test sees the first answer.
#[must_use]
pub fn dynamo_client(endpoint: &str, account: &str) -> Client {
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_secs(30)).build();
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(Credentials::new(account, "test", None, None, "tests"))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .build();
    Client::from_conf(config)
}

/// An SQS client for an emulator at `endpoint`, for an account and a Region.
#[must_use]
pub fn sqs_client(endpoint: &str, account: &str, region: &str) -> aws_sdk_sqs::Client {
    use aws_sdk_sqs::config::{BehaviorVersion, Config, Credentials, Region};

    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region.to_owned()))
        .credentials_provider(Credentials::new(account, "test", None, None, "tests"))
        .endpoint_url(endpoint)
        .build();
    aws_sdk_sqs::Client::from_conf(config)
}
