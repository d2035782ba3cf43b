use std::time::Duration;

use futures::future::BoxFuture;
use oncebox::effect::remote::{NoReply, Outgoing, Reply, Transport};

use super::ledger::Asked;
use super::{Behave, Behaviour, Ledger, Shared, lock};

/// The same provider without a network, for tests on paused time. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct MemoryProvider(Shared);

impl MemoryProvider {
    /// Tells it how to behave.
    pub fn behave(&self, behave: Behave) {
        lock(&self.0).behave(behave);
    }

    /// What it was asked and did.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        lock(&self.0).ledger.clone()
    }
}

impl Transport for MemoryProvider {
    fn send<'a>(
        &'a self,
        request: &'a Outgoing,
        _within: Duration,
        _max_body: usize,
    ) -> BoxFuture<'a, Result<Reply, NoReply>> {
        let header =
            |wanted: &str| request.headers().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        let asked = Asked {
            key: header("idempotency-key").map(str::to_owned),
            path: request.url().to_owned(),
            body: request.bytes().to_vec(),
            authorized: header("authorization").is_some(),
        };
        Box::pin(async move {
            let given = lock(&self.0).ask(&asked);
            match given.behaviour {
                Behaviour::Late { ms } => tokio::time::sleep(Duration::from_millis(ms)).await,
                Behaviour::Hang { .. } => std::future::pending().await,
                Behaviour::Cut { .. } => return Err(NoReply::Lost("the connection was cut".into())),
                _ => {}
            }
            let reply = Reply::new(given.status, given.body);
            Ok(given.headers.into_iter().fold(reply, |reply, (name, value)| reply.with_header(name, value)))
        })
    }
}
