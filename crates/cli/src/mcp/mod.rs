//! `repertoire mcp`: serves the skills to agents that speak the Model Context Protocol, and
//! installs the server in the settings of agents.

mod agents;
mod client_list;
mod entry;
mod install;
mod json;
mod listing;
mod sources;
mod store;
mod tokens;
mod toml;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use repertoire::{Code, Consent, Engine};
use repertoire_config::Channel;
use repertoire_mcp::{HttpClient, HttpOptions, McpOptions, McpServer, serve_http};
use repertoire_sessions::MeteredStore;

use crate::args::{Common, McpArgs, McpCommand};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::signals::Signals;
use crate::{sanitize, setup};
pub(crate) use client_list::is_listed;
pub(crate) use install::{add, hidden_tools, installed_options, remove};
use listing::AgentSettings;
use store::Stores;
use tokens::{Token, Tokens};

/// The maximum number of concurrent sessions, and of connections, on an address that other machines
/// can reach.
const REMOTE_CONNECTION_LIMIT: usize = 1024;

/// The time that cancelled calls have to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &McpArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    match &args.command {
        Some(McpCommand::Install(args)) => install::install(args, common, out),
        Some(McpCommand::Uninstall(args)) => install::uninstall(args, common, out),
        None => serve(args, common, out),
    }
}

fn serve(args: &McpArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let common = &Common { channel: Channel::Mcp, served: args.agent, ..common.clone() };
    // Invalid tokens must be reported before any skill is read and before an address is announced.
    let tokens = args.http.map(|address| tokens::given(args, address)).transpose()?;
    let is_kept = args.http.is_some() || args.session.is_some();
    let stores = if is_kept { store::open(common, out)? } else { None };
    let engine = engine(args, common, stores.as_ref())?;
    let mut clients = Vec::new();
    for Token { name, secret, skills } in tokens.iter().flat_map(|tokens| &tokens.all) {
        let mut engine = engine.clone();
        if let Some(skills) = skills {
            engine = engine.view(tokens::allowlist(skills));
            let diagnostics = engine.diagnostics();
            for unknown in diagnostics.iter().filter(|found| found.code == Code::UnknownSkill) {
                out.note(&sanitize::line(&format!("client `{name}`: {}", unknown.message)));
            }
        }
        clients.push(HttpClient::new(name, secret, &engine, options(args))?);
    }
    let code = setup::finish(common, &engine, out);
    let _watch = setup::watch(&engine, args.refresh.refresh, out)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Signals are watched before a fetch starts a program, which must not outlive this process.
    let signals = Signals::watch()?;
    let poller = sources::poller(args, common);
    let poll = poller.map(|poller| sources::watch(&engine, &poller, out)).transpose()?;
    let served = runtime.block_on(async {
        if let (Some(address), Some(tokens)) = (args.http, &tokens) {
            let http = http(address, args, tokens, clients, stores.map(|of| of.store), out);
            return tokio::select! {
                served = http => served,
                () = ended(&signals) => Ok(()),
            };
        }
        out.note_to_typist(
            "an agent starts this server, and speaks MCP to it: `repertoire mcp install AGENT` sets that up; \
             Ctrl-C ends it",
        );
        let server = match &args.session {
            Some(name) => McpServer::with_session(&engine, engine.session(name), options(args)),
            None => McpServer::new(&engine, options(args)),
        };
        let settings = Arc::new(AgentSettings(common.clone()));
        let server = server.with_listing_host(settings);
        Ok(server.serve_stdio_until(ended(&signals)).await?)
    });
    drop(poll);
    runtime.shutdown_timeout(GRACE);
    served.map(|()| code)
}

/// Builds the engine of all skills. The clients with a list of skills have views of it.
fn engine(args: &McpArgs, common: &Common, stores: Option<&Stores>) -> anyhow::Result<Engine> {
    let mut scripts = setup::script_options(common)?;
    scripts.write.extend(args.client.write.iter().cloned());
    scripts.network &= !args.client.offline;
    let consent = Consent::new(args.client.consent.into());
    setup::engine_with_everything(common, scripts, |builder| {
        let builder = builder.consent(consent);
        match stores {
            Some(stores) => builder.session_store(Arc::clone(&stores.fallback)),
            None => builder,
        }
    })
}

fn options(args: &McpArgs) -> McpOptions {
    let mut options = McpOptions::default();
    if args.client.no_list {
        options.instructions_chars = 0;
    }
    options
}

/// Waits for a signal that asks this process to end.
async fn ended(signals: &Signals) {
    const LOOK: Duration = Duration::from_millis(50);
    while signals.signal().is_none() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn http(
    address: SocketAddr,
    args: &McpArgs,
    tokens: &Tokens,
    clients: Vec<HttpClient>,
    store: Option<MeteredStore>,
    out: Output,
) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let bound = listener.local_addr()?;
    out.note(&format!("serving http://{bound}/mcp"));
    if tokens.are_new {
        for token in &tokens.all {
            out.note(&format!("the token of this run is {}", token.secret));
        }
    }
    let mut options = HttpOptions::default();
    options.store = store;
    options.hosts.clone_from(&args.allow_host);
    if !bound.ip().is_loopback() {
        (options.max_sessions, options.max_connections) =
            (REMOTE_CONNECTION_LIMIT, REMOTE_CONNECTION_LIMIT);
    }
    Ok(serve_http(listener, clients, options).await?)
}
