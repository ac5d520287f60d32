//! The answers to a client's requests and notifications.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, PaginatedRequestParams, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::SessionRestoreMarker;

use super::blocking::{blocking, protocol_error};
use super::changes::{self, N_LISTS};
use super::pages::is_whole;
use super::request_span::traced;
use super::{Connection, INSTRUCTIONS, McpServer, message, prompts, resources, tools};
use repertoire::Error;
use repertoire::disclosure::model_text;

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

impl McpServer {
    /// Answers `what` by running `work` on a thread that may block.
    async fn look_up<T: Send + 'static>(
        &self,
        what: &'static str,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let connection = Arc::clone(&self.0);
        traced(what, &self.0.calls, context, async move {
            let found = blocking(what, move || work(&connection)).await;
            found.and_then(|found| found).map_err(|error| protocol_error(&error))
        })
        .await
    }

    /// Returns the instructions for the client with this name, with the list of skills if they need it.
    async fn instructions_for(
        &self,
        client: String,
        capabilities: ClientCapabilities,
    ) -> Result<String, ErrorData> {
        let connection = Arc::clone(&self.0);
        let instructions = move || {
            let needs_list = connection.listing.is_needed(&client, &capabilities);
            if needs_list { connection.instructions() } else { INSTRUCTIONS.to_owned() }
        };
        blocking("initialize", instructions).await.map_err(|error| protocol_error(&error))
    }
}

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
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        let (client, capabilities) = (request.client_info.name, request.capabilities);
        answer.instructions = Some(self.instructions_for(client, capabilities).await?);
        Ok(answer)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let client = context.client_info().map(|client| client.name).unwrap_or_default();
        let capabilities = context.client_capabilities().unwrap_or_default();
        let mut info = self.get_info();
        info.instructions = Some(self.instructions_for(client, capabilities).await?);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
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
        let answer = tools::call(&self.0, request, &context);
        traced("tools/call", &self.0.calls, &context, answer).await
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
        let answer = prompts::get(&self.0, request, &context);
        traced("prompts/get", &self.0.calls, &context, answer).await
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
        let answer = resources::read(&self.0, request, &context);
        traced("resources/read", &self.0.calls, &context, answer).await
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
        let client = context.client_info().map(|client| client.name);
        self.look_up("skills/list", &context, move |connection| {
            connection.listing.note_request(client);
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
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
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
            // The client would wait for the answer to this request, too.
            () = self.0.closing.gone() => {}
        }
        Ok(())
    }
}
