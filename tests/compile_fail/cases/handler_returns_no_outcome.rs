//! A handler returns its effects, or says that it failed.

use std::sync::Arc;

use oncebox::consumer::{Consumer, HandlerError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::Message;
use oncebox::store::Store;
use oncebox_tests::{Paid, oncebox};

async fn nothing(_: Message<Paid>, _: Reads) -> Result<(), HandlerError> {
    Ok(())
}

async fn no_result(_: Message<Paid>, _: Reads) -> Effects {
    Effects::new()
}

fn build(store: Arc<dyn Store>) {
    let builder = || Consumer::builder("c", Arc::clone(&store)).inbox("inbox");
    builder().on(nothing);
    builder().on(no_result);
}

fn main() {}
