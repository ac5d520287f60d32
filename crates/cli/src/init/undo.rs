//! `repertoire init --undo`: takes back what `init` did. A file that was changed since keeps the change.

use std::fs;
use std::io::ErrorKind;

use repertoire::{Error, ErrorCode};
use serde::Serialize;
use serde_json::json;

use super::record::{Record, Written, remove_empty};
use crate::agent::{Changed, Place};
use crate::args::{Common, McpAgent};
use crate::exit_code::ExitCode;
use crate::output::{NAME, Output, Page, styled};
use crate::replace::{check_writable, io_error, replace};
use crate::{hook, mcp, sanitize};

/// The state of a file after it was taken back.
#[derive(Debug, Serialize)]
struct Undone {
    path: String,
    /// The end of a sentence that begins with the path.
    outcome: &'static str,
    changed: bool,
}

pub(super) fn run(
    place: Place,
    dry_run: bool,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let mut record = Record::open(place, common)?;
    let mut undone = Vec::new();
    for written in record.written() {
        let (outcome, changed) = take_back(&written, place, dry_run, common)?;
        let path = written.path.to_string_lossy().into_owned();
        undone.push(Undone { path, outcome, changed });
        if !dry_run {
            record.forget(&written.path)?;
        }
    }
    if out.json {
        Output::json(&json!({"undone": undone, "dry_run": dry_run}))?;
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    for Undone { path, outcome, .. } in &undone {
        page.line(format_args!("{} {outcome}", styled(NAME, sanitize::line(path))));
    }
    if undone.is_empty() {
        page.line(format_args!("`init` has done nothing here that could be taken back"));
    } else if dry_run {
        page.line(format_args!("this was a dry run: nothing was changed"));
    }
    out.human(page.as_str())?;
    Ok(ExitCode::Done)
}

/// Takes one file back. Returns the end of a sentence about it, and whether it was changed.
fn take_back(
    written: &Written,
    place: Place,
    dry_run: bool,
    common: &Common,
) -> Result<(&'static str, bool), Error> {
    let content = match fs::read(&written.path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(("is gone already", false)),
        Err(error) => return Err(io_error("read", &written.path, &error)),
        Ok(content) => content,
    };
    if written.is_as_written(&content) {
        if !dry_run {
            restore(written)?;
        }
        return Ok(match written.before {
            Some(_) => ("is as it was before", true),
            None => ("is removed", true),
        });
    }
    let Some(agent) = &written.agent else {
        return Ok(("stays: it was changed since", false));
    };
    let Changed { before, after, .. } = remove_entry(agent, place, dry_run, common)?;
    if before == after {
        return Ok(("stays: it was changed since, and does not run this program any more", false));
    }
    Ok(("was changed since: only the entry of this program is taken out", true))
}

/// Gives the file its earlier content, or removes it, with what was made for it.
fn restore(Written { path, before, backup, dirs, .. }: &Written) -> Result<(), Error> {
    check_writable(path, "take the change back by hand")?;
    match before {
        Some(before) => replace(path, before, path)?,
        None => fs::remove_file(path).map_err(|error| io_error("remove", path, &error))?,
    }
    if let (Some(backup), Some(before)) = (backup, before)
        && fs::read(backup).is_ok_and(|kept| kept == before.as_bytes())
    {
        fs::remove_file(backup).map_err(|error| io_error("remove", backup, &error))?;
    }
    remove_empty(dirs);
    Ok(())
}

/// Takes only the entry of this program out of the settings of `agent`, which were changed since.
fn remove_entry(
    agent: &str,
    place: Place,
    dry_run: bool,
    common: &Common,
) -> Result<Changed, Error> {
    let agent = agent.parse().map_err(|message: String| {
        Error::new(ErrorCode::InvalidParam, message, "take its entry out by hand")
    })?;
    match agent {
        McpAgent::Hooked(agent) => hook::remove(agent, place, dry_run, common),
        McpAgent::VsCode => mcp::remove(agent, place, dry_run, common),
    }
}
