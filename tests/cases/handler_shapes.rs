//! The handler shapes that the design promises compile as they are written: plain `async fn` items, no turbofish.

use std::sync::Arc;

use oncebox::consumer::{BuildError, Consumer, HandlerError};
use oncebox::effect::{Effects, Reads};
use oncebox::event::Message;
use oncebox::store::Store;
use oncebox::testing::MemoryStore;

use crate::bench::Paid;

struct App;

async fn reserve(event: Message<Paid>, reads: Reads) -> Result<Effects, HandlerError> {
    let _ = (event, reads);
    Ok(Effects::new())
}

async fn reserve_with(event: Message<Paid>, reads: Reads, app: Arc<App>) -> Result<Effects, HandlerError> {
    let _ = (event, reads, app);
    Ok(Effects::new())
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

#[test]
fn both_shapes_are_taken() {
    Consumer::builder("c", store()).inbox("inbox").on(reserve).build().unwrap();
    Consumer::builder("c", store()).inbox("inbox").state(Arc::new(App)).on(reserve).build().unwrap();
    Consumer::builder("c", store()).inbox("inbox").state(Arc::new(App)).on(reserve_with).build().unwrap();
}

#[test]
fn a_consumer_that_cannot_work_is_not_built() {
    let builder = || Consumer::builder("c", store());
    assert!(matches!(builder().build(), Err(BuildError::NoHandler(_))));
    assert!(matches!(builder().on(reserve).build(), Err(BuildError::NoInbox(_))));
    assert!(matches!(Consumer::builder("", store()).inbox("i").on(reserve).build(), Err(BuildError::NoName)));
    let twice = builder().inbox("inbox").on(reserve).on(reserve).build();
    assert!(matches!(twice, Err(BuildError::Twice { event_type: "Paid", .. })));
    let late = builder().inbox("inbox").on(reserve).state(Arc::new(App)).on(reserve_with).build();
    assert!(matches!(late, Err(BuildError::LateState(_))));
}
