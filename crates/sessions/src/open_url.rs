//! Opens the store that an address names by its scheme.

use std::sync::Arc;

use super::options::ServerOptions;
use repertoire::session::SessionStore;
use repertoire::{Error, ErrorCode};

/// Creates a store on the server at `url`, by its scheme: `postgres://` or `postgresql://`, `redis://`,
/// or `rediss://` for TLS. It connects with the first call.
///
/// Fails with `INVALID_PARAM` if `url` is not the address of a server, or if this build lacks the
/// feature for it.
pub fn open_url(url: &str, options: ServerOptions) -> Result<Arc<dyn SessionStore>, Error> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Arc::new(super::PostgresStore::open_with(url, options)?)),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(lacking("PostgreSQL", "postgres", options)),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => Ok(Arc::new(super::RedisStore::open_with(url, options)?)),
        #[cfg(not(feature = "redis"))]
        "redis" | "rediss" => Err(lacking("Redis", "redis", options)),
        _ => {
            let message = "the address of the session store is of an unknown kind";
            let help = "begin it with `postgres://` or `redis://`";
            Err(Error::new(ErrorCode::InvalidParam, message, help))
        }
    }
}

#[cfg(not(all(feature = "postgres", feature = "redis")))]
fn lacking(server: &str, feature: &str, _: ServerOptions) -> Error {
    let message = format!("the session store is in {server}, which this build cannot use");
    let help = format!("build with the feature `{feature}`");
    Error::new(ErrorCode::InvalidParam, message, help)
}
