//! The MCP server: skills for agents that speak the Model Context Protocol.
//!
//! An [`McpServer`] serves one connection: the host's tools and the tools of plugins as MCP tools,
//! slash commands as prompts, the files of skills as resources, and the skills themselves through
//! MCP's Skills extension. Slow work runs on threads of its own, so that the server always answers
//! and can always be cancelled.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod answers;
mod blocking;
mod changes;
mod clients;
mod closing;
mod consent;
mod handler;
mod health;
mod http;
mod lines;
mod listing;
mod loopback;
mod message;
mod metrics;
mod metrics_page;
mod options;
mod pages;
mod places;
mod progress;
mod prompts;
mod request_span;
mod resources;
mod rights;
mod session_id;
mod session_limit;
mod sessions;
mod skills;
mod tools;

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

use changes::Listed;
use closing::{Closing, Patience};
use lines::Lines;
use listing::Listing;
use metrics::Metrics;
use repertoire::disclosure::Budget;
use repertoire::engine::{Engine, SessionTools};
use repertoire::session::Session;
use repertoire::{Error, ErrorCode};
use session_id::unique_name;
use session_limit::Running;

pub use clients::{HttpClient, check_token};
pub use http::{HttpOptions, serve_http};
pub use listing::ListingHost;
pub use loopback::serve_loopback;
pub use options::McpOptions;

/// An MCP server of an engine for one client. The connection is a session.
///
/// It is a handler of the crate `rmcp`, and can be served on any of its transports. If the engine's
/// [`Consent`](repertoire::Consent) has a policy but nobody to ask, the server asks the client's user,
/// provided that the client supports elicitation.
///
/// ```
/// use repertoire_mcp::{McpOptions, McpServer};
/// use repertoire::{Engine, Source};
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder().source(Source::bundled("skills")).build()?;
/// McpServer::new(&engine, McpOptions::default()).serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpServer(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    engine: Engine,
    session: Session,
    tools: SessionTools,
    options: McpOptions,
    /// Fingerprints of the lists that the client was shown, to detect changes.
    listed: Listed,
    listing: Listing,
    /// True if the session ends with the connection.
    is_owner: bool,
    /// True once a task notifies the client of changes. Over HTTP, `initialized` may arrive more than
    /// once.
    is_told: AtomicBool,
    metrics: Option<Arc<Metrics>>,
    /// The requests that are being answered. Over HTTP, they keep the session open.
    calls: Running,
    closing: Arc<Closing>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_owner
            && let Err(error) = self.session.end()
        {
            tracing::warn!(%error, "the session of a connection cannot be ended");
        }
    }
}

impl McpServer {
    /// Creates a server of `engine` for a new connection, with a session that ends with the server.
    pub fn new(engine: &Engine, options: McpOptions) -> McpServer {
        let session = engine.session(&unique_name());
        McpServer::create(engine, session, options, true, None, Running::default())
    }

    /// Creates a server of `engine` for a connection that continues `session`, which other connections
    /// and processes may share. The session does not end with the server.
    pub fn with_session(engine: &Engine, session: Session, options: McpOptions) -> McpServer {
        McpServer::create(engine, session, options, false, None, Running::default())
    }

    fn create(
        engine: &Engine,
        session: Session,
        options: McpOptions,
        is_owner: bool,
        metrics: Option<Arc<Metrics>>,
        calls: Running,
    ) -> McpServer {
        let tools = engine.tools(&session).with_options(options.tools.clone());
        let engine = engine.clone();
        McpServer(Arc::new(Connection {
            engine,
            session,
            tools,
            options,
            listed: Listed::default(),
            listing: Listing::default(),
            is_owner,
            is_told: AtomicBool::new(false),
            metrics,
            calls,
            closing: Arc::default(),
        }))
    }

    /// Lets `host` share the decision who shows the list of skills to the client's model. The first host
    /// counts.
    #[must_use]
    pub fn with_listing_host(self, host: Arc<dyn ListingHost>) -> McpServer {
        // A second host is ignored, as documented.
        let _ = self.0.listing.host.set(host);
        self
    }

    /// Serves the client on standard input and output until the client closes them. Nothing else may
    /// write to standard output during that time.
    ///
    /// Fails with `EXECUTION_ERROR` if writing to the client fails, or if the client never initializes
    /// the connection.
    pub async fn serve_stdio(self) -> Result<(), Error> {
        self.serve_stdio_until(std::future::pending()).await
    }

    /// Serves like [`McpServer::serve_stdio`], until `end` completes, for example on a signal. Calls
    /// that still run then are cancelled. After the client has closed its side, all other requests are
    /// still answered, and calls of scripts and toolsets go on until none of them has ended for a second.
    pub async fn serve_stdio_until(self, end: impl Future<Output = ()>) -> Result<(), Error> {
        let (reader, writer) = stdio_pipes();
        Box::pin(self.serve_lines_until(reader, writer, end)).await
    }

    /// Serves a client like [`McpServer::serve_stdio_until`], over any pair of streams.
    ///
    /// Fails as that does.
    pub async fn serve_lines_until(
        self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        end: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        self.serve_with_patience(reader, writer, end, Patience::default()).await
    }

    async fn serve_with_patience(
        self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        end: impl Future<Output = ()>,
        patience: Patience,
    ) -> Result<(), Error> {
        let failed = |why: &dyn Display| {
            let help = "this speaks the Model Context Protocol on standard input and output: have \
                        an agent start it";
            let message = format!("the connection to the client failed: {why}");
            Error::new(ErrorCode::ExecutionError, message, help)
        };
        let closing = Arc::clone(&self.0.closing);
        let transport = Lines::new(reader, writer, Arc::clone(&closing), patience);
        let mut end = pin!(async {
            tokio::select! { () = closing.overdue(patience) => {}, () = end => {} }
        });
        let serving = tokio::select! {
            serving = serve_server(self, transport) => serving,
            () = &mut end => return Ok(()),
        };
        let running = match serving {
            Ok(running) => running,
            // A client may leave before it has asked for anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(failed(&error)),
        };
        let calls = running.cancellation_token();
        let mut waiting = pin!(running.waiting());
        let ended = tokio::select! {
            ended = &mut waiting => ended,
            () = end => {
                calls.cancel();
                waiting.await
            }
        };
        ended.map(|_| ()).map_err(|error| failed(&error))
    }
}

impl Connection {
    /// Returns the instructions with the list of skills, as far as the options allow one.
    fn instructions(&self) -> String {
        let Connection { engine, options, .. } = self;
        if options.instructions_chars == 0 {
            return INSTRUCTIONS.to_owned();
        }
        let mut prompt = engine.prompt_options().clone();
        prompt.budget = Some(Budget::Characters(options.instructions_chars));
        let catalog = engine.prompt_with(&prompt);
        format!("{INSTRUCTIONS}\n\n{}", catalog.text).trim_end().to_owned()
    }
}

const INSTRUCTIONS: &str = "Skills: instructions for kinds of tasks. Before you begin a task that \
                            one is for, call `use_skill`; `find_skills` finds one.";
