use std::fmt;

use std::net::IpAddr;

use reqwest::Url;
use serde::Serialize;

use crate::consumer::HandlerError;

/// Bytes of a request's body. It is stored beside the answer, in one item of at most 400 KB.
pub const MAX_REQUEST_BODY: usize = 128 * 1024;
/// Bytes of URL and headers together.
const MAX_HEAD: usize = 16 * 1024;
/// What may not stand in a request that is stored: credentials, and what the engine or the transport sets.
const REFUSED: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "idempotency-key",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
];

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Method {
    const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

/// An HTTP request that is frozen before its first attempt: every later attempt sends these bytes.
///
/// It is stored, so it holds no credentials: those are added when it is sent, by
/// [`Credentials`](super::Credentials). Body: at most 128 KiB; URL and headers together: at most 16 KiB.
///
/// # Examples
/// ```
/// use oncebox::effect::remote::{Method, Request};
///
/// # fn request() -> Result<Request, oncebox::consumer::HandlerError> {
/// let body = serde_json::json!({ "order": "o-1", "amount_cents": 1250 });
/// let request = Request::new(Method::Post, "https://pay.example/captures").header("accept-version", "2").json(&body)?;
/// # Ok(request) }
/// assert_eq!(request().map(|request| request.url().to_owned()).ok().as_deref(), Some("https://pay.example/captures"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// A request without a body. `url` begins with `https://` and has no user or password in it. `http://` is for this machine
    /// (`localhost`, `127.0.0.0/8`, `[::1]`), and elsewhere only where
    /// [`Provider::allow_plain_http`](super::Provider::allow_plain_http) says so.
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// A `POST`.
    #[must_use]
    pub fn post(url: impl Into<String>) -> Self {
        Self::new(Method::Post, url)
    }

    /// Adds a header. Credentials and `idempotency-key` are refused, before any call: the event is permanent then.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into().to_ascii_lowercase(), value.into()));
        self
    }

    /// The body, as it is sent.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// A JSON body, with its `content-type`.
    ///
    /// # Errors
    /// Permanent, when `value` cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, HandlerError> {
        // serde_json's own message may quote the data.
        let body = serde_json::to_vec(value)
            .map_err(|_error| HandlerError::permanent("the request's body cannot be written as JSON"))?;
        Ok(self.header("content-type", "application/json").body(body))
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The headers, names in lower case.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// What makes it unfit to be stored and sent; no payload in the words.
    pub(crate) fn check(&self, plain_http: bool) -> Result<(), String> {
        check_url(&self.url, plain_http).map_err(|what| format!("the request's URL {what}"))?;
        for (name, value) in &self.headers {
            if REFUSED.contains(&name.as_str()) {
                return Err(format!(
                    "the request has the header {name:?}, which is not for storing: credentials, the idempotency key \
                     and the connection's own headers are added when it is sent"
                ));
            }
            check_header(name, value)?;
        }
        let head =
            self.headers.iter().fold(self.url.len(), |sum, (name, value)| sum + name.len() + value.len());
        if head > MAX_HEAD {
            return Err(format!("the request's URL and headers have {head} bytes, of at most {MAX_HEAD}"));
        }
        let body = self.body.len();
        if body > MAX_REQUEST_BODY {
            return Err(format!(
                "the request's body has {body} bytes, of at most {MAX_REQUEST_BODY}; send a reference in its place"
            ));
        }
        Ok(())
    }
}

/// What is wrong with a URL, as words that follow its name and do not repeat it. The parser is the one that the request is
/// sent with: two that differ about where the host ends could be told different ones.
pub(super) fn check_url(text: &str, plain_http: bool) -> Result<(), &'static str> {
    const NONE: &str = "is not an http or https URL in ASCII";
    let begins = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    // The parser overlooks slashes too many, and takes a backslash, which no URL has, for one.
    let odd = |byte: u8| !byte.is_ascii_graphic() || byte == b'\\';
    if begins.is_none_or(|rest| rest.starts_with('/')) || text.bytes().any(odd) {
        return Err(NONE);
    }
    let url = Url::parse(text).map_err(|_| NONE)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "holds a user or a password, which would be stored; credentials are added when it is sent",
        );
    }
    if url.scheme() == "http" && !plain_http && !url.host_str().is_some_and(is_loopback) {
        return Err(
            "begins with http://: body and credentials could be read on the way; use https, or allow plain http",
        );
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A header that HTTP allows; its value is not repeated.
pub(super) fn check_header(name: &str, value: &str) -> Result<(), String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err("a header's name has characters that HTTP does not allow".to_owned());
    }
    if !value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ' || byte == b'\t') {
        return Err(format!("the value of header {name:?} has characters that HTTP does not allow"));
    }
    Ok(())
}

/// Without URL, headers' values and body: they are payload.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("headers", &headers)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_be_stored_or_cannot_be_sent_is_found_before_any_call() {
        let post = || Request::post("https://pay.example/v1?x=1");
        assert_eq!(post().header("X-Trace", "a b").check(false), Ok(()));
        for unfit in [
            Request::post("ftp://pay.example"),
            Request::post("https:///captures"),
            Request::post("https://pay.example/ü"),
            Request::post("https://user:secret@pay.example/"),
            post().header("Authorization", "Bearer secret"),
            post().header("Idempotency-Key", "mine"),
            post().header("two words", "x"),
            post().header("x", "one\r\ntwo: 2"),
            post().header("x", "y".repeat(MAX_HEAD)),
            post().body(vec![0; MAX_REQUEST_BODY + 1]),
        ] {
            let why = unfit.check(true).unwrap_err();
            assert!(!why.contains("secret") && !why.contains("two: 2"), "{why}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_or_allowed() {
        for (url, here) in [
            ("http://127.8.9.1:80/x", true),
            ("http://localhost:9000", true),
            ("http://[::1]/", true),
            ("http://pay.example/", false),
            ("http://localhost.example/", false),
            ("http://127.0.0.1.example/", false),
            ("http://10.0.0.1/", false),
            ("http://0.0.0.0/", false),
            ("http://[::ffff:10.0.0.1]/", false),
        ] {
            assert_eq!((check_url(url, false).is_ok(), check_url(url, true)), (here, Ok(())), "{url}");
        }
        assert_eq!(check_url("https://pay.example/", false), Ok(()));
    }

    #[test]
    fn a_url_is_read_as_the_sender_reads_it() {
        for odd in [
            "https://pay.example\\@other.example/",
            "https://\\pay.example/",
            "https:////pay.example/",
            "https://pay.example:99999/",
            "https://[::1/",
            "https://:443/",
            "https://user%40pay.example/",
            "https://user:@pay.example/",
            "https://:word@pay.example/",
            "https://",
            "HTTP:pay.example",
        ] {
            let parsed = Url::parse(odd).ok().map(|url| url.host_str().map(str::to_owned));
            let fine = check_url(odd, true).is_ok();
            // Where it is taken, it goes to the host that is written there.
            assert!(!fine || parsed == Some(Some("pay.example".to_owned())), "{odd}: {parsed:?}");
        }
    }

    #[test]
    fn nothing_of_the_payload_is_in_the_debug_text() {
        let request = Request::post("https://pay.example/secret").header("x-a", "secret").body("secret");
        assert!(!format!("{request:?}").contains("secret"));
    }
}
