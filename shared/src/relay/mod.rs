//! The outbox table's stream in, SNS and SQS batches out.

mod after;
mod aws;
mod batch;
mod keeper;
mod progress;
mod publish;
mod record;
mod replay;
mod report;
mod seen;
mod send;
mod serve;
#[cfg(feature = "test-util")]
#[doc(hidden)]
pub mod steps;
mod stream;
mod sweep;
mod tally;

pub use crate::outbox::{Destination, Kind, RouteError, Routes};
pub use after::AfterPublish;
pub use aws::AwsPublisher;
pub use batch::{InvocationError, Relay};
pub use publish::{Outgoing, PublishError, Publisher};
pub use replay::{Replay, Replayed, RetryError, Selection};
pub use serve::serve;
pub use stream::{Ignored, Misconfigured, StreamRecord};
pub use sweep::{Sweeper, Swept, serve as serve_sweeper};
