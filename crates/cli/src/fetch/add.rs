//! `repertoire add`: fetches skills, and records their source.

use std::path::Path;

use repertoire::{Error, ErrorCode};
use repertoire_fetch::{Added, Location, SourceList};
use serde_json::{Value as Json, json};

use super::agents::{
    of_source, runs_there, runs_there_as_json, seen, seen_as_json, show_changes, show_placed,
    show_runs_there, show_seen,
};
use super::copy_problems::CopyProblems;
use super::each_source::{addresses, each_source, print_all};
use super::{
    choose, code_in, fetcher, list_to_change, preview, short, show_edited, show_left_out, waiting,
};
use crate::args::{AddArgs, Common};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::sanitize;

pub(crate) fn run(args: &AddArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    if args.name.is_some() && addresses(args).len() > 1 {
        let message = "`--name` names one source, and there are several";
        let help = "add the source that it is for on its own";
        return Err(Error::new(ErrorCode::InvalidParam, message, help).into());
    }
    let fetcher = fetcher(common)?;
    let list = list_to_change(&fetcher, common)?;
    if args.list || args.dry_run {
        return preview::run(args, &fetcher, &list, common, out);
    }
    let mut reports = Vec::new();
    let mut is_placed = true;
    let is_good = each_source(args, out, |settings| {
        let here = std::env::current_dir().unwrap_or_default();
        let name = args.name.as_deref();
        let opened = waiting(&settings.source, || list.open(name, settings, &here))?;
        let Some(opened) = choose::chosen(opened, args, common, out)? else {
            out.note("nothing is added");
            return Ok(());
        };
        let known = CopyProblems::of_all(common)?;
        let added = opened.add()?;
        let placing = of_source(list.place()?, &added.name);
        is_placed &= placing.refused.is_empty();
        let root = list.copy_of(&added.name);
        let mut in_use = CopyProblems::load(std::slice::from_ref(&root), common)?;
        let in_use = in_use.pop().unwrap_or_default().without(&known);
        let code = code_in(&root);
        let seen = seen(&placing.placed, common);
        let runs = runs_there(&placing.placed, common);
        if out.json {
            let mut report = report(&added, &list, &code, &in_use);
            report["placing"] = json!(placing);
            report["agents"] = seen_as_json(&seen);
            report["agent_code"] = runs_there_as_json(&runs);
            reports.push(report);
        } else {
            let mut page = page(&added, &list, &code, &in_use);
            show_placed(&mut page, &placing.placed);
            show_runs_there(&mut page, &runs);
            show_changes(&mut page, &placing);
            show_seen(&mut page, &seen);
            out.human(page.as_str())?;
        }
        Ok(())
    })?;
    if out.json {
        print_all(args, reports)?;
    }
    Ok(ExitCode::done_if(is_good && is_placed))
}

fn report(added: &Added, list: &SourceList<'_>, code: &[String], in_use: &CopyProblems) -> Json {
    json!({
        "name": added.name,
        "source": added.locked.source,
        "revision": added.locked.revision,
        "skills": added.skills,
        "new": added.new,
        "left_out": added.left_out,
        "signed_by": added.signed_by,
        "edited": added.edited,
        "files": added.locked.files.len(),
        "code": code,
        "findings": in_use.findings,
        "shadowed": in_use.shadowed,
        "path": list.copy_of(&added.name).to_string_lossy(),
        "config": list.config_file().to_string_lossy(),
        "lock": list.lock_file().to_string_lossy(),
    })
}

fn is_archive(source: &str) -> bool {
    let location = Location::parse(source, Path::new("."));
    matches!(location, Ok(Location::Archive(_) | Location::RemoteArchive(_)))
}

fn page(added: &Added, list: &SourceList<'_>, code: &[String], in_use: &CopyProblems) -> Page {
    let mut page = Page::default();
    let Added { name, locked, skills, new, left_out, signed_by, .. } = added;
    let revision = short(&locked.revision);
    let (name, source) = (styled(NAME, sanitize::line(name)), sanitize::line(&locked.source));
    page.line(format_args!("{} {name} from {source} at {revision}", styled(GOOD, "added")));
    for id in new {
        page.line(format_args!("  {}", sanitize::line(id)));
    }
    if new.len() < skills.len() {
        let before = count(skills.len() - new.len(), "skill");
        page.line(format_args!("  {}", styled(DIM, format_args!("{before} of it here before"))));
    }
    show_left_out(&mut page, left_out);
    show_edited(&mut page, added.edited.as_deref());
    if let Some(key) = signed_by {
        page.line(format_args!("signed by {}", sanitize::line(key)));
    }
    if is_archive(&locked.source) && locked.rev.is_none() {
        let hash = sanitize::line(&locked.revision);
        page.line(format_args!("SHA-256 {hash}; `--rev` with it refuses any other content"));
    }
    let config = list.config_file().to_string_lossy();
    page.line(format_args!("written to {}, pinned in `skills.lock`", sanitize::line(&config)));
    if !code.is_empty() {
        let files = styled(WARNING, format_args!("{} of code", count(code.len(), "file")));
        page.line(format_args!("{files}, not run until trusted: `repertoire trust add ID`"));
    }
    in_use.show(&mut page);
    page
}
