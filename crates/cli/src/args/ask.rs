//! Arguments of the evaluation that asks a model.

use std::path::PathBuf;

use clap::Args;
use repertoire_authoring::ask::Way;

/// Options of asking a model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Asking a model")]
pub(crate) struct AskArgs {
    /// Ask the model that this program reaches, and count which skills it loads
    ///
    /// Each message is sent three ways: alone, with the plain list of skills that agents show, and with what is
    /// disclosed for it. The program reads a prompt from its standard input and prints the reply: `claude -p`,
    /// `codex exec -`, `llm -m NAME`, `ollama run NAME`. An address on this machine is asked as `OpenAI`'s API:
    /// `http://localhost:11434/v1`. docs/asking.md explains the figures.
    #[arg(long, value_name = "PROGRAM|ADDRESS", conflicts_with_all = ["baseline", "paste", "Threshold"])]
    pub(crate) ask: Option<String>,
    /// The name of the model at the address
    #[arg(long, value_name = "NAME", requires = "ask")]
    pub(crate) model: Option<String>,
    /// The programs read a line of JSON for each request, and answer with a line of JSON
    #[arg(long, requires = "ask")]
    pub(crate) json_lines: bool,
    /// The ways to send each message: `nothing`, `list`, `disclosed`
    #[arg(long, value_name = "WAY,…", value_delimiter = ',', requires = "ask")]
    pub(crate) ways: Vec<Way>,
    /// Ask N of the messages; the same ones each time, and a greater N adds to them
    #[arg(long, value_name = "N", requires = "ask")]
    pub(crate) sample: Option<usize>,
    /// Begin no conversation when so many tokens are used
    #[arg(long, value_name = "N", requires = "ask")]
    pub(crate) max_tokens: Option<usize>,
    /// The time limit for each reply, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", requires = "ask")]
    pub(crate) reply_timeout: u64,
    /// The number of conversations at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64), requires = "ask")]
    pub(crate) jobs: u8,
    /// Keep the replies in this file of JSON lines, and ask only for those that it does not have
    #[arg(long, value_name = "FILE", requires = "ask")]
    pub(crate) replies: Option<PathBuf>,
    /// Let another model say which replies are good: a program, or an address on this machine
    #[arg(long, value_name = "PROGRAM|ADDRESS", requires = "ask")]
    pub(crate) judge: Option<String>,
}
