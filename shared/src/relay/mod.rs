//! The outbox table's stream in, SNS and SQS batches out.

mod aws;
mod batch;
mod publish;
mod record;
mod route;
mod serve;
mod stream;

pub use aws::AwsPublisher;
pub use batch::{InvocationError, Relay};
pub use publish::{Outgoing, PublishError, Publisher};
pub use route::{Destination, RouteError, Routes};
pub use serve::serve;
pub use stream::{Ignored, Misconfigured, StreamRecord};
