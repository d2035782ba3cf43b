use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;

use crate::effect::remote::{NoReply, Outgoing, Reply, Transport};

/// A provider that answers what a test tells it to, and 200 with an empty body once its script is spent. Clones are one.
///
/// ```
/// use std::sync::Arc;
///
/// use oncebox::effect::remote::{Provider, Reply};
/// use oncebox::testing::{ScriptedTransport, Sends};
///
/// let transport = ScriptedTransport::default();
/// transport.on_send(Sends::Reply(Reply::new(503, ""))).on_send(Sends::Lost);
/// let provider = Provider::new("remote", Arc::new(transport.clone()));
/// # drop(provider);
/// assert_eq!(transport.pending(), 2);
/// assert!(transport.sent().is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ScriptedTransport(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<Sends>,
    sent: Vec<Sent>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sends {
    /// It is answered.
    Reply(Reply),
    /// It is answered after a while.
    After(Duration, Reply),
    /// No connection comes about ([`NoReply::NotSent`]).
    NotSent,
    /// It is sent, and no answer comes ([`NoReply::Lost`]).
    Lost,
    /// It is sent, and nothing comes for ever.
    Hangs,
}

/// A request that a [`ScriptedTransport`] was given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// The method's name.
    pub method: &'static str,
    /// The URL.
    pub url: String,
    /// All headers, names in lower case, credentials included.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The time that it was given.
    pub within: Duration,
}

impl Sent {
    /// A header's value; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The source of scripted errors.
#[derive(Debug, thiserror::Error)]
#[error("scripted by the test")]
struct Scripted;

impl ScriptedTransport {
    /// Adds what becomes of a later request.
    pub fn on_send(&self, answer: Sends) -> &Self {
        self.lock().answers.push_back(answer);
        self
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        self.lock().sent.clone()
    }

    /// How many answers are still waiting.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.lock().answers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    fn send<'a>(
        &'a self,
        request: &'a Outgoing,
        within: Duration,
        _max_body: usize,
    ) -> BoxFuture<'a, Result<Reply, NoReply>> {
        let headers = request.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sent = Sent {
            method: request.method().as_str(),
            url: request.url().to_owned(),
            headers: headers.collect(),
            body: request.bytes().to_vec(),
            within,
        };
        let mut script = self.lock();
        script.sent.push(sent);
        let answer = script.answers.pop_front().unwrap_or_else(|| Sends::Reply(Reply::new(200, "")));
        drop(script);
        Box::pin(async move {
            match answer {
                Sends::Reply(reply) => Ok(reply),
                Sends::After(span, reply) => {
                    tokio::time::sleep(span).await;
                    Ok(reply)
                }
                Sends::NotSent => Err(NoReply::NotSent(Scripted.into())),
                Sends::Lost => Err(NoReply::Lost(Scripted.into())),
                Sends::Hangs => futures::future::pending().await,
            }
        })
    }
}
