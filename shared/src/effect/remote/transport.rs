use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;

use super::request::check_header;
use super::{Method, Reply, Request};
use crate::consumer::HandlerError;

/// Sends requests. [`HttpTransport`](super::HttpTransport) is the real one; a test scripts another.
///
/// One call is one attempt: a transport neither sends again nor follows a redirect.
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Sends `request` and reads the answer, in no more than `within`, and of its body no more than `max_body` bytes
    /// ([`Reply::cut_short`] where there were more).
    ///
    /// # Errors
    /// [`NoReply`] says whether the provider may have got the request.
    fn send<'a>(
        &'a self,
        request: &'a Outgoing,
        within: Duration,
        max_body: usize,
    ) -> BoxFuture<'a, Result<Reply, NoReply>>;
}

/// A call that brought no answer. Its text is logged and stored, so it holds neither URL nor content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoReply {
    /// No connection came about, so that the provider has not got the request: definitely not done.
    #[error("no connection to the provider")]
    NotSent(#[source] Box<dyn StdError + Send + Sync>),
    /// The request, or a part of it, was sent, and no whole answer came: it may have been done.
    #[error("the provider did not answer")]
    Lost(#[source] Box<dyn StdError + Send + Sync>),
}

/// A request on its way: the frozen one, the idempotency key and the credentials. It is never stored.
pub struct Outgoing {
    request: Request,
    added: Vec<(String, String)>,
}

impl Outgoing {
    pub(crate) fn new(request: Request) -> Self {
        Self { request, added: Vec::new() }
    }

    /// Adds a header that is sent and not stored; it replaces one of the same name.
    ///
    /// # Errors
    /// Permanent, when HTTP does not allow it. The value is not repeated.
    pub fn header(&mut self, name: &str, value: impl Into<String>) -> Result<(), HandlerError> {
        let (name, value) = (name.to_ascii_lowercase(), value.into());
        check_header(&name, &value).map_err(HandlerError::permanent)?;
        self.added.retain(|(other, _)| *other != name);
        self.added.push((name, value));
        Ok(())
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.request.method
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.request.url
    }

    /// All headers, names in lower case.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let replaced = |name: &String| self.added.iter().any(|(added, _)| added == name);
        let frozen = self.request.headers.iter().filter(move |(name, _)| !replaced(name));
        frozen.chain(&self.added).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The body's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.request.body
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}

/// Adds credentials to a request that is about to be sent. They are never stored and never logged.
///
/// # Examples
/// A closure will do where the secret is at hand:
/// ```
/// use oncebox::effect::remote::{Credentials, Outgoing};
///
/// fn bearer(secret: String) -> impl Credentials {
///     move |request: &mut Outgoing| request.header("authorization", format!("Bearer {secret}"))
/// }
/// # drop(bearer("s".into()));
/// ```
pub trait Credentials: Send + Sync + 'static {
    /// Adds them. It may wait, for a secret that has to be fetched.
    ///
    /// # Errors
    /// Nothing is sent then: the event is transient, or permanent if the error says so.
    fn add<'a>(&'a self, request: &'a mut Outgoing) -> BoxFuture<'a, Result<(), HandlerError>>;
}

impl<F> Credentials for F
where
    F: Fn(&mut Outgoing) -> Result<(), HandlerError> + Send + Sync + 'static,
{
    fn add<'a>(&'a self, request: &'a mut Outgoing) -> BoxFuture<'a, Result<(), HandlerError>> {
        Box::pin(async move { self(request) })
    }
}
