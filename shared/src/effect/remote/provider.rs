use std::fmt;
use std::sync::Arc;

use super::{Credentials, Outgoing, Transport};

/// Where a consumer's remote effects go: the table of "started" rows, the transport, and the credentials.
///
/// The table has the string keys `pk` and `sk`, and no TTL: a "started" row must outlive everything that could bring its
/// event back. It goes with the commit of the event's effect, with a call that was definitely not done, or when a person
/// resolves it; what is left are the calls that are under way or wait for a person.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use oncebox::effect::remote::{HttpTransport, Provider};
///
/// # fn provider(secret: String) -> Result<Provider, oncebox::effect::remote::TransportError> {
/// let provider = Provider::new("remote", Arc::new(HttpTransport::new()?)).bearer(secret);
/// # Ok(provider) }
/// ```
#[derive(Clone)]
pub struct Provider {
    pub(crate) table: Arc<str>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) plain_http: bool,
}

impl Provider {
    /// Without credentials.
    #[must_use]
    pub fn new(table: impl Into<Arc<str>>, transport: Arc<dyn Transport>) -> Self {
        Self { table: table.into(), transport, credentials: None, plain_http: false }
    }

    /// With a bearer token ([RFC 6750](https://www.rfc-editor.org/rfc/rfc6750)) for each request. A token that no header can
    /// hold makes each event permanent; [`Config`](super::Config) finds it at start.
    #[must_use]
    pub fn bearer(self, token: impl Into<String>) -> Self {
        let value = format!("Bearer {}", token.into());
        self.credentials(move |request: &mut Outgoing| request.header("authorization", value.as_str()))
    }

    /// Calls over `http://` to other machines too: for a network in which nobody else can listen. Default: such a request is
    /// refused before any call, and the event is permanent.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// What adds the credentials to each request, just before it is sent.
    #[must_use]
    pub fn credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("table", &self.table).finish_non_exhaustive()
    }
}
