use std::fmt;

use serde::de::DeserializeOwned;

use crate::consumer::HandlerError;

/// Bytes of a kept header's value, and how many headers are kept.
const MAX_HEADER: usize = 1024;
const MAX_HEADERS: usize = 8;

/// A provider's answer.
///
/// Its body is bounded: what is beyond the limit ([`Remote::max_reply`](super::Remote::max_reply)) is not read.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) truncated: bool,
}

impl Reply {
    /// An answer; for transports, tests, and for a person who knows what the provider did.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), truncated: false }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into().to_ascii_lowercase(), value.into()));
        self
    }

    /// Says that the body had more bytes than were read.
    #[must_use]
    pub fn cut_short(mut self) -> Self {
        self.truncated = true;
        self
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header that [`Remote::keep_headers`](super::Remote::keep_headers) names; `name` in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body's bytes, up to the limit.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Whether the body had more bytes than were read.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// Permanent, when it is not what `T` wants, or was cut: the same call brings the same answer. The words name the
    /// place, never the content.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HandlerError> {
        if self.truncated {
            let bytes = self.body.len();
            return Err(HandlerError::permanent(format!(
                "the provider's answer is longer than {bytes} bytes"
            )));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            HandlerError::permanent(format!(
                "the provider's answer is not the JSON that is expected (line {line}, column {column})"
            ))
        })
    }

    /// Only what the caller wants to keep of it.
    pub(crate) fn within(mut self, max_body: usize, keep: &[String]) -> Self {
        if self.body.len() > max_body {
            self.body.truncate(max_body);
            self.truncated = true;
        }
        self.headers
            .retain(|(name, value)| value.len() <= MAX_HEADER && keep.iter().any(|kept| kept == name));
        self.headers.truncate(MAX_HEADERS);
        self
    }
}

/// Without headers' values and body: they are payload.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .field("truncated", &self.truncated)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_to_what_is_kept_and_says_so() {
        let reply =
            Reply::new(201, "0123456789").with_header("Location", "/1").with_header("Set-Cookie", "x");
        let kept = reply.clone().within(10, &["location".to_owned()]);
        assert_eq!((kept.header("LOCATION"), kept.header("set-cookie")), (Some("/1"), None));
        assert!(!kept.is_truncated());
        let cut = reply.within(4, &[]);
        assert_eq!((cut.bytes(), cut.is_truncated()), (&b"0123"[..], true));
        assert!(cut.json::<u32>().is_err_and(|error| error.is_permanent()));
    }

    #[test]
    fn nothing_of_the_payload_is_in_the_debug_text_or_in_an_error() {
        let reply = Reply::new(200, r#"{"card":"secret"}"#).with_header("x", "secret");
        assert!(!format!("{reply:?}").contains("secret"));
        assert!(!reply.json::<Vec<u8>>().unwrap_err().to_string().contains("secret"));
    }
}
