//! `repertoire completions`: completion scripts for shells.

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::{Cli, CompletionsArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;

pub(crate) fn run(args: &CompletionsArgs, out: Output) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "repertoire", &mut script);
    let script = String::from_utf8_lossy(&script);
    if out.json {
        Output::json(&json!({"shell": args.shell.to_string(), "script": script}))?;
    } else {
        Output::exact(script.trim_end_matches('\n'))?;
    }
    Ok(ExitCode::Done)
}
