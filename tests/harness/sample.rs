use std::borrow::Cow;

use oncebox::event::Event;
use serde::{Deserialize, Serialize};

/// An event for tests that need any.
#[derive(Debug, Serialize, Deserialize)]
pub struct Paid {
    /// Who paid.
    pub account: String,
}

impl Event for Paid {
    const TYPE: &'static str = "Paid";
    const AGGREGATE_TYPE: &'static str = "Account";

    fn aggregate_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.account)
    }
}
