//! Effects that a handler forgets to return are a warning, which a careful crate makes an error.

#![deny(unused_must_use)]

use aws_sdk_dynamodb::types::Update;
use oncebox::consumer::HandlerError;
use oncebox::effect::{Effects, Reads, Upsert};
use oncebox::event::Message;
use oncebox::store::Item;
use oncebox_tests::{Paid, aws_sdk_dynamodb, oncebox};

async fn forgets(_: Message<Paid>, _: Reads) -> Result<Effects, HandlerError> {
    let update = Update::builder().table_name("accounts").build()?;
    let effects = Effects::new();
    Effects::new().update(update);
    Upsert::if_newer("status", Item::new(), 1);
    Ok(effects)
}

fn main() {}
