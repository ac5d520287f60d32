//! Connections to a server, and commands on them that keep a deadline.
//!
//! The client's own pipelines, including its handshake, restart the timeout for each answer. If a server
//! stopped answering, a call would take several times as long as it may.

use ::redis::{
    Client, Connection, ConnectionLike, FromRedisValue, Pipeline, RedisConnectionInfo, RedisError,
    Value,
};

use super::problem::problem;
use crate::server::{Connector, Deadline, Parameters, Problem};
use repertoire::{Error, ErrorCode};

/// The server that connections are made to.
#[derive(Debug)]
pub(super) struct Server {
    /// A client that connects without a password, and to the first database.
    client: Client,
    settings: RedisConnectionInfo,
}

impl Server {
    /// Parses a URL. The error for a malformed URL repeats no part of it, since any part could be a
    /// password.
    pub(super) fn at(url: &str) -> Result<Server, Error> {
        let client = client(url)?;
        let info = client.get_connection_info().clone();
        let settings = info.redis_settings().clone();
        let bare = RedisConnectionInfo::default().set_skip_set_lib_name();
        let client = Client::open(info.set_redis_settings(bare)).map_err(not_redis)?;
        Ok(Server { client, settings })
    }

    /// The address without its password.
    pub(super) fn shown(&self) -> String {
        let user = self.settings.username().map(|user| format!("{user}@")).unwrap_or_default();
        let addr = self.client.get_connection_info().addr();
        format!("redis://{user}{addr}/{}", self.settings.db())
    }

    /// Authenticates, and selects the database.
    fn begin(&self, connection: &mut Connection, deadline: Deadline) -> Result<(), Problem> {
        let mut hello = ::redis::pipe();
        if let Some(password) = self.settings.password() {
            hello.cmd("AUTH").arg(self.settings.username()).arg(password);
        }
        if self.settings.db() != 0 {
            hello.cmd("SELECT").arg(self.settings.db());
        }
        if hello.is_empty() {
            return Ok(());
        }
        ask::<Vec<Value>>(connection, deadline, &hello)?.map_err(|error| problem(&error)).map(drop)
    }
}

impl Connector for Server {
    type Connection = Connection;

    fn connect(&self, deadline: Deadline) -> Result<Connection, Problem> {
        let left = deadline.left();
        if left.is_zero() {
            return Err(Problem::Late);
        }
        let connected = self.client.get_connection_with_timeout(left);
        let connected = connected.map_err(|error| problem(&error)).and_then(|mut connection| {
            self.begin(&mut connection, deadline)?;
            Ok(connection)
        });
        connected.map_err(|problem| match problem {
            Problem::Broken(cause) | Problem::Failed(cause) => Problem::Unreachable(cause),
            other => other,
        })
    }

    fn is_open(connection: &Connection) -> bool {
        ConnectionLike::is_open(connection)
    }
}

/// Limits the wait for the next answer of the server to the time that is left.
pub(super) fn limit(connection: &Connection, deadline: Deadline) -> Result<(), Problem> {
    let left = deadline.left();
    if left.is_zero() {
        return Err(Problem::Late);
    }
    let set = connection
        .set_read_timeout(Some(left))
        .and_then(|()| connection.set_write_timeout(Some(left)));
    set.map_err(|error| problem(&error))
}

/// Sends all commands at once, and receives their answers. The inner error is that of the server. After
/// an error the connection must not be used again.
pub(super) fn ask<T: FromRedisValue>(
    connection: &mut Connection,
    deadline: Deadline,
    commands: &Pipeline,
) -> Result<Result<T, RedisError>, Problem> {
    limit(connection, deadline)?;
    if let Err(error) = connection.send_packed_command(&commands.get_packed_pipeline()) {
        return Ok(Err(error));
    }
    let mut answers = Vec::with_capacity(commands.len());
    for _ in 0..commands.len() {
        limit(connection, deadline)?;
        match connection.recv_response().and_then(Value::extract_error) {
            Ok(answer) => answers.push(answer),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(T::from_redis_value(Value::Array(answers)).map_err(RedisError::from))
}

fn invalid(why: &str, help: &str) -> Error {
    let message = format!("the address of the session store {why}");
    Error::new(ErrorCode::InvalidParam, message, help)
}

const FORM: &str = "write `redis://USER:PASSWORD@HOST:PORT/NUMBER`, or `rediss://` for TLS, with \
     `%`-escapes for special characters of the password";

fn not_redis(_: RedisError) -> Error {
    invalid("is not an address of Redis", FORM)
}

fn client(url: &str) -> Result<Client, Error> {
    let is_tls = url.starts_with("rediss://");
    if !is_tls && !url.starts_with("redis://") {
        return Err(invalid("does not begin with `redis://`", FORM));
    }
    if is_tls && !cfg!(feature = "tls") {
        return Err(invalid("needs TLS, which this build lacks", "build with the feature `tls`"));
    }
    let parameters = Parameters::take(url);
    if parameters.sslmode.is_some() || parameters.sslrootcert.is_some() && !is_tls {
        return Err(invalid(
            "has a parameter of TLS, but is not of TLS",
            "begin it with `rediss://`",
        ));
    }
    #[cfg(feature = "tls")]
    if let Some(path) = parameters.sslrootcert.filter(|_| is_tls) {
        let root_cert = std::fs::read(&path).map_err(|error| {
            let message =
                format!("cannot check the certificate of the session store: {path}: {error}");
            Error::new(ErrorCode::NotFound, message, "name a PEM file of certificates")
        })?;
        let certificates =
            ::redis::TlsCertificates { client_tls: None, root_cert: Some(root_cert) };
        return Client::build_with_tls(&*parameters.url, certificates).map_err(not_redis);
    }
    Client::open(parameters.url).map_err(not_redis)
}
