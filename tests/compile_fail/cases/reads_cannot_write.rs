//! What a handler is given reads, and leads to no client and no store.

use oncebox::consumer::HandlerError;
use oncebox::effect::{Effects, Reads};
use oncebox::event::Message;
use oncebox::store::Item;
use oncebox_tests::{Paid, oncebox};

async fn writes(event: Message<Paid>, reads: Reads) -> Result<Effects, HandlerError> {
    reads.put("accounts", Item::new()).await?;
    reads.store.delete_batch("accounts", vec![Item::new()]).await?;
    event.client().put_item().send().await?;
    Ok(Effects::new())
}

fn main() {}
