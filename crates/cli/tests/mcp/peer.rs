//! A client with the SDK in this process, connected to a server of the skills.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use repertoire::script::ScriptOptions;
use repertoire::toolset::ToolsetOptions;
use repertoire::{Consent, ConsentPolicy, Engine, Source};
use repertoire_mcp::{McpOptions, McpServer};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorCode, ErrorData, Implementation, JsonObject, ProgressNotificationParam, ProtocolVersion,
    SKILLS_EXTENSION_ID,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext, RoleClient,
    RunningService, ServiceError, ServiceExt, serve_client_with_lifecycle,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::{LONG, skills};

/// A client that records the server's notifications.
#[derive(Clone, Default)]
pub(crate) struct Told {
    pub(crate) progress: Arc<Mutex<Vec<(f64, String)>>>,
    pub(crate) questions: Arc<Mutex<Vec<String>>>,
    pub(crate) tool_changes: Arc<AtomicUsize>,
    /// The user's reply to questions; if `None`, the client does not support questions.
    pub(crate) says: Option<ElicitationAction>,
    /// True if the client declares the Skills extension.
    pub(crate) lists_skills: bool,
}

impl ClientHandler for Told {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.says.as_ref().map(|_| ElicitationCapability::default());
        let skills = self.lists_skills.then(|| (SKILLS_EXTENSION_ID.to_owned(), JsonObject::new()));
        capabilities.extensions = Some(skills.into_iter().collect());
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let step = (progress.progress, progress.message.unwrap_or_default());
        self.progress.lock().unwrap().push(step);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tool_changes.fetch_add(1, Ordering::SeqCst);
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("{request:?}")
        };
        self.questions.lock().unwrap().push(message);
        Ok(ElicitResult::new(self.says.clone().unwrap()))
    }
}

pub(crate) struct Place {
    pub(crate) dir: TempDir,
    pub(crate) told: Told,
    pub(crate) client: RunningService<RoleClient, Told>,
}

/// Connects a client, with this lifecycle, to a server of the skills.
pub(crate) async fn connect(
    lifecycle: ClientLifecycleMode,
    policy: ConsentPolicy,
    says: Option<ElicitationAction>,
) -> Place {
    let dir = skills();
    let engine = Engine::builder()
        .source(Source::user(dir.path()))
        .toolsets(ToolsetOptions::in_process())
        .scripts(ScriptOptions::default())
        .consent(Consent::new(policy))
        .build()
        .unwrap();
    connect_to(&engine, dir, lifecycle, says).await
}

/// Connects a client to a server of this engine, whose skills are in `dir`.
pub(crate) async fn connect_to(
    engine: &Engine,
    dir: TempDir,
    lifecycle: ClientLifecycleMode,
    says: Option<ElicitationAction>,
) -> Place {
    let poll = Some(Duration::from_millis(50));
    let mut options = McpOptions::default();
    options.poll = poll;
    let server = McpServer::new(engine, options);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await.unwrap() });
    let told = Told { says, ..Told::default() };
    let client = serve_client_with_lifecycle(told.clone(), ours, lifecycle).await.unwrap();
    Place { dir, told, client }
}

pub(crate) async fn simple() -> Place {
    connect(ClientLifecycleMode::Initialize, ConsentPolicy::Never, None).await
}

pub(crate) fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

pub(crate) fn params(tool: &str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned())
        .with_arguments(arguments.as_object().unwrap().clone())
}

impl Place {
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        self.client.call_tool(params(tool, &arguments)).await.unwrap()
    }

    pub(crate) async fn begin(
        &self,
        tool: &str,
        arguments: Value,
    ) -> rmcp::service::RequestHandle<RoleClient> {
        let request =
            ClientRequest::CallToolRequest(CallToolRequest::new(params(tool, &arguments)));
        let options = PeerRequestOptions::no_options();
        self.client.send_cancellable_request(request, options).await.unwrap()
    }
}

pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// Waits until `is_so` returns true.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG / 2, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn code(error: &ServiceError) -> ErrorCode {
    match error {
        ServiceError::McpError(error) => error.code,
        other => panic!("{other:?}"),
    }
}
