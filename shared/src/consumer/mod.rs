//! SQS batches in, effects committed once, partial batch failures out.
#![cfg_attr(feature = "test-util", doc = include_str!("variants.md"))]

mod batch;
mod builder;
mod config;
mod decode;
mod discard;
mod dispatch;
mod engine;
mod handler;
mod lanes;
#[cfg(feature = "test-util")]
mod observe;
mod pace;
mod packing;
mod record;
mod report;
mod serve;
mod settle;
#[cfg(feature = "test-util")]
#[doc(hidden)]
pub mod steps;
mod verdict;
mod visibility;
mod watch;

pub use batch::InvocationError;
pub use builder::{BuildError, Builder, Consumer};
pub use config::Config;
pub use decode::decode;
pub use handler::{Handler, HandlerError, WithState, WithoutState};
pub use serve::serve;
pub use verdict::Verdict;
pub use visibility::{SqsVisibility, Visibility};

use discard::discard;
use record::Record;
use verdict::Counts;
