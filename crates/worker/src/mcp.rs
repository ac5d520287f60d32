//! The child's client for an MCP server that a skill ships: starts it, lists its tools, and calls them.
//!
//! The child has already given up its rights, so the server does not have them either. When the server
//! ends, the child ends, too: the host sees a crash with the server's last output.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::{ErrorCode, Host, ToolOutput, ToolsetDescription};
use repertoire_system::sandbox::describe_exit;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, ContentBlock, ErrorCode as McpCode, Implementation, ProgressNotificationParam,
    ProgressToken, ServerResult,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService,
    ServiceError, serve_client,
};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::unix::pipe;
use tokio::runtime::{Builder, Handle};

use super::mcp_lines::{Lines, Strays};
use super::mcp_tools::{describe, list_tools};
use super::protocol::Failure;
use super::serving::{Classes, Serving};
use crate::locked;

/// The interval at which a call checks for progress and for cancellation.
const TICK: Duration = Duration::from_millis(20);
/// The time in which the last answer of a server that has ended can still be delivered.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// The time that a server has for its first messages after another line: some servers greet.
const GRACE: Duration = Duration::from_secs(2);
/// The longest line of a call, in bytes: the limit of the SDK's own transports.
const MAX_LINE: usize = 16 << 20;
/// The message for a server without a list of tools.
const NOT_LISTED: &str = "it does not list its tools";
/// The message for a program that does not start as an MCP server.
const NOT_BEGUN: &str = "it does not begin as an MCP server";
/// The advice for a server that prints other lines.
const PRINTS: &str =
    "let it print messages of the protocol only, and everything else to standard error";
/// The advice for a server whose list of tools cannot be read.
const LISTS: &str = "let it answer with at most 128 tools and 64 KiB of texts, and print everything else to \
                     standard error";

/// The configuration of a server: additions to its command line and its environment.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

/// The only class of a server. Making a toolset of it starts the server.
pub(super) fn classes(command: Vec<OsString>) -> Classes {
    Box::new(move |class, config| {
        let server = Server::start(&command, class, config)?;
        Ok(Box::new(server))
    })
}

/// A running server.
struct Server {
    runtime: Handle,
    /// Ends the connection when it is dropped.
    _service: RunningService<RoleClient, Client>,
    peer: Peer<RoleClient>,
    progress: Progress,
    strays: Arc<Strays>,
    description: ToolsetDescription,
    /// The server's own name for each tool.
    names: HashMap<String, String>,
}

/// The latest progress of each call that runs, unless it was passed on. That of other tokens is not kept: a server
/// may report any number of them.
type Progress = Arc<Mutex<HashMap<ProgressToken, Option<ProgressNotificationParam>>>>;

/// The host as the server sees it. It takes progress reports, and offers no capabilities.
struct Client {
    progress: Progress,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(latest) = locked(&self.progress).get_mut(&params.progress_token) {
            *latest = Some(params);
        }
    }
}

impl Server {
    fn start(command: &[OsString], class: &str, config: &Value) -> Result<Server, Failure> {
        let settings = Settings::deserialize(config).map_err(|error| Failure {
            help: "configure `args`, a list of texts, and `env`, texts by name".to_owned(),
            ..Failure::new(ErrorCode::InvalidArguments, format!("its configuration: {error}"))
        })?;
        let runtime = runtime().map_err(|error| failed("no thread for its messages", &error))?;
        let (process, reader, writer) = spawn(command, settings, &runtime)
            .map_err(|error| failed("it cannot be started", &error))?;
        let pid = Pid::from_child(&process);
        end_with(process).map_err(|error| failed("no thread to wait for it", &error))?;
        let server = Server::begin(class, runtime, (reader, writer));
        if server.is_err() {
            // Otherwise it would still run when the next call starts another one.
            let _ = kill_process(pid, Signal::KILL);
        }
        server
    }

    /// Begins the protocol with a server that was started, and lists its tools.
    fn begin(
        class: &str,
        runtime: Handle,
        (reader, writer): (pipe::Receiver, pipe::Sender),
    ) -> Result<Server, Failure> {
        let progress = Progress::default();
        let client = Client { progress: Arc::clone(&progress) };
        let strays = Arc::new(Strays::default());
        let printed = |what: &str, line: &str| Failure {
            help: if what == NOT_LISTED { LISTS } else { PRINTS }.to_owned(),
            ..Failure::new(ErrorCode::Failed, format!("{what}: it prints {line}"))
        };
        let serving = serve_client(client, Lines::new(reader, writer, Arc::clone(&strays)));
        let service = runtime.block_on(strays.answer_or_line(serving, GRACE));
        let service = service.map_err(|line| printed(NOT_BEGUN, &line))?;
        let service = service.map_err(|error| failed(NOT_BEGUN, &error))?;
        let tools = runtime.block_on(strays.answer_or_line(list_tools(service.peer()), GRACE));
        let tools = tools.map_err(|line| printed(NOT_LISTED, &line))?.map_err(|error| {
            if matches!(error, ServiceError::UnexpectedResponse) {
                return printed(NOT_LISTED, &strays.last_answer());
            }
            failed(NOT_LISTED, &error)
        })?;
        strays.allow_lines(MAX_LINE);
        let (description, names) = describe(class, tools)?;
        let peer = service.peer().clone();
        Ok(Server { runtime, _service: service, peer, progress, strays, description, names })
    }

    fn request(&self, tool: &str, arguments: &str) -> Result<CallToolRequestParams, Failure> {
        let name = self.names.get(tool).cloned().ok_or_else(|| {
            Failure::new(ErrorCode::UnknownTool, format!("there is no tool `{tool}`"))
        })?;
        let arguments = serde_json::from_str(arguments)
            .map_err(|error| Failure::new(ErrorCode::InvalidArguments, error.to_string()))?;
        let mut params = CallToolRequestParams::new(name);
        params.arguments = Some(arguments);
        Ok(params)
    }

    /// Waits for the end of a call, and passes its progress to the host. `n_strays` is the number of lines
    /// before the call that were not messages; another one ends it.
    fn wait(
        &self,
        mut call: RequestHandle<RoleClient>,
        n_strays: u64,
        host: &dyn Host,
    ) -> Result<CallToolResult, Failure> {
        loop {
            let answer =
                self.runtime.block_on(async { tokio::time::timeout(TICK, &mut call.rx).await });
            let told = locked(&self.progress).get_mut(&call.progress_token).and_then(Option::take);
            if let Some(told) = told {
                let fraction =
                    told.progress / told.total.filter(|total| *total > 0.0).unwrap_or(1.0);
                host.progress(fraction, &told.message.unwrap_or_default());
            }
            let code = match answer {
                Ok(Ok(answer)) => return result(answer, &self.strays),
                Ok(Err(_)) => end_with_output(),
                Err(_) if host.is_cancelled() => ErrorCode::Cancelled,
                Err(_) if host.deadline().is_some_and(|deadline| deadline <= Instant::now()) => {
                    ErrorCode::DeadlineExceeded
                }
                Err(_) => match self.strays.after(n_strays, &call.id) {
                    Some(line) => {
                        let _ = self.runtime.block_on(call.cancel(None));
                        return Err(not_a_message(&line));
                    }
                    None => continue,
                },
            };
            // If the server does not take this message, the host kills this process and the server.
            let _ = self.runtime.block_on(call.cancel(None));
            return Err(Failure::new(code, "it was asked to stop"));
        }
    }
}

impl Serving for Server {
    fn describe(&self) -> &ToolsetDescription {
        &self.description
    }

    fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> Result<ToolOutput, Failure> {
        let request = CallToolRequest::new(self.request(tool, arguments)?);
        let request = ClientRequest::CallToolRequest(request);
        let options = PeerRequestOptions::no_options();
        let n_strays = self.strays.count();
        let call = self.runtime.block_on(self.peer.send_cancellable_request(request, options));
        let call = call.map_err(|error| failure(&error))?;
        let token = call.progress_token.clone();
        locked(&self.progress).insert(token.clone(), None);
        let answer = self.wait(call, n_strays, host);
        locked(&self.progress).remove(&token);
        output(answer?)
    }
}

/// The failure of a server that does not start properly.
fn failed(what: &str, error: &dyn std::fmt::Display) -> Failure {
    // If the server has ended, wait for this process to end: the host's report of that says more.
    thread::sleep(2 * LAST_WORDS);
    Failure::new(ErrorCode::Failed, format!("{what}: {error}"))
}

/// A runtime on a thread of its own.
fn runtime() -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(std::future::pending::<()>());
    thread::Builder::new().name("mcp-client".to_owned()).spawn(run)?;
    Ok(handle)
}

/// Starts the server. Its standard error is that of this process.
fn spawn(
    command: &[OsString],
    settings: Settings,
    runtime: &Handle,
) -> io::Result<(Child, pipe::Receiver, pipe::Sender)> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut process = Command::new(program)
        .args(args)
        .args(settings.args)
        .envs(settings.env)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Do not inherit it: a host such as Node may have marked its own to be closed in the programs
        // that it starts.
        .stderr(io::stderr().as_fd().try_clone_to_owned()?)
        .spawn()?;
    let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
    let stdout = OwnedFd::from(process.stdout.take().ok_or_else(missing)?);
    let stdin = OwnedFd::from(process.stdin.take().ok_or_else(missing)?);
    let _runtime = runtime.enter();
    let (reader, writer) =
        (pipe::Receiver::from_owned_fd(stdout)?, pipe::Sender::from_owned_fd(stdin)?);
    Ok((process, reader, writer))
}

/// Ends this process once the server has ended.
fn end_with(mut process: Child) -> io::Result<()> {
    let wait = move || {
        let status = process.wait().map_or_else(|error| error.to_string(), describe_exit);
        thread::sleep(LAST_WORDS);
        let _ = writeln!(io::stderr(), "the MCP server ended: {status}");
        std::process::exit(1)
    };
    thread::Builder::new().name("mcp-server".to_owned()).spawn(wait)?;
    Ok(())
}

/// Ends this process, as the server has closed its standard output and can answer nothing any more. If it has
/// ended, too, the report of that comes first.
fn end_with_output() -> ! {
    thread::sleep(3 * LAST_WORDS);
    let _ = writeln!(io::stderr(), "the MCP server closed its standard output");
    std::process::exit(1)
}

fn result(
    answer: Result<ServerResult, ServiceError>,
    strays: &Strays,
) -> Result<CallToolResult, Failure> {
    match answer {
        Ok(ServerResult::CallToolResult(result)) => Ok(result),
        Ok(_) => Err(not_a_message(&strays.last_answer())),
        Err(error) => Err(failure(&error)),
    }
}

/// The failure of a call that was answered with a line that is not an answer to it.
fn not_a_message(line: &str) -> Failure {
    let message = format!("its answer is not a valid message of the protocol: {line}; {PRINTS}");
    Failure::new(ErrorCode::Border, message)
}

fn failure(error: &ServiceError) -> Failure {
    let ServiceError::McpError(error) = error else {
        return Failure::new(ErrorCode::Border, error.to_string());
    };
    let code = match error.code {
        McpCode::INVALID_PARAMS => ErrorCode::InvalidArguments,
        McpCode::METHOD_NOT_FOUND => ErrorCode::UnknownTool,
        _ => ErrorCode::Failed,
    };
    Failure::new(code, error.message.clone())
}

/// The text of a result for the model. Content that is not text is only named.
fn output(result: CallToolResult) -> Result<ToolOutput, Failure> {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[an image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        ContentBlock::Resource(_) => "[a resource]".to_owned(),
        ContentBlock::ResourceLink(link) => format!("[a resource, {}]", link.uri),
        _ => "[an answer of another kind]".to_owned(),
    };
    let mut texts: Vec<String> = result.content.iter().map(text).collect();
    if let (true, Some(value)) = (texts.is_empty(), &result.structured_content) {
        texts.push(value.to_string());
    }
    let text = texts.join("\n");
    if result.is_error == Some(true) {
        return Err(Failure::new(ErrorCode::Failed, text));
    }
    let mut output = ToolOutput::text(text);
    if let Some(value) = result.structured_content {
        output.metadata.insert("structuredContent".to_owned(), value);
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_text_and_failures_the_models_to_mend() {
        let texts = CallToolResult::success(vec![ContentBlock::text("a"), ContentBlock::text("b")]);
        assert_eq!(output(texts).unwrap().output, "a\nb");
        let refused = CallToolResult::error(vec![ContentBlock::text("no such row")]);
        assert_eq!(output(refused).unwrap_err().message, "no such row");
        let facts = CallToolResult::structured(serde_json::json!({"n": 1}));
        assert_eq!(output(facts).unwrap().metadata["structuredContent"]["n"], 1);
    }
}
