//! The clients of an HTTP server: their tokens, and the skills that each sees.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest as _, Sha256};

use super::metrics::Metrics;
use super::session_id::{IdKey, unique_name};
use super::session_limit::Running;
use super::{McpOptions, McpServer};
use repertoire::engine::Engine;
use repertoire::{Error, ErrorCode};

/// The minimum length of a token, in bytes.
const MIN_TOKEN: usize = 16;

/// The SHA-256 of a token. Only digests are kept and compared.
type Digest = [u8; 32];

/// A client of an HTTP server, or all clients with the same token.
///
/// Its engine decides which skills it sees: two clients with different [allowlists](repertoire::Allowlist)
/// have two [views](Engine::view) of one engine.
pub struct HttpClient {
    pub(super) name: String,
    digest: Digest,
    /// The key of the ids of this client's sessions.
    pub(super) key: IdKey,
    /// The engine with the skills that the client sees.
    pub(super) engine: Engine,
    options: McpOptions,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HttpClient {
    /// Creates a client that has `token` and sees the skills of `engine`. Metrics and logs have its
    /// `name`, never its token.
    ///
    /// Fails with `INVALID_PARAM` if the token has fewer than 16 bytes, or characters other than ASCII
    /// letters, digits and punctuation.
    pub fn new(
        name: &str,
        token: &str,
        engine: &Engine,
        options: McpOptions,
    ) -> Result<HttpClient, Error> {
        check_token(token)?;
        let digest: Digest = Sha256::digest(token).into();
        Ok(HttpClient {
            name: name.to_owned(),
            digest,
            key: IdKey::derive(token.as_bytes()),
            engine: engine.clone(),
            options,
        })
    }

    /// Creates a server for a connection. The server continues the stored session `name`; without a
    /// name, it has a new session that ends with the connection. It counts its running calls in `calls`.
    pub(super) fn server(
        &self,
        name: Option<&str>,
        metrics: &Arc<Metrics>,
        calls: Running,
    ) -> McpServer {
        let options = self.options.clone();
        let (is_owner, metrics) = (name.is_none(), Some(Arc::clone(metrics)));
        let session = match name {
            Some(name) => self.engine.session(name),
            None => self.engine.session(&unique_name()),
        };
        McpServer::create(&self.engine, session, options, is_owner, metrics, calls)
    }
}

/// Checks that a client may have this token, so that a host can refuse it before serving.
///
/// Fails with `INVALID_PARAM` if the token has fewer than 16 bytes, or characters other than ASCII
/// letters, digits and punctuation.
pub fn check_token(token: &str) -> Result<(), Error> {
    let help = "use 16 bytes or more, such as the output of `openssl rand -hex 32`";
    let refuse = |message| Err(Error::new(ErrorCode::InvalidParam, message, help));
    if token.len() < MIN_TOKEN {
        return refuse(format!("a token of {} bytes can be guessed", token.len()));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse(
            "a token may contain only ASCII letters, digits and punctuation, no blanks".to_owned(),
        );
    }
    Ok(())
}

/// Checks that there is a client, and that no two clients have the same token.
pub(super) fn check(clients: &[HttpClient]) -> Result<(), Error> {
    let digests: BTreeSet<&Digest> = clients.iter().map(|client| &client.digest).collect();
    let message = match clients.len() {
        0 => "there is no client",
        n if digests.len() < n => "two clients have the same token",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorCode::InvalidParam, message, "give each client a token of its own"))
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    NoToken,
    WrongToken,
}

/// Finds the client whose token is in the headers. To take the same time for every token, compares all
/// digests, each in full.
pub(super) fn authorize<'c>(
    headers: &HeaderMap,
    clients: &'c [Arc<HttpClient>],
) -> Result<&'c Arc<HttpClient>, Refused> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else { return Err(Refused::NoToken) };
    let credentials = only.to_str().ok().and_then(|value| value.split_once(' '));
    let Some((_, token)) = credentials.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
    else {
        return Err(Refused::NoToken);
    };
    let given: Digest = Sha256::digest(token.trim()).into();
    let mut found = None;
    for client in clients {
        let differences = client.digest.iter().zip(&given).fold(0, |all, (a, b)| all | (a ^ b));
        if differences == 0 {
            found = Some(client);
        }
    }
    found.ok_or(Refused::WrongToken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_once_is_good() {
        let engine = Engine::builder().build().unwrap();
        let tokens = ["fedcba9876543210", "0123456789abcdef"];
        let client =
            |token| Arc::new(HttpClient::new("t", token, &engine, McpOptions::default()).unwrap());
        let clients = tokens.map(client);
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            let found = authorize(&headers, &clients)?;
            Ok(clients.iter().position(|client| Arc::ptr_eq(client, found)).unwrap())
        };
        assert_eq!(with(&["Bearer 0123456789abcdef"]), Ok(1));
        assert_eq!(with(&["bearer  fedcba9876543210 "]), Ok(0));
        for (wrong, why) in [
            (&[][..], Refused::NoToken),
            (&["0123456789abcdef"], Refused::NoToken),
            (&["Bearer"], Refused::NoToken),
            (&["Bearer "], Refused::WrongToken),
            (&["Basic 0123456789abcdef"], Refused::NoToken),
            (&["Bearer 0123456789abcde"], Refused::WrongToken),
            (&["Bearer 0123456789abcdef0"], Refused::WrongToken),
            (&["Bearer 0123456789abcdeF"], Refused::WrongToken),
            (&["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"], Refused::NoToken),
        ] {
            assert_eq!(with(wrong), Err(why), "{wrong:?}");
        }
    }

    #[test]
    fn clients_need_tokens_of_their_own() {
        let engine = Engine::builder().build().unwrap();
        let client = |token| HttpClient::new("t", token, &engine, McpOptions::default());
        check(&[client("0123456789abcdef").unwrap(), client("fedcba9876543210").unwrap()]).unwrap();
        check(&[client("0123456789abcdef").unwrap(), client("0123456789abcdef").unwrap()])
            .unwrap_err();
        check(&[]).unwrap_err();
        client("too short").unwrap_err();
    }
}
