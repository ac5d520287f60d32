//! The report of `repertoire doctor` for people.

use repertoire::script::FilesystemLevel;
use repertoire::{Diagnostic, Severity};

use super::{AgentReport, CodeProblem, Report, Sandbox, SnapshotReport, StateReport};
use crate::output::{DIM, ERROR, GOOD, NAME, Page, WARNING, styled};
use crate::report::{count, short};
use crate::sanitize;

pub(super) fn page(report: &Report) -> Page {
    let mut page = Page::default();
    skills(&mut page, report);
    configuration(&mut page, report);
    hooks(&mut page, report);
    state(&mut page, &report.state);
    code(&mut page, report);
    let (style, text) = match report.broken.len() {
        0 => (GOOD, "Nothing is broken.".to_owned()),
        n => (ERROR, format!("{} broken:", count(n, "thing"))),
    };
    page.line(format_args!("{}", styled(style, text)));
    for problem in &report.broken {
        page.line(format_args!("  {}", sanitize::line(problem)));
    }
    page
}

fn heading(page: &mut Page, text: &str) {
    page.line(format_args!("{}", styled(NAME, text)));
}

fn skills(page: &mut Page, report: &Report) {
    heading(page, "Skills");
    for source in &report.sources {
        let found = if source.exists { count(source.skills, "skill") } else { "none".to_owned() };
        let path = sanitize::line(&source.path);
        page.line(format_args!("  {:<8} {found:<10} {path}", source.scope));
    }
    for unused in &report.unused {
        let (id, reason) = (sanitize::line(&unused.id), sanitize::line(&unused.reason));
        page.line(format_args!("  {} {id}: {reason}", styled(WARNING, unused.status)));
    }
    for diagnostic in &report.rejected {
        page.line(format_args!("  {}", short(diagnostic)));
    }
    super::fetched::show(page, &report.fetched, report.fetch_cache);
}

fn configuration(page: &mut Page, report: &Report) {
    heading(page, "Configuration");
    for file in &report.config.files {
        let (found, path) =
            (if file.exists { "read" } else { "none" }, file.path.to_string_lossy());
        page.line(format_args!(
            "  {:<8} {found:<10} {}",
            file.scope.as_str(),
            sanitize::line(&path)
        ));
    }
    page.line(format_args!("  skills are ranked by: {}", sanitize::line(&report.config.meaning)));
    // Errors are already listed among the rejected files.
    let is_told = |finding: &&Diagnostic| finding.severity == Severity::Error;
    for finding in report.config.findings.iter().filter(|finding| !is_told(finding)) {
        page.line(format_args!("  {}", short(finding)));
    }
}

fn hooks(page: &mut Page, report: &Report) {
    heading(page, "Hooks");
    let is_there = |agent: &&AgentReport| agent.hooks != "no";
    for agent in report.agents.iter().filter(is_there) {
        let style = if agent.hooks == "yes" { GOOD } else { WARNING };
        let hooks = styled(style, agent.hooks);
        let detail = sanitize::line(&agent.detail);
        page.line(format_args!("  {} ({}): {hooks} {detail}", agent.agent, agent.place.as_str()));
    }
    if !report.agents.iter().any(|agent| is_there(&agent)) {
        page.line(format_args!("  in no agent; `repertoire hook install AGENT` sets them up"));
    }
    for note in &report.notes {
        page.line(format_args!("  {}: {}", styled(WARNING, "note"), sanitize::line(note)));
    }
}

fn state(page: &mut Page, state: &StateReport) {
    heading(page, "State");
    for (name, file) in
        [("sessions", &state.sessions), ("trust", &state.trust), ("hook log", &state.hook_log)]
    {
        let size = match file.size {
            Some(size) => format!("{size} bytes"),
            None if file.server => "on a server".to_owned(),
            None => "not there yet".to_owned(),
        };
        page.line(format_args!("  {name}: {size}, {}", sanitize::line(&file.path)));
        if let Some(problem) = &file.problem {
            page.line(format_args!("    {}: {}", styled(ERROR, "broken"), sanitize::line(problem)));
        }
    }
    let SnapshotReport { path, files, size, problems } = &state.snapshots;
    if !path.is_empty() {
        let (files, path) = (count(*files, "file"), sanitize::line(path));
        page.line(format_args!("  snapshots: {files}, {size} bytes, {path}"));
    }
    for problem in problems {
        page.line(format_args!("    {}", sanitize::line(problem)));
    }
    for path in &state.set_aside {
        page.line(format_args!("  damaged and set aside: {}", sanitize::line(path)));
    }
    for line in &state.last_log_lines {
        page.line(format_args!("  {}", styled(DIM, sanitize::line(line))));
    }
}

fn code(page: &mut Page, report: &Report) {
    heading(page, "Tools and scripts");
    for CodeProblem { skill, what, problem, is_broken } in &report.code {
        let (skill, what) = (sanitize::line(skill), sanitize::line(what));
        let state =
            if *is_broken { styled(ERROR, "cannot run") } else { "does not run".to_owned() };
        page.line(format_args!("  {skill}: `{what}` {state}: {}", sanitize::line(problem)));
    }
    if report.code.is_empty() {
        let which =
            if report.rejected.is_empty() { "all" } else { "all except those refused above" };
        page.line(format_args!("  {which} can run"));
    }
    let Sandbox { landlock, seccomp, filesystem } = report.sandbox;
    let says = |has| match has {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let landlock = match filesystem {
        Some(FilesystemLevel::Partial) => "in part",
        _ => says(landlock),
    };
    let seccomp = says(seccomp);
    page.line(format_args!("  sandbox: Landlock {landlock}, seccomp {seccomp}"));
}
