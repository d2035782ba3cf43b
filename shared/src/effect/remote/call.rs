use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{self, BoxFuture};

use super::{Reply, Request};
use crate::consumer::HandlerError;
use crate::effect::{Effects, Reads};

/// Bytes of a reply's body that may be kept beside the request, in one item of at most 400 KB.
const MAX_REPLY: usize = 128 * 1024;

/// Turns an answer into effects; can be run again.
type Then = Arc<dyn Fn(Reply, Reads) -> BoxFuture<'static, Result<Effects, HandlerError>> + Send + Sync>;

/// An HTTP call as an event's effect, and what follows from its answer. A handler returns it like
/// [`Effects`]; the engine makes the call.
///
/// See the [module](super) for what is promised, and for an example.
#[must_use = "a call happens only when the handler returns it"]
pub struct Remote {
    pub(crate) request: Request,
    pub(crate) kind: Kind,
    pub(crate) timeout: Duration,
    pub(crate) max_reply: usize,
    pub(crate) keep: Vec<String>,
    pub(crate) results: Vec<u16>,
    pub(crate) not_done: Vec<u16>,
    then: Then,
}

/// What the provider can be relied on for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It answers a key that it knows with its first answer.
    Keyed { header: String, lifetime: Duration },
    /// Every request is a new one.
    Unkeyed(OnUnknown),
}

/// What becomes of an event whose call may or may not have been done, where the provider cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// It is quarantined with reason `unknown`, and not called again until a person has said what happened
    /// ([`StartedCalls::resolve`](super::StartedCalls::resolve)). At most once, and a person for the rest.
    Quarantine,
    /// It is called again: at least once. For what harms nobody when it comes twice.
    CallAgain,
}

impl Remote {
    /// A call to a provider that honours an idempotency key: every attempt sends `Idempotency-Key` with the event's id, and
    /// the bytes of the first attempt.
    ///
    /// `key_lifetime` is how long the provider says it remembers a key, counted here from before the first attempt. An
    /// attempt that would come later might be a second one to the provider: it is not made, and the event is quarantined
    /// as unknown.
    pub fn keyed(request: Request, key_lifetime: Duration) -> Self {
        let header = "idempotency-key".to_owned();
        Self::new(request, Kind::Keyed { header, lifetime: key_lifetime })
    }

    /// A call to a provider that knows no idempotency key. A crash or a lost answer leaves it unknown whether the call was
    /// done; `on_unknown` decides what happens then.
    pub fn unkeyed(request: Request, on_unknown: OnUnknown) -> Self {
        Self::new(request, Kind::Unkeyed(on_unknown))
    }

    fn new(request: Request, kind: Kind) -> Self {
        Self {
            request,
            kind,
            timeout: Duration::from_secs(10),
            max_reply: 64 * 1024,
            keep: Vec::new(),
            results: Vec::new(),
            not_done: Vec::new(),
            then: Arc::new(|_reply, _reads| Box::pin(future::ready(Ok(Effects::new())))),
        }
    }

    /// What follows from the answer: effects, committed with the inbox key. Default: none, the inbox key alone.
    ///
    /// It is pure, and may run more than once for one answer: when a condition of its effects is false, with fresh reads;
    /// and, where the answer is stored, in a later delivery. The request is never sent again for that. A transient error
    /// brings the event back, a permanent one quarantines it.
    pub fn then<F, Fut>(mut self, then: F) -> Self
    where
        F: Fn(Reply, Reads) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Effects, HandlerError>> + Send + 'static,
    {
        self.then = Arc::new(move |reply, reads| Box::pin(then(reply, reads)));
        self
    }

    /// Statuses that are a business result, such as 402 for a declined card: they are answers, and go to
    /// [`then`](Self::then) as 2xx does. Default: none.
    pub fn results(mut self, statuses: impl IntoIterator<Item = u16>) -> Self {
        self.results.extend(statuses);
        self
    }

    /// Statuses by which an unkeyed provider says that it has not done anything and may be asked again, such as 429 or 503:
    /// the event is transient, and its next delivery begins anew. Default: none. A keyed call does not need it.
    pub fn not_done(mut self, statuses: impl IntoIterator<Item = u16>) -> Self {
        self.not_done.extend(statuses);
        self
    }

    /// The longest wait for an answer. Default 10 s. What is left of the invocation, less a part for the commit, shortens
    /// it; a call that would have less than 1 s (or than `timeout`, if that is shorter) is not begun.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Bytes of the answer's body that are read. Default 64 KiB, at most 128 KiB.
    pub fn max_reply(mut self, bytes: usize) -> Self {
        self.max_reply = bytes.min(MAX_REPLY);
        self
    }

    /// Headers of the answer that [`then`](Self::then) needs. Default: none. At most 8 are kept, each of at most 1 KiB.
    pub fn keep_headers<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.keep.extend(names.into_iter().map(|name| name.into().to_ascii_lowercase()));
        self
    }

    /// The header that carries the key, where the provider has a name of its own for it. Default `Idempotency-Key`. An
    /// unkeyed call has none.
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        if let Kind::Keyed { header, .. } = &mut self.kind {
            *header = name.into().to_ascii_lowercase();
        }
        self
    }

    pub(crate) fn follow(
        &self,
        reply: Reply,
        reads: Reads,
    ) -> BoxFuture<'static, Result<Effects, HandlerError>> {
        (self.then)(reply, reads)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("request", &self.request)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
