//! The MCP server: skills for agents that speak the Model Context Protocol.
//!
//! An [`McpServer`] serves one connection: the host's tools and the tools of plugins as MCP tools,
//! slash commands as prompts, the files of skills as resources, and the skills themselves through
//! MCP's Skills extension. Slow work runs on threads of its own, so that the server always answers
//! and can always be cancelled.

mod address;
mod answers;
mod blocking;
mod changes;
mod clients;
mod consent;
mod health;
mod http;
mod lines;
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
mod sessions;
mod skills;
mod tools;

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    ErrorCode as ErrorCodeOfProtocol, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, ServerInitializeError, SubscriptionContext,
    serve_server,
};
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::SessionRestoreMarker;
use tokio::io::{AsyncRead, AsyncWrite};

use blocking::{blocking, protocol_error};
use changes::{Listed, N_LISTS};
use lines::{Closing, Lines};
use metrics::Metrics;
use pages::is_whole;
use repertoire::disclosure::{Budget, model_text};
use repertoire::engine::{Engine, SessionTools};
use repertoire::session::Session;
use repertoire::{Error, ErrorCode};
use request_span::traced;
use session_id::unique_name;

pub use clients::{HttpClient, check_token};
pub use http::{HttpOptions, serve_http};
pub use loopback::serve_loopback;
pub use options::McpOptions;

/// The time that running calls get to end after the client has closed its side; each answer starts it
/// again. It is less than the two seconds after which SDKs send a signal.
const LAST_CALLS: Duration = Duration::from_secs(1);

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
    /// True if the session ends with the connection.
    is_owner: bool,
    /// True once a task notifies the client of changes. Over HTTP, `initialized` may arrive more than
    /// once.
    is_told: AtomicBool,
    metrics: Option<Arc<Metrics>>,
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
        McpServer::create(engine, engine.session(&unique_name()), options, true, None)
    }

    /// Creates a server of `engine` for a connection that continues `session`, which other connections
    /// and processes may share. The session does not end with the server.
    pub fn with_session(engine: &Engine, session: Session, options: McpOptions) -> McpServer {
        McpServer::create(engine, session, options, false, None)
    }

    fn create(
        engine: &Engine,
        session: Session,
        options: McpOptions,
        is_owner: bool,
        metrics: Option<Arc<Metrics>>,
    ) -> McpServer {
        let tools = engine.tools(&session).with_options(options.tools.clone());
        let engine = engine.clone();
        let listed = Listed::default();
        let is_told = AtomicBool::new(false);
        let connection =
            Connection { engine, session, tools, options, listed, is_owner, is_told, metrics };
        McpServer(Arc::new(connection))
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
    /// that still run then are cancelled. After the client has closed its side, running calls are
    /// cancelled once none of them has ended for a second.
    pub async fn serve_stdio_until(self, end: impl Future<Output = ()>) -> Result<(), Error> {
        let (reader, writer) = stdio_pipes();
        self.serve_lines_until(reader, writer, end).await
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
        let failed = |why: &dyn Display| {
            let help = "this speaks the Model Context Protocol on standard input and output: have \
                        an agent start it";
            let message = format!("the connection to the client failed: {why}");
            Error::new(ErrorCode::ExecutionError, message, help)
        };
        let closing = Arc::new(Closing::default());
        let transport = Lines::new(reader, writer, Arc::clone(&closing));
        let mut end = pin!(end);
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
            () = async { tokio::select! { () = closing.quiet(LAST_CALLS) => {}, () = end => {} } } => {
                calls.cancel();
                waiting.await
            }
        };
        ended.map(|_| ()).map_err(|error| failed(&error))
    }

    /// Answers `what` by running `work` on a thread that may block.
    async fn look_up<T: Send + 'static>(
        &self,
        what: &'static str,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let connection = Arc::clone(&self.0);
        traced(what, context, async move {
            let found = blocking(what, move || work(&connection)).await;
            found.and_then(|found| found).map_err(|error| protocol_error(&error))
        })
        .await
    }

    fn instructions(&self) -> String {
        let Connection { engine, options, .. } = &*self.0;
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

/// The methods with parameters.
const METHODS: [&str; 11] = [
    "initialize",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "skills/get",
    "skills/list",
    "tools/call",
    "tools/list",
];

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_skills_with_directory_read()
            .build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("repertoire", version))
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        is_whole(page)?;
        let tools = self.look_up("tools/list", &context, |connection| Ok(connection.tools()));
        Ok(ListToolsResult::with_all_items(tools.await?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        traced("tools/call", &context, tools::call(&self.0, request, &context)).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        is_whole(page)?;
        let prompts = self.look_up("prompts/list", &context, |connection| Ok(connection.prompts()));
        Ok(ListPromptsResult::with_all_items(prompts.await?))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        traced("prompts/get", &context, prompts::get(&self.0, request, &context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.look_up("resources/list", &context, move |connection| {
            connection.resources(cursor.as_deref())
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        is_whole(page)?;
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        traced("resources/read", &context, resources::read(&self.0, request, &context)).await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let ReadResourceDirectoryRequestParams { uri, cursor, .. } = request;
        self.look_up("resources/directory/read", &context, move |connection| {
            connection.directory(&uri, cursor.as_deref())
        })
        .await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.look_up("skills/list", &context, move |connection| {
            connection.skills(cursor.as_deref())
        })
        .await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.look_up("skills/get", &context, move |connection| connection.skill(&request.uri)).await
    }

    /// Answers requests with an unknown method, and known requests with invalid parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&&*method) {
            return Err(ErrorData::invalid_params(message::misfit(&method), None));
        }
        let message = model_text(&format!("there is no method `{method}`")).into_owned();
        Err(ErrorData::new(ErrorCodeOfProtocol::METHOD_NOT_FOUND, message, None))
    }

    /// Notifies clients before protocol 2026-07-28 of changes, since they do not subscribe.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.0.is_told.swap(true, Ordering::Relaxed) {
            // The client of a restored session may have read any list before.
            let is_restored = context.extensions.get::<SessionRestoreMarker>().is_some();
            changes::tell(&self.0, &context.peer, [is_restored; N_LISTS]).await;
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let followed = changes::followed(context.accepted());
        tokio::select! {
            () = changes::tell(&self.0, context.sink(), followed) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}
