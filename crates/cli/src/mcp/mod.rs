//! `repertoire mcp`: serves the skills to agents that speak the Model Context Protocol, and
//! installs the server in the settings of agents.

mod agents;
mod entry;
mod install;
mod json;
mod sources;
mod store;
mod tokens;
mod toml;

use std::collections::BTreeSet;
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
    let common = &Common { channel: Channel::Mcp, ..common.clone() };
    // Invalid tokens must be reported before any skill is read and before an address is announced.
    let tokens = args.http.map(|address| tokens::given(args, address)).transpose()?;
    let is_kept = args.http.is_some() || args.session.is_some();
    let stores = if is_kept { store::open(common, out)? } else { None };
    let mut engines = Engines { args, common, stores: stores.as_ref(), made: Vec::new() };
    let engine = engines.get(None)?;
    let mut clients = Vec::new();
    for Token { name, secret, skills } in tokens.iter().flat_map(|tokens| &tokens.all) {
        let engine = engines.get(skills.as_ref())?;
        if skills.is_some() {
            let diagnostics = engine.diagnostics();
            for unknown in diagnostics.iter().filter(|found| found.code == Code::UnknownSkill) {
                out.note(&sanitize::line(&format!("client `{name}`: {}", unknown.message)));
            }
        }
        clients.push(HttpClient::new(name, secret, &engine, options(args))?);
    }
    let code = setup::finish(common, &engine, out);
    let made = engines.made.iter().map(|(_, engine)| engine);
    let _watches: Vec<_> = made
        .map(|engine| setup::watch(engine, args.refresh.refresh, out))
        .collect::<Result<_, _>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Signals are watched before a fetch starts a program, which must not outlive this process.
    let signals = Signals::watch()?;
    let made = engines.made.iter().map(|(_, engine)| engine);
    let poller = sources::poller(args, common);
    let polls: Vec<_> = match &poller {
        Some(poller) => {
            made.map(|engine| sources::watch(engine, poller, out)).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let served = runtime.block_on(async {
        if let (Some(address), Some(tokens)) = (args.http, &tokens) {
            let http = http(address, args, tokens, clients, stores.map(|of| of.store), out);
            return tokio::select! {
                served = http => served,
                () = ended(&signals) => Ok(()),
            };
        }
        let server = match &args.session {
            Some(name) => McpServer::with_session(&engine, engine.session(name), options(args)),
            None => McpServer::new(&engine, options(args)),
        };
        Ok(server.serve_stdio_until(ended(&signals)).await?)
    });
    drop(polls);
    runtime.shutdown_timeout(GRACE);
    served.map(|()| code)
}

/// The engines of a server: one for each selection of skills that clients see.
struct Engines<'a> {
    args: &'a McpArgs,
    common: &'a Common,
    stores: Option<&'a Stores>,
    made: Vec<(Option<BTreeSet<String>>, Engine)>,
}

impl Engines<'_> {
    /// Returns the engine for `skills`, or for all skills if it is `None`. Skills that the command
    /// line does not allow are left out.
    fn get(&mut self, skills: Option<&BTreeSet<String>>) -> anyhow::Result<Engine> {
        if let Some((_, engine)) = self.made.iter().find(|(made, _)| made.as_ref() == skills) {
            return Ok(engine.clone());
        }
        let Engines { args, common, stores, .. } = self;
        let mut scripts = setup::script_options(common)?;
        scripts.write.extend(args.client.write.iter().cloned());
        scripts.network &= !args.client.offline;
        let consent = Consent::new(args.client.consent.into());
        let allowlist = skills.map(|skills| tokens::allowlist(skills, &common.allow));
        let engine = setup::engine_with_everything(common, scripts, |mut builder| {
            builder = builder.consent(consent);
            if let Some(allowlist) = allowlist {
                builder = builder.allow(allowlist);
            }
            match stores {
                Some(stores) => builder.session_store(Arc::clone(&stores.fallback)),
                None => builder,
            }
        })?;
        self.made.push((skills.cloned(), engine.clone()));
        Ok(engine)
    }
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
