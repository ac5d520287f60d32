//! The agents that see fetched skills: in their own directories, by a hook, or by the MCP server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::skill::{Profile, check_file};
use repertoire_agents::HookAgent;
use repertoire_fetch::{PlacedSkill, Placing};
use serde_json::{Value as Json, json};

use crate::args::Common;
use crate::output::{GOOD, NAME, Page, WARNING, styled};
use crate::{hook, mcp, sanitize, setup};

/// Returns the part of `placing` that is about one source.
pub(super) fn of_source(mut placing: Placing, source: &str) -> Placing {
    placing.placed.retain(|placed| placed.source == source);
    placing.refused.retain(|refused| refused.source == source);
    placing
}

/// Adds a line for each directory that has skills now.
pub(super) fn show_placed(page: &mut Page, placed: &[PlacedSkill]) {
    let mut by_dir: BTreeMap<(&Path, bool), Vec<&str>> = BTreeMap::new();
    for PlacedSkill { skill, path, link, .. } in placed {
        let dir = path.parent().unwrap_or(path);
        by_dir.entry((dir, *link)).or_default().push(skill);
    }
    for ((dir, link), skills) in by_dir {
        let (dir, how) = (dir.to_string_lossy(), if link { "linked" } else { "copied" });
        let (title, dir) = (styled(GOOD, how), styled(NAME, sanitize::line(&dir)));
        let skills = skills.join("`, `");
        page.line(format_args!("{title} into {dir}: `{}`", sanitize::line(&skills)));
    }
}

/// A finding about what an agent runs by itself, as it reads a skill in its own directory: trust does not hold there.
pub(super) struct RunsThere {
    skill: String,
    finding: Diagnostic,
}

/// Returns what agents run of the skills that are `placed`.
pub(super) fn runs_there(placed: &[PlacedSkill], common: &Common) -> Vec<RunsThere> {
    let of_skill = |placed: &PlacedSkill| {
        let found = check_file(&placed.path.join("SKILL.md"), Profile::Untrusted, &common.brand);
        let skill = placed.skill.clone();
        let code = found.into_iter().filter(|finding| finding.code == Code::AgentCode);
        code.map(move |finding| RunsThere { skill: skill.clone(), finding }).collect::<Vec<_>>()
    };
    placed.iter().flat_map(of_skill).collect()
}

/// Adds a line for each of these.
pub(super) fn show_runs_there(page: &mut Page, all: &[RunsThere]) {
    for RunsThere { skill, finding } in all {
        let title = styled(WARNING, "runs in agents");
        let (skill, message) = (sanitize::line(skill), sanitize::line(&finding.message));
        page.line(format_args!("{title}: `{skill}`: {message}"));
    }
}

pub(super) fn runs_there_as_json(all: &[RunsThere]) -> Json {
    let one = |RunsThere { skill, finding }: &RunsThere| json!({"skill": skill, "message": finding.message});
    all.iter().map(one).collect()
}

/// Adds a line for each place from which a skill was removed, and for each that was left alone.
pub(super) fn show_changes(page: &mut Page, placing: &Placing) {
    for written in &placing.removed {
        let (title, at) = (styled(GOOD, "removed"), sanitize::line(written));
        page.line(format_args!("{title} {at}"));
    }
    for refused in &placing.refused {
        let (title, at) = (styled(WARNING, "left alone"), sanitize::line(&refused.at));
        page.line(format_args!("{title}: {at} {}", sanitize::line(&refused.reason)));
    }
}

/// The way in which an agent sees the skills, if it does.
pub(super) struct Seen {
    agent: HookAgent,
    by: Option<&'static str>,
}

/// Returns the agents that see the skills that are `placed`, and the agents of this user that do not.
pub(super) fn seen(placed: &[PlacedSkill], common: &Common) -> Vec<Seen> {
    let start = setup::start(common);
    let dirs: Vec<PathBuf> =
        placed.iter().filter_map(|placed| placed.path.parent().map(Path::to_owned)).collect();
    let seen = HookAgent::ALL.into_iter().filter_map(|agent| {
        let lists = || agent.state(&start).roots.iter().any(|root| dirs.contains(&root.path));
        let by = if hook::runs(agent, common) {
            Some("hook")
        } else if mcp::installed_options(agent, common).is_some() {
            Some("MCP")
        } else {
            lists().then_some("its own list")
        };
        let is_here = || agent.user_dir(&start).is_some_and(|dir| dir.is_dir());
        (by.is_some() || is_here()).then_some(Seen { agent, by })
    });
    seen.collect()
}

/// Adds the line that says who sees the skills, and one that says what to run for the others.
pub(super) fn show_seen(page: &mut Page, seen: &[Seen]) {
    let with =
        seen.iter().filter_map(|seen| Some(format!("{} ({})", seen.agent.title(), seen.by?)));
    let with: Vec<String> = with.collect();
    if !with.is_empty() {
        page.line(format_args!("{} by {}", styled(GOOD, "seen"), with.join(", ")));
    }
    let without: Vec<HookAgent> =
        seen.iter().filter(|seen| seen.by.is_none()).map(|seen| seen.agent).collect();
    match &without[..] {
        [] if with.is_empty() => page.line(format_args!(
            "no agent sees them yet: `repertoire export AGENT` or `repertoire hook install AGENT`"
        )),
        [] => {}
        [agent] => page.line(format_args!(
            "for {}: `repertoire export {agent}` or `repertoire hook install {agent}`",
            agent.title()
        )),
        agents => {
            let titles: Vec<&str> = agents.iter().map(|agent| agent.title()).collect();
            let names: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            page.line(format_args!(
                "for {}: `repertoire export {}` or `repertoire hook install` each",
                titles.join(", "),
                names.join(" ")
            ));
        }
    }
}

pub(super) fn seen_as_json(seen: &[Seen]) -> Json {
    seen.iter().map(|Seen { agent, by }| json!({"agent": agent.as_str(), "by": by})).collect()
}
