//! `repertoire add`: fetches skills, and records their source.

use std::path::Path;

use repertoire::{Error, ErrorCode};
use repertoire_fetch::{Added, Location, SourceList};
use serde_json::json;

use super::copy_problems::CopyProblems;
use super::{code_in, fetcher, list_to_change, short, waiting};
use crate::args::{AddArgs, Common};
use crate::exit_code::ExitCode;
use crate::output::{GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::sanitize;

pub(crate) fn run(args: &AddArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let list = list_to_change(&fetcher, common)?;
    let mut settings = args.source.settings();
    settings.source = address(&settings.source, &args.command)?;
    settings.signed_by.clone_from(&args.signed_by);
    let here = std::env::current_dir().unwrap_or_default();
    let added = waiting(&settings.source, || list.add(args.name.as_deref(), &settings, &here))?;
    let root = list.copy_of(&added.name);
    let code = code_in(&root);
    let in_use = CopyProblems::load(std::slice::from_ref(&root), common)?.pop().unwrap_or_default();
    if out.json {
        Output::json(&json!({
            "name": added.name,
            "source": added.locked.source,
            "revision": added.locked.revision,
            "skills": added.skills,
            "signed_by": added.signed_by,
            "files": added.locked.files.len(),
            "code": code,
            "findings": in_use.findings,
            "shadowed": in_use.shadowed,
            "path": root.to_string_lossy(),
            "config": list.config_file().to_string_lossy(),
            "lock": list.lock_file().to_string_lossy(),
        }))?;
    } else {
        out.human(page(&added, &list, &code, &in_use).as_str())?;
    }
    Ok(ExitCode::Done)
}

/// Returns the address of a source, completed by the words of `command`, which follow `mcp:`.
fn address(source: &str, command: &[String]) -> Result<String, Error> {
    if command.is_empty() {
        return Ok(source.to_owned());
    }
    let invalid = |message: &str| {
        let help = "write `repertoire add mcp: -- COMMAND…`";
        Error::new(ErrorCode::InvalidParam, message, help)
    };
    if !source.starts_with("mcp:") {
        return Err(invalid("a command follows a source that is not `mcp:`"));
    }
    let words = shlex::try_join(command.iter().map(String::as_str));
    let words = words.map_err(|_| invalid("the command holds a NUL byte"))?;
    Ok(format!("{source} {words}"))
}

fn is_archive(source: &str) -> bool {
    let location = Location::parse(source, Path::new("."));
    matches!(location, Ok(Location::Archive(_) | Location::RemoteArchive(_)))
}

fn page(added: &Added, list: &SourceList<'_>, code: &[String], in_use: &CopyProblems) -> Page {
    let mut page = Page::default();
    let Added { name, locked, skills, signed_by, .. } = added;
    let revision = short(&locked.revision);
    let (name, source) = (styled(NAME, sanitize::line(name)), sanitize::line(&locked.source));
    page.line(format_args!("{} {name} from {source} at {revision}", styled(GOOD, "added")));
    for id in skills {
        page.line(format_args!("  {}", sanitize::line(id)));
    }
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
