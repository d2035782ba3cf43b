//! A provider such as those that charge cards and send mails, with a ledger of what it did.

mod behaviour;
mod http;
mod ledger;
mod memory;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::net;
use tokio::runtime;
use tokio::sync::oneshot;

pub use behaviour::{Behave, Behaviour};
pub use ledger::{Entry, Ledger, Work};
pub use memory::MemoryProvider;

use crate::StartError;
use ledger::Books;

type Shared = Arc<Mutex<Books>>;

fn lock(books: &Shared) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A provider over HTTP on a free port of 127.0.0.1; it ends with the value.
///
/// `POST /behave` takes a [`Behave`] as JSON, `GET /ledger` answers a [`Ledger`], `POST /reset` forgets all. Every other
/// path is a request to the provider. It has a thread and a runtime of its own, so that a test may stop its own time.
#[derive(Debug)]
pub struct ProviderStandIn {
    address: SocketAddr,
    books: Shared,
    /// Dropped to stop the server.
    _stop: oneshot::Sender<()>,
}

impl ProviderStandIn {
    /// Starts one that honours keys and answers 200.
    ///
    /// # Errors
    /// [`StartError::Io`] when there is no port or no thread.
    pub fn start() -> Result<Self, StartError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let books = Shared::default();
        let served = Arc::clone(&books);
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("provider".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = http::serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, books, _stop: stop })
    }

    /// Its base URL, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Tells it how to behave.
    pub fn behave(&self, behave: Behave) {
        lock(&self.books).behave(behave);
    }

    /// What it was asked and did.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        lock(&self.books).ledger.clone()
    }
}
