//! SQS batches in, effects committed once, partial batch failures out.

mod batch;
mod builder;
mod days;
mod decode;
mod dispatch;
mod engine;
mod handler;
mod record;
mod report;
mod serve;
mod verdict;

pub use batch::InvocationError;
pub use builder::{BuildError, Builder, Consumer};
pub use days::{Days, NotDays};
pub use decode::decode;
pub use handler::{Handler, HandlerError, WithState, WithoutState};
pub use record::Record;
pub use serve::serve;
pub use verdict::{Counts, Verdict};
