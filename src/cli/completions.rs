//! `repertoire completions`: completion scripts for shells.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "repertoire", &mut script);
    Output::exact(String::from_utf8_lossy(&script).trim_end_matches('\n'))?;
    Ok(ExitCode::Done)
}
