use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::redirect::Policy;
use reqwest::retry;

use super::{Method, NoReply, Outgoing, Reply, Transport};

/// HTTP over reqwest, on the SDK's HTTP stack and TLS library.
///
/// It follows no redirect, sends nothing a second time, takes no proxy from the environment, and opens a connection for each call: one that was left open while
/// the function was frozen is often dead, and a request that is lost on it counts as unknown.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    client: reqwest::Client,
}

/// The HTTP client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client for remote effects cannot be set up")]
pub struct TransportError(#[source] reqwest::Error);

impl HttpTransport {
    /// Time for one connection to come about.
    const CONNECT: Duration = Duration::from_secs(5);

    /// A client with the machine's root certificates.
    ///
    /// # Errors
    /// [`TransportError`], where there are none.
    pub fn new() -> Result<Self, TransportError> {
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .pool_max_idle_per_host(0)
            .connect_timeout(Self::CONNECT)
            .build()
            .map_err(TransportError)?;
        Ok(Self { client })
    }

    async fn call(&self, request: &Outgoing, within: Duration, max_body: usize) -> Result<Reply, NoReply> {
        let mut call = self.client.request(method(request.method()), request.url()).timeout(within);
        for (name, value) in request.headers() {
            call = call.header(name, value);
        }
        let mut answer = call.body(request.bytes().to_vec()).send().await.map_err(no_reply)?;
        let mut reply = Reply::new(answer.status().as_u16(), Vec::new());
        for (name, value) in answer.headers() {
            // A value that is no text is of no interest to anybody.
            if let Ok(value) = value.to_str() {
                reply = reply.with_header(name.as_str(), value);
            }
        }
        while let Some(chunk) = answer.chunk().await.map_err(no_reply)? {
            let room = max_body.saturating_sub(reply.body.len());
            reply.body.extend(chunk.iter().take(room));
            if chunk.len() > room {
                return Ok(reply.cut_short());
            }
        }
        Ok(reply)
    }
}

impl Transport for HttpTransport {
    fn send<'a>(
        &'a self,
        request: &'a Outgoing,
        within: Duration,
        max_body: usize,
    ) -> BoxFuture<'a, Result<Reply, NoReply>> {
        Box::pin(self.call(request, within, max_body))
    }
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}

/// A request is written only once there is a connection, TLS included.
fn no_reply(error: reqwest::Error) -> NoReply {
    let never_sent = error.is_connect() || error.is_builder();
    // The URL is payload.
    let error = Box::new(error.without_url());
    if never_sent { NoReply::NotSent(error) } else { NoReply::Lost(error) }
}
