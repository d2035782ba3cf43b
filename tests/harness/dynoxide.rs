use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use dynoxide::{Database, server};
use tokio::net;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::StartError;

/// Dynoxide, an emulator of DynamoDB inside this process; it ends with the value.
///
/// It has a thread and a runtime of its own, so that a test may stop the time of its own runtime.
#[derive(Debug)]
pub struct Dynoxide {
    address: SocketAddr,
    /// Dropped to stop the server.
    _stop: oneshot::Sender<()>,
}

impl Dynoxide {
    /// Serves an empty database on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`StartError::Io`] when there is no port, no thread or no database.
    pub fn start() -> Result<Self, StartError> {
        let database = Database::memory().map_err(|error| io::Error::other(error.to_string()))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("dynoxide".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = server::serve_on(listener, database) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, _stop: stop })
    }

    /// Where it listens, for an SDK client.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}
