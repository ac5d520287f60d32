//! Connects to a database with a deadline. The thread of the store drives the connections.

use std::io;
use std::sync::mpsc;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, NoTls, Socket};

use super::address::{Address, Security};
use super::problem::unreachable;
use super::{schema, wait};
use crate::server::{Connector, Deadline, Problem};
use repertoire::{Error, ErrorCode};

/// A database, and the thread that drives the connections to it.
pub(super) struct Server {
    address: Address,
    runtime: Handle,
    /// Ends the thread when the store is dropped.
    _stop: oneshot::Sender<()>,
}

/// A connection to a database whose tables have this version.
pub(super) struct Connection {
    pub(super) client: Client,
    /// True if old rows are due to be deleted.
    pub(super) is_sweep_due: bool,
}

impl Server {
    /// Starts the thread.
    pub(super) fn new(address: Address) -> Result<Server, Error> {
        let failed = |error: io::Error| {
            let message = format!("cannot start the thread of a session store: {error}");
            Error::new(ErrorCode::ExecutionError, message, "end other programs").with_source(error)
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let drive = move || {
            // A result of either kind means that the store was dropped.
            let _ = runtime.block_on(stopped);
        };
        thread::Builder::new()
            .name("repertoire-postgres".to_owned())
            .spawn(drive)
            .map_err(failed)?;
        Ok(Server { address, runtime: handle, _stop: stop })
    }
}

impl Connector for Server {
    type Connection = Connection;

    fn connect(&self, deadline: Deadline) -> Result<Connection, Problem> {
        let (runtime, address) = (&self.runtime, &self.address);
        let mut client = match &address.security {
            Security::None => connect_with(runtime, address, NoTls, deadline)?,
            #[cfg(feature = "tls")]
            Security::Tls(tls) => connect_with(runtime, address, tls.clone(), deadline)?,
        };
        let is_sweep_due = wait::until(deadline, schema::prepare(&mut client))?;
        Ok(Connection { client, is_sweep_due })
    }

    fn is_open(connection: &Connection) -> bool {
        !connection.client.is_closed()
    }
}

/// Opens a connection, which the thread of `runtime` drives.
fn connect_with<T>(
    runtime: &Handle,
    address: &Address,
    tls: T,
    deadline: Deadline,
) -> Result<Client, Problem>
where
    T: MakeTlsConnect<Socket> + Send + 'static,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as tokio_postgres::tls::TlsConnect<Socket>>::Future: Send,
{
    let (send, receive) = mpsc::sync_channel(1);
    let config = address.config.clone();
    runtime.spawn(async move {
        match timeout(deadline.left(), config.connect(tls)).await {
            Ok(Ok((client, connection))) => {
                // If the caller no longer waits, the client is dropped and the connection ends.
                let _ = send.send(Ok(client));
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection to the session store ended");
                }
            }
            Ok(Err(error)) => drop(send.send(Err(unreachable(error)))),
            Err(_) => drop(send.send(Err(Problem::Late))),
        }
    });
    receive.recv_timeout(deadline.left()).unwrap_or(Err(Problem::Late))
}
