//! The options of stores on servers.

use std::time::Duration;

/// The options of a store on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The longest time for one call of the store, connecting included; 2 seconds by default. A call
    /// that takes longer fails with `TIMEOUT`.
    pub timeout: Duration,
    /// The largest number of connections that are open at once, at least 1; 8 by default. Further
    /// calls wait for one of them.
    pub connections: usize,
    /// The age after which an idle session is forgotten, by the clock of the server; 30 days by
    /// default, a second at least.
    pub keeps: Duration,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            timeout: Duration::from_secs(2),
            connections: 8,
            keeps: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

#[cfg(any(feature = "postgres", feature = "redis"))]
impl ServerOptions {
    /// The age after which an idle session is forgotten, in whole seconds.
    pub(crate) fn keeps_seconds(&self) -> i32 {
        i32::try_from(self.keeps.as_secs()).unwrap_or(i32::MAX).max(1)
    }
}
