//! Arguments of the commands that run until they are stopped.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use repertoire::ConsentPolicy;
use repertoire_agents::HookAgent;

use super::agents::{McpAgent, hook_agents};
use super::hook::PlaceArgs;
use super::routing::RoutingArgs;
use super::values::one_of;
use crate::environment;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// Serve HTTP on this address, such as `127.0.0.1:8765`, instead of standard input and output
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// File with the token that HTTP clients must send, or with a table of clients, their tokens and
    /// skills [default: the token in `REPERTOIRE_MCP_TOKEN`; without it, on this machine, a new one]
    #[arg(long, value_name = "PATH", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Name by which HTTP clients reach this server, such as that of a proxy; may be repeated
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Continue the session of this name, which hooks and other commands know too, and keep it
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub(crate) session: Option<String>,
    /// The agent that this server is for: its section of `skills.show` in `config.toml` counts
    #[arg(long, value_name = "AGENT", value_parser = hook_agents())]
    pub(crate) agent: Option<HookAgent>,
    #[command(flatten)]
    pub(crate) client: McpClientArgs,
    #[command(flatten)]
    pub(crate) refresh: RefreshArgs,
    /// Keep fetched skills as they are pinned, whatever `refresh` in `config.toml` says
    #[arg(long)]
    pub(crate) frozen: bool,
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
}

/// Options for the skills that clients see, and for what skills may do on behalf of clients.
#[derive(Debug, Args)]
pub(crate) struct McpClientArgs {
    /// When the user must agree to the use of a skill
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) consent: ConsentArg,
    /// Let scripts change files in this directory; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Deny scripts the network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Leave the list of skills out of the server's instructions: for agents that get it from a hook
    #[arg(long)]
    pub(crate) no_list: bool,
}

impl McpClientArgs {
    /// Returns the words of a command line with the same options.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        match self.consent {
            ConsentArg::Never => {}
            ConsentArg::FirstUse => words.push("--consent=first-use".to_owned()),
            ConsentArg::Always => words.push("--consent=always".to_owned()),
        }
        for path in &self.write {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            words.extend(["--write".to_owned(), path.to_string_lossy().into_owned()]);
        }
        words.extend(self.offline.then(|| "--offline".to_owned()));
        words.extend(self.no_list.then(|| "--no-list".to_owned()));
        words
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Install this server in an agent's settings
    Install(McpInstallArgs),
    /// Remove this server from an agent's settings
    Uninstall(McpPlaceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpInstallArgs {
    #[command(flatten)]
    pub(crate) place: McpPlaceArgs,
    #[command(flatten)]
    pub(crate) client: McpClientArgs,
}

/// An agent, and the choice of its settings.
#[derive(Debug, Args)]
pub(crate) struct McpPlaceArgs {
    /// The agent
    #[arg(value_parser = one_of::<McpAgent>(McpAgent::all().map(McpAgent::as_str)))]
    pub(crate) agent: McpAgent,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// Serve on this loopback address [default: 127.0.0.1:4747, or any free port]
    #[arg(long, value_name = "HOST:PORT", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    #[command(flatten)]
    pub(crate) refresh: RefreshArgs,
}

/// The way in which a running command notices changed skills.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// When to refresh changed skills: `watch`, `off`, or an interval in seconds
    #[arg(long, value_name = "WHEN", default_value = "watch")]
    #[arg(env = environment::filled("REPERTOIRE_REFRESH"))]
    #[arg(value_parser = refresh)]
    pub(crate) refresh: Refresh,
}

/// The times at which changed skills are refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// When the system reports changes.
    Watch,
    Off,
    /// At this interval.
    Every(Duration),
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum ConsentArg {
    #[default]
    Never,
    /// Once for each skill
    FirstUse,
    /// Each time
    Always,
}

impl From<ConsentArg> for ConsentPolicy {
    fn from(arg: ConsentArg) -> ConsentPolicy {
        match arg {
            ConsentArg::Never => ConsentPolicy::Never,
            ConsentArg::FirstUse => ConsentPolicy::FirstUse,
            ConsentArg::Always => ConsentPolicy::Always,
        }
    }
}

fn refresh(text: &str) -> Result<Refresh, String> {
    match text {
        "watch" => Ok(Refresh::Watch),
        "off" => Ok(Refresh::Off),
        _ => match text.parse() {
            Ok(seconds @ 1..) => Ok(Refresh::Every(Duration::from_secs(seconds))),
            _ => Err("give `watch`, `off`, or a whole number of seconds from 1".to_owned()),
        },
    }
}

/// Parses an address to serve on; `localhost` stands for 127.0.0.1.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    };
    address.map_err(|_| "write an address with its port, such as `127.0.0.1:8765`".to_owned())
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = address(text).ok().filter(|address| address.ip().is_loopback());
    address
        .ok_or_else(|| "write an address of this machine only, such as `127.0.0.1:8765`".to_owned())
}
