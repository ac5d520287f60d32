//! `repertoire update`: fetches the newest state of added skills, and shows what changes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repertoire::Error;
use repertoire_fetch::{
    FileChange, Lines, SkillChange, SourceList, Update, UpdateOptions, UpdateStatus,
};
use serde_json::{Value as Json, json};

use super::agents::show_changes;
use super::copy_problems::CopyProblems;
use super::{
    collect, failure_of, fetcher, lists, named, short, show_edited, show_left_out,
    tell_of_settings, waiting,
};
use crate::args::{Common, UpdateArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{DIM, ERROR, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::{sanitize, signals};

pub(crate) fn run(args: &UpdateArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let lists = lists(&fetcher, common);
    tell_of_settings(common, out)?;
    let options = UpdateOptions::new(args.dry_run, args.frozen);
    let (mut results, mut is_good) = (Vec::new(), true);
    for (list, name) in named(&args.names, &lists)? {
        let result = waiting(&name, || list.update(&name, options));
        is_good &= result.is_ok();
        match &result {
            Ok(update) if !out.json => {
                out.human(page(&name, update, args.dry_run).as_str())?;
            }
            Ok(_) => {}
            Err(error) => out.partial_failure(&failure_of(&name, error)),
        }
        results.push(Updated { list, name, result });
        if signals::cancelled_by().is_some() {
            break;
        }
    }
    let mut placings = Vec::new();
    for list in lists.iter().filter(|_| !args.dry_run) {
        match list.place() {
            Ok(placing) => placings.push(placing),
            Err(error) => {
                is_good = false;
                out.partial_failure(&Failure::from(&error));
            }
        }
    }
    is_good &= placings.iter().all(|placing| placing.refused.is_empty());
    let in_use = in_use(&results, args.dry_run, common)?;
    let collected = if args.dry_run { 0 } else { collect(&fetcher, common, out) };
    if out.json {
        let none = CopyProblems::default();
        let reports = results.iter().enumerate();
        let sources = reports.map(|(at, it)| report(it, in_use.get(&at).unwrap_or(&none)));
        let (dry_run, sources) = (args.dry_run, sources.collect::<Vec<_>>());
        let report = json!({
            "dry_run": dry_run, "sources": sources, "placing": placings, "collected": collected,
        });
        Output::json(&report)?;
        return Ok(ExitCode::done_if(is_good));
    }
    let mut page = Page::default();
    for placing in &placings {
        show_changes(&mut page, placing);
    }
    for in_use in in_use.values() {
        in_use.show(&mut page);
    }
    if !page.as_str().is_empty() {
        out.human(page.as_str())?;
    }
    if results.is_empty() {
        out.note("no sources; `repertoire add SOURCE` adds one");
    }
    Ok(ExitCode::done_if(is_good))
}

/// A source, and the result of its update.
struct Updated<'l, 'f> {
    list: &'l SourceList<'f>,
    name: String,
    result: Result<Update, Error>,
}

/// Returns the problems of the new copies, by the index of the source in `results`.
fn in_use(
    results: &[Updated<'_, '_>],
    dry_run: bool,
    common: &Common,
) -> Result<BTreeMap<usize, CopyProblems>, Error> {
    let is_new = |update: &Update| !dry_run && update.status != UpdateStatus::Unchanged;
    let new = results.iter().enumerate().filter(|(_, it)| it.result.as_ref().is_ok_and(is_new));
    let (places, roots): (Vec<usize>, Vec<PathBuf>) =
        new.map(|(at, it)| (at, it.list.copy_of(&it.name))).unzip();
    Ok(places.into_iter().zip(CopyProblems::load(&roots, common)?).collect())
}

fn report(Updated { list, name, result }: &Updated<'_, '_>, in_use: &CopyProblems) -> Json {
    let config = list.config_file().to_string_lossy();
    let CopyProblems { findings, shadowed } = in_use;
    match result {
        Ok(Update { status, from, to, changes, signed_by, left_out, edited, .. }) => json!({
            "name": name, "config": config, "status": status, "from": from, "to": to,
            "signed_by": signed_by, "edited": edited,
            "left_out": left_out, "changes": changes, "findings": findings, "shadowed": shadowed, "error": null,
        }),
        Err(error) => json!({
            "name": name, "config": config, "status": "failed", "from": null, "to": null,
            "signed_by": null, "edited": null,
            "left_out": [], "changes": [], "findings": [], "shadowed": [], "error": Failure::from(error),
        }),
    }
}

fn page(name: &str, update: &Update, dry_run: bool) -> Page {
    let mut page = Page::default();
    let Update { status, from, to, changes, signed_by, left_out, edited, .. } = update;
    let from = from.as_deref().filter(|from| from != to).map(|from| format!("{} to ", short(from)));
    let title = match status {
        UpdateStatus::Updated if dry_run => styled(WARNING, "would update"),
        UpdateStatus::Unchanged => styled(DIM, "unchanged"),
        status => styled(GOOD, status.as_str()),
    };
    let name = styled(NAME, sanitize::line(name));
    let revisions = format!("{}{}", from.unwrap_or_default(), short(to));
    let n_changes = match changes.len() {
        0 => String::new(),
        n => format!(", {} of skills", count(n, "change")),
    };
    page.line(format_args!("{title} {name}: {}{n_changes}", sanitize::line(&revisions)));
    if let Some(key) = signed_by {
        page.line(format_args!("  signed by {}", sanitize::line(key)));
    }
    show_left_out(&mut page, left_out);
    show_edited(&mut page, edited.as_deref());
    for change in changes {
        show(&mut page, change);
    }
    page
}

fn show(page: &mut Page, change: &SkillChange) {
    let SkillChange { id, kind, instructions, triggers, rights, files, .. } = change;
    page.line(format_args!("  {} {}", kind.as_str(), styled(NAME, sanitize::line(id))));
    lines(page, "triggers", triggers);
    lines(page, "rights", rights);
    if let Some(text) = instructions {
        diff(page, "instructions", text);
    }
    for FileChange { path, kind, code, diff: text, .. } in files {
        let what = if *code { "code" } else { "file" };
        let title = format!("{} {what} {}", kind.as_str(), sanitize::line(path));
        match text {
            // A new data file is only named: its full text would say little.
            Some(text) if *code || kind.as_str() == "changed" => diff(page, &title, text),
            _ => page.line(format_args!("    {title}")),
        }
    }
}

fn lines(page: &mut Page, title: &str, Lines { removed, added, .. }: &Lines) {
    if removed.is_empty() && added.is_empty() {
        return;
    }
    page.line(format_args!("    {title}"));
    let all = removed.iter().map(|line| ("-", line)).chain(added.iter().map(|line| ("+", line)));
    for (mark, line) in all {
        colored(page, &format!("{mark}{line}"));
    }
}

fn diff(page: &mut Page, title: &str, text: &str) {
    page.line(format_args!("    {title}"));
    for line in text.lines().skip_while(|line| line.starts_with("---") || line.starts_with("+++")) {
        colored(page, line);
    }
}

fn colored(page: &mut Page, line: &str) {
    let shown = sanitize::line(line);
    match line.as_bytes().first() {
        Some(b'+') => page.line(format_args!("      {}", styled(GOOD, shown))),
        Some(b'-') => page.line(format_args!("      {}", styled(ERROR, shown))),
        _ => page.line(format_args!("      {shown}")),
    }
}
