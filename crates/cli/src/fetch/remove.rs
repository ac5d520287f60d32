//! `repertoire remove`: removes skills and sources that were added.

use std::collections::BTreeMap;

use repertoire::{Error, ErrorCode};
use repertoire_fetch::SourceList;
use serde_json::{Value as Json, json};

use super::agents::show_changes;
use super::{all_lists, collect, fetcher, list_to_change, show_edited};
use crate::args::{Common, RemoveArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, styled};
use crate::sanitize;

pub(crate) fn run(args: &RemoveArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let fetcher = fetcher(common)?;
    let list = list_to_change(&fetcher, common)?;
    // All names are read before anything is removed.
    let mut chosen: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    for name in &args.names {
        for found in found(name, &list, &all_lists(&fetcher, common), common)? {
            let skills = chosen.entry(found.source).or_insert_with(|| Some(Vec::new()));
            match skills {
                Some(skills) if !found.skills.is_empty() => skills.extend(found.skills),
                _ => *skills = None,
            }
        }
    }
    let (mut page, mut reports) = (Page::default(), Vec::new());
    for (source, skills) in chosen {
        reports.push(removed(&list, &source, skills, &mut page)?);
    }
    let placing = list.place()?;
    show_changes(&mut page, &placing);
    let collected = collect(&fetcher, common, out);
    if out.json {
        let config = list.config_file().to_string_lossy();
        let report = json!({
            "removed": reports, "config": config, "placing": placing, "collected": collected,
        });
        Output::json(&report)?;
    } else {
        out.human(page.as_str())?;
    }
    Ok(ExitCode::done_if(placing.refused.is_empty()))
}

/// Returns the sources and skills that `name` means. Fails if there are none; if another list has them, the
/// error says so.
fn found(
    name: &str,
    list: &SourceList<'_>,
    all: &[SourceList<'_>],
    common: &Common,
) -> Result<Vec<repertoire_fetch::InSource>, Error> {
    let found = list.find(name)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // A source whose section was removed by hand is still pinned.
    if list.locked(name)?.is_some() {
        return Ok(vec![repertoire_fetch::InSource::whole(name)]);
    }
    let has = |other: &&SourceList<'_>| {
        other.config_file() != list.config_file()
            && other.find(name).is_ok_and(|found| !found.is_empty())
    };
    if let Some(other) = all.iter().find(has) {
        let message = format!("`{name}` belongs to {}", other.config_file().display());
        let help = if common.names_project {
            "leave `--project` out to remove it there"
        } else {
            "add `--project` to remove it there"
        };
        return Err(Error::new(ErrorCode::NotFound, message, help));
    }
    Err(list.not_found(name))
}

/// Removes skills of a source, or the whole source.
fn removed(
    list: &SourceList<'_>,
    source: &str,
    skills: Option<Vec<String>>,
    page: &mut Page,
) -> Result<Json, Error> {
    let config = list.config_file().to_string_lossy();
    let (title, name) = (styled(GOOD, "removed"), styled(NAME, sanitize::line(source)));
    let Some(mut skills) = skills else {
        list.remove(source)?;
        page.line(format_args!("{title} {name} from {}", sanitize::line(&config)));
        return Ok(json!({
            "name": source, "skills": [], "source_removed": true, "edited": null,
        }));
    };
    skills.sort();
    skills.dedup();
    let removed = list.remove_skills(source, &skills)?;
    for id in &removed.skills {
        let id = styled(NAME, sanitize::line(id));
        page.line(format_args!("{title} {id} of {name} from {}", sanitize::line(&config)));
    }
    show_edited(page, removed.edited.as_deref());
    if removed.source_removed {
        page.line(format_args!("{}", styled(DIM, "it was the last skill: the source is removed")));
    }
    Ok(json!({
        "name": source, "skills": removed.skills, "source_removed": removed.source_removed,
        "edited": removed.edited,
    }))
}
