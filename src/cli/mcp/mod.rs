//! `repertoire mcp`: serves the skills to agents that speak the Model Context Protocol, and
//! installs the server in the settings of agents.

mod agents;
mod entry;
mod install;
mod json;
mod store;
mod toml;

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::Context as _;
use repertoire::config::Channel;
use repertoire::integration::mcp::{
    HttpClient, HttpOptions, McpOptions, McpServer, check_token, serve_http,
};
use repertoire::{Consent, Engine};

use crate::args::{Common, McpArgs, McpCommand};
use crate::ending::Ending;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{random, setup};

pub(crate) use agents::McpAgent;

/// The variable with the token, used if no file is named.
const TOKEN_VARIABLE: &str = "REPERTOIRE_MCP_TOKEN";

/// The time for cancelled calls to end.
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
    let mut scripts = setup::script_options(common)?;
    scripts.write.extend(args.client.write.iter().cloned());
    scripts.network &= !args.client.offline;
    let consent = Consent::new(args.client.consent.into());
    let is_kept = args.http.is_some() || args.session.is_some();
    let store = if is_kept { store::open(common, out)? } else { None };
    let is_shared = store.is_some();
    let engine = setup::engine_with_everything(common, scripts, |builder| {
        let builder = builder.consent(consent);
        match store {
            Some(store) => builder.session_store(store),
            None => builder,
        }
    })?;
    let code = setup::finish(common, &engine, out);
    let _watch = setup::watch(&engine, args.refresh.refresh, out)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = Ending::watch()?;
    let served = runtime.block_on(async {
        if let Some(address) = args.http {
            return tokio::select! {
                served = http(address, args, &engine, is_shared, out) => served,
                () = ended(&ending) => Ok(()),
            };
        }
        let server = match &args.session {
            Some(name) => McpServer::with_session(&engine, engine.session(name), options(args)),
            None => McpServer::new(&engine, options(args)),
        };
        Ok(server.serve_stdio_until(ended(&ending)).await?)
    });
    runtime.shutdown_timeout(GRACE);
    served.map(|()| code)
}

fn options(args: &McpArgs) -> McpOptions {
    let mut options = McpOptions::default();
    if args.client.no_list {
        options.instructions_chars = 0;
    }
    options
}

/// Waits for a signal that asks this process to end.
async fn ended(ending: &Ending) {
    const LOOK: Duration = Duration::from_millis(50);
    while ending.signal().is_none() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn http(
    address: SocketAddr,
    args: &McpArgs,
    engine: &Engine,
    is_shared: bool,
    out: Output,
) -> anyhow::Result<()> {
    let given = given_token(args)?;
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let is_new = given.is_none();
    let token = given.map_or_else(random::token::<32>, Ok)?;
    out.note(&format!("serving http://{}/mcp", listener.local_addr()?));
    if is_new {
        out.note(&format!("the token of this run is {token}"));
    }
    let clients = vec![HttpClient::new(&token, engine, options(args))?];
    let mut options = HttpOptions::default();
    options.shared_sessions = is_shared;
    Ok(serve_http(listener, clients, options).await?)
}

/// Returns the token of the file, otherwise of the variable; `None` to create one. An invalid token
/// must be refused before a server is announced.
fn given_token(args: &McpArgs) -> anyhow::Result<Option<String>> {
    let (from, token) = if let Some(file) = &args.token_file {
        let from = format!("the token file {}", file.display());
        let token = std::fs::read_to_string(file).with_context(|| format!("cannot read {from}"))?;
        (from, token)
    } else {
        let token = std::env::var(TOKEN_VARIABLE).unwrap_or_default();
        if token.is_empty() {
            return Ok(None);
        }
        (format!("`{TOKEN_VARIABLE}`"), token)
    };
    let token = token.trim();
    check_token(token).map_err(|error| error.reworded(format!("{from}: {}", error.message())))?;
    Ok(Some(token.to_owned()))
}
