//! Two ways to do it wrong, for the demo's auditor to find: `SABOTAGE=no-inbox` takes no notice of the inbox
//! key, and `SABOTAGE=ack-first` deletes the message before the commit and dies in between, 3 times.

use std::sync::Arc;

use oncebox::fault::{self, Sabotage};

/// What `SABOTAGE` asks for.
#[must_use]
pub fn sabotage() -> Sabotage {
    match std::env::var("SABOTAGE").as_deref() {
        Ok("no-inbox") => Sabotage { no_inbox: true, before_commit: None },
        Ok("ack-first") => Sabotage {
            no_inbox: false,
            before_commit: Some(Arc::new(|receipt| Box::pin(ack_and_die(receipt)))),
        },
        _ => Sabotage::default(),
    }
}

async fn ack_and_die(receipt: Option<String>) {
    if !fault::claim("ack-first", 3) {
        return;
    }
    let sqs = aws_sdk_sqs::Client::new(&oncebox::aws::config().await);
    let queue = std::env::var("QUEUE_URL").unwrap_or_default();
    let _ = sqs.delete_message().queue_url(queue).set_receipt_handle(receipt).send().await;
    std::process::abort();
}
