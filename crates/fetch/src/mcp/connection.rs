//! A connection to an MCP server, whose calls block and end at a deadline.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use data_encoding::BASE64;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, GetSkillRequestParams, Implementation,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents, Skill,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::IntoTransport;
use tokio::runtime::{Builder, Runtime};

use super::address::McpAddress;
use super::http;
use super::program::{Program, Received};
use crate::limits::{Deadline, FetchLimits, too_large};
use repertoire::{Error, ErrorCode};

/// The time that a server has to end by itself when the connection closes.
const GRACE: Duration = Duration::from_secs(2);

/// The time in which a server that printed another line must begin to speak the protocol: other clients
/// ignore such a line, so some servers print one.
const AFTER_LINE: Duration = Duration::from_secs(5);

/// The size limit of a server's message in an error, in characters.
const MAX_MESSAGE: usize = 300;

/// The client that a server sees: it answers no requests of the server.
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("repertoire", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }
}

/// A connection to a server. Dropping it closes the connection, and ends the server if it is a program.
pub(super) struct Connection {
    source: String,
    limits: FetchLimits,
    deadline: Deadline,
    received: Arc<Received>,
    open: Option<Open>,
}

/// The parts of an open connection.
struct Open {
    runtime: Runtime,
    service: RunningService<RoleClient, Client>,
    program: Option<Program>,
}

impl Connection {
    /// Starts the program, or connects to the server, and negotiates the protocol.
    ///
    /// Fails with `NOT_FOUND` if the program or the token does not exist, and with `TIMEOUT` or
    /// `EXECUTION_ERROR` if the server does not answer like an MCP server.
    pub(super) fn open(
        address: &McpAddress,
        limits: FetchLimits,
        deadline: Deadline,
    ) -> Result<Connection, Error> {
        let source = address.to_string();
        let received = Arc::new(Received::new(&limits));
        let mut connection = Connection { source, limits, deadline, received, open: None };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| connection.failed(&error))?;
        let open = match address {
            McpAddress::Program(words) => connection.start(words, runtime)?,
            McpAddress::Http { url, token } => {
                let transport = {
                    let _inside = runtime.enter();
                    http::transport(url, token.as_deref(), &connection.received)?
                };
                // No server greets in an event.
                let service = connection.serve(&runtime, transport, Duration::ZERO)?;
                let service = service.map_err(|error| connection.not_answered(&error))?;
                Open { runtime, service, program: None }
            }
        };
        connection.open = Some(open);
        Ok(connection)
    }

    fn start(&self, words: &[String], runtime: Runtime) -> Result<Open, Error> {
        let (program, transport) = {
            let _inside = runtime.enter();
            Program::start(words, &self.source, &self.received)?
        };
        let served = self.serve(&runtime, transport, AFTER_LINE);
        let service = match served {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(self.not_begun(&runtime, &program, &error)),
            Err(error) => {
                let _ = on_thread(&runtime, program.end(Duration::ZERO));
                return Err(error);
            }
        };
        Ok(Open { runtime, service, program: Some(program) })
    }

    /// Starts the protocol, unless the server prints something else first, and no message within `grace`. The
    /// outer error is that of the thread or of the deadline; the inner one tells why the protocol did not start.
    fn serve<T, E, A>(
        &self,
        runtime: &Runtime,
        transport: T,
        grace: Duration,
    ) -> Result<Result<RunningService<RoleClient, Client>, String>, Error>
    where
        T: IntoTransport<RoleClient, E, A> + Send,
        E: std::error::Error + Send + Sync + 'static,
    {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let serving = serve_client_with_lifecycle(Client, transport, lifecycle);
        let prints = |line: &str| format!("it prints {line}");
        let serving = self.deadline.limit(self.received.strays.answer_or_line(serving, grace));
        match on_thread(runtime, serving).map_err(|error| self.failed(&error))? {
            Some(Ok(Ok(service))) => Ok(Ok(service)),
            Some(Ok(Err(error))) => Ok(Err(match self.received.strays.first_after(0) {
                Some(line) => prints(&line),
                None => reason(&error),
            })),
            Some(Err(line)) => Ok(Err(prints(&line))),
            None => Err(self.deadline.error(&self.source)),
        }
    }

    /// All skills that the server lists.
    ///
    /// Fails with `NOT_FOUND` if the server does not serve skills, with `INVALID_PARAM` if there are too
    /// many, and with `TIMEOUT` or `EXECUTION_ERROR` if it does not answer.
    pub(super) fn skills(&self) -> Result<Vec<Skill>, Error> {
        let (mut skills, mut cursor) = (Vec::new(), None);
        let service = &self.opened()?.service;
        if !service.peer_info().is_some_and(|info| info.capabilities.supports_skills()) {
            let message = format!(
                "{} serves no skills: it does not declare `io.modelcontextprotocol/skills`",
                self.source
            );
            let help = "name a server that has this extension of MCP";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.wait("skills/list", service.list_skills(Some(params)))?;
            skills.extend(page.skills);
            if skills.len() > self.limits.entries {
                return Err(too_large(&self.source, "skills", self.limits.entries as u64));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(skills);
            }
        }
    }

    /// The skill at an address, which need not be in the list.
    pub(super) fn skill(&self, uri: &str) -> Result<Skill, Error> {
        let params = GetSkillRequestParams::new(uri);
        Ok(self.wait("skills/get", self.opened()?.service.get_skill(params))?.skill)
    }

    /// The content of a file.
    pub(super) fn read(&self, uri: &str) -> Result<Vec<u8>, Error> {
        let params = ReadResourceRequestParams::new(uri);
        let read = self.wait(uri, self.opened()?.service.read_resource(params))?;
        let content = |content: ResourceContents| match content {
            ResourceContents::TextResourceContents { uri: of, text, .. } if of == uri => {
                Some(text.into_bytes())
            }
            ResourceContents::BlobResourceContents { uri: of, blob, .. } if of == uri => {
                BASE64.decode(blob.as_bytes()).ok()
            }
            _ => None,
        };
        let mut contents = read.contents.into_iter().filter_map(content);
        contents.next().ok_or_else(|| self.failed(&format!("it does not answer with `{uri}`")))
    }

    fn opened(&self) -> Result<&Open, Error> {
        self.open.as_ref().ok_or_else(|| self.failed(&"the connection is closed"))
    }

    /// Waits for the answer of the server.
    fn wait<T: Send>(
        &self,
        what: &str,
        answer: impl Future<Output = Result<T, ServiceError>> + Send,
    ) -> Result<T, Error> {
        let runtime = &self.opened()?.runtime;
        let strays = &self.received.strays;
        let n_strays = strays.count();
        let answer = self.deadline.limit(async {
            tokio::select! {
                biased;
                answer = answer => Ok(answer),
                // The line may be the answer.
                line = strays.line_after(n_strays) => Err(line),
            }
        });
        match on_thread(runtime, answer).map_err(|error| self.failed(&error))? {
            Some(Ok(Ok(answer))) => Ok(answer),
            Some(Ok(Err(error))) => Err(match strays.first_after(n_strays) {
                Some(line) => self.not_a_message(&line),
                None => self.refused(what, &error),
            }),
            Some(Err(line)) => Err(self.not_a_message(&line)),
            None => Err(self.deadline.error(&self.source)),
        }
    }

    fn refused(&self, what: &str, error: &ServiceError) -> Error {
        if let Some(error) = self.received.too_large(&self.source) {
            return error;
        }
        match error {
            ServiceError::McpError(error) => {
                let said: String = error.message.chars().take(MAX_MESSAGE).collect();
                self.failed(&format!("it answers `{what}` with the error {}: {said}", error.code.0))
            }
            ServiceError::UnexpectedResponse => {
                self.not_a_message(&self.received.strays.last_answer())
            }
            _ => match self.open.as_ref().and_then(|open| open.program.as_ref()) {
                Some(program) => self.failed(&format!("it ended{}", program.last_output())),
                None => self.failed(error),
            },
        }
    }

    fn not_a_message(&self, line: &str) -> Error {
        self.failed(&format!("it prints {line}, which is not a valid message"))
    }

    /// The error for a program that does not start as an MCP server.
    fn not_begun(&self, runtime: &Runtime, program: &Program, error: &dyn Display) -> Error {
        // The error message of the program on standard error is more useful, so wait for it.
        let _ = on_thread(runtime, program.end(GRACE));
        if let Some(error) = self.received.too_large(&self.source) {
            return error;
        }
        let said = program.last_output();
        self.failed(&format!("it does not begin as an MCP server: {error}{said}"))
    }

    /// The error for an address without an MCP server.
    fn not_answered(&self, error: &dyn Display) -> Error {
        let too_large = self.received.too_large(&self.source);
        too_large.unwrap_or_else(|| {
            self.failed(&format!("it does not answer as an MCP server: {error}"))
        })
    }

    fn failed(&self, why: &dyn Display) -> Error {
        let message = format!("cannot fetch {}: {why}", self.source);
        let help = "check the command or the address, and that it is a server of skills";
        Error::new(ErrorCode::ExecutionError, message, help)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(Open { runtime, service, program }) = self.open.take() else { return };
        let grace = if self.deadline.is_over() { Duration::ZERO } else { GRACE };
        let close = async move {
            // Closes the streams, so that a program ends by itself.
            let _ = tokio::time::timeout(grace, service.cancel()).await;
            if let Some(program) = program {
                program.end(grace).await;
            }
        };
        let _ = on_thread(&runtime, close);
        runtime.shutdown_background();
    }
}

/// The reason of an error, without the names of types that the transport is made of.
fn reason(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        error => error.to_string(),
    }
}

/// Runs a future on a separate thread: the caller's thread may belong to an asynchronous runtime and
/// must not block.
fn on_thread<T: Send>(runtime: &Runtime, work: impl Future<Output = T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("mcp-source".to_owned());
        let thread = thread.spawn_scoped(scope, || runtime.block_on(work))?;
        thread.join().map_err(|_| io::Error::other("a thread of the connection ended"))
    })
}
