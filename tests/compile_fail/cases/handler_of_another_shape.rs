//! What is wrong with a handler's signature is said in the words of the crate.

use std::sync::Arc;

use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::Message;
use oncebox::store::Store;
use oncebox_tests::{Paid, oncebox};

async fn bare_event(_: Paid, _: Reads) -> Result<Effects, HandlerError> {
    Ok(Effects::new())
}

async fn no_reads(_: Message<Paid>) -> Result<Effects, HandlerError> {
    Ok(Effects::new())
}

fn not_async(_: Message<Paid>, _: Reads) -> Result<Effects, HandlerError> {
    Ok(Effects::new())
}

async fn other_state(_: Message<Paid>, _: Reads, _: Arc<String>) -> Result<Effects, HandlerError> {
    Ok(Effects::new())
}

fn build(store: Arc<dyn Store>) {
    let builder = || Consumer::builder("c", Arc::clone(&store)).inbox("inbox");
    builder().on(bare_event);
    builder().on(no_reads);
    builder().on(not_async);
    builder().state(7_u32).on(other_state);
}

fn main() {}
