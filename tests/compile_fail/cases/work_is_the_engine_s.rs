//! A handler cannot hand the engine work that the engine does not know the meaning of.

use oncebox::consumer::HandlerError;
use oncebox::effect::{Effects, Outcome, Work};
use oncebox_tests::{Paid, oncebox};

struct WithoutInbox(Effects);

impl Outcome for WithoutInbox {}

fn admitted(event: Paid) -> oncebox::consumer::engine::Admitted<'static, Paid> {
    todo!()
}

fn work(effects: Effects) -> Result<Work, HandlerError> {
    Ok(Work::Transaction(effects))
}

fn main() {}
