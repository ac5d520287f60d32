//! Connecting: on the thread of the pool, with a deadline.

use std::sync::mpsc;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, NoTls, Socket};

use super::address::{Address, Security};
use super::problem::Problem;
use super::wait::Deadline;

/// Opens a connection, which the thread of `runtime` drives.
pub(super) fn connect(
    runtime: &Handle,
    address: &Address,
    deadline: Deadline,
) -> Result<Client, Problem> {
    match &address.security {
        Security::None => connect_with(runtime, address, NoTls, deadline),
        #[cfg(feature = "tls")]
        Security::Tls(tls) => connect_with(runtime, address, tls.clone(), deadline),
    }
}

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
                // If nobody waits any longer, the client is dropped and the connection ends.
                let _ = send.send(Ok(client));
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection to the session store ended");
                }
            }
            Ok(Err(error)) => drop(send.send(Err(Problem::Unreachable(error)))),
            Err(_) => drop(send.send(Err(Problem::Late))),
        }
    });
    receive.recv_timeout(deadline.left()).unwrap_or(Err(Problem::Late))
}
