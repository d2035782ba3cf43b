use std::fmt;
use std::sync::Arc;

use super::{Credentials, Transport};

/// Where a consumer's remote effects go: the table of "started" rows, the transport, and the credentials.
///
/// The table has the string keys `pk` and `sk`, and no TTL: a "started" row must outlive everything that could bring its
/// event back. It goes with the commit of the event's effect, with a call that was definitely not done, or when a person
/// resolves it; what is left are the calls that are under way or wait for a person.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use oncebox::effect::remote::{HttpTransport, Outgoing, Provider};
///
/// # fn provider(secret: String) -> Result<Provider, oncebox::effect::remote::TransportError> {
/// let provider = Provider::new("remote", Arc::new(HttpTransport::new()?))
///     .credentials(move |request: &mut Outgoing| request.header("authorization", format!("Bearer {secret}")));
/// # Ok(provider) }
/// ```
#[derive(Clone)]
pub struct Provider {
    pub(crate) table: Arc<str>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
}

impl Provider {
    /// Without credentials.
    #[must_use]
    pub fn new(table: impl Into<Arc<str>>, transport: Arc<dyn Transport>) -> Self {
        Self { table: table.into(), transport, credentials: None }
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
