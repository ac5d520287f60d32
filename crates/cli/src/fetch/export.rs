//! `repertoire export`: puts the skills that were added into the own directories of agents.

use repertoire_agents::HookAgent;
use serde_json::json;

use super::agents::{
    runs_there, runs_there_as_json, seen, seen_as_json, show_changes, show_placed, show_runs_there,
    show_seen,
};
use super::{fetcher, list_to_change};
use crate::args::{Common, ExportArgs};
use crate::exit_code::ExitCode;
use crate::output::{Output, Page};

pub(crate) fn run(args: &ExportArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let list = list_to_change(&fetcher, common)?;
    let agents: Vec<String> = args.agents.iter().map(HookAgent::to_string).collect();
    let sources = list.change_agents(&agents, args.undo)?;
    let placing = list.place()?;
    let is_good = placing.refused.is_empty();
    let seen = seen(&placing.placed, common);
    let runs = runs_there(&placing.placed, common);
    if out.json {
        let (agents, code) = (seen_as_json(&seen), runs_there_as_json(&runs));
        Output::json(
            &json!({"sources": sources, "placing": placing, "agents": agents, "agent_code": code}),
        )?;
        return Ok(ExitCode::done_if(is_good));
    }
    if sources.is_empty() {
        out.note("no sources; `repertoire add SOURCE` adds one");
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    show_placed(&mut page, &placing.placed);
    show_runs_there(&mut page, &runs);
    show_changes(&mut page, &placing);
    show_seen(&mut page, &seen);
    out.human(page.as_str())?;
    Ok(ExitCode::done_if(is_good))
}
