//! The tools of trusted toolsets that are not those that the user saw when trusting them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repertoire::toolset::{Tool, Tools, ToolsetEntry};
use repertoire::trust::{ContentHash, Owner, SkillFiles, TrustStore, TrustedFile};
use serde_json::Value as Json;

use super::change::{Change, difference};
use super::kept::Kept;
use super::owner_of;
use super::toolsets::{current_tools, hash, real};
use crate::args::Common;

/// Returns the changes of the tools of `files`. Asks the toolsets for their tools as they are now, but runs
/// only those whose skills have exactly the files that were trusted.
pub(super) fn of(
    files: &[TrustedFile],
    store: &TrustStore,
    kept: &Kept,
    common: &Common,
) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (dir, seen) in with_tools(files) {
        let Some(owner) = owner_of(&dir.join("SKILL.md")) else { continue };
        let Some(trust) = trust_of_unchanged(&dir, store) else { continue };
        let Tools { tools, failures, .. } = current_tools(&owner, Arc::new(trust), common)?;
        let failed: BTreeSet<String> = failures
            .iter()
            .filter_map(|failure| failure.entry.parse::<ToolsetEntry>().ok())
            .map(|entry| entry.class().to_owned())
            .collect();
        for file in seen {
            changes.extend(of_file(file, &tools, &failed, kept));
        }
        for failure in failures {
            let note = format!("its tools are not known: {}", failure.error.message());
            changes.push(Change::new(&owner.dir.join(&failure.entry), "unknown", &note));
        }
    }
    Ok(changes)
}

/// Groups the files whose tools the user saw by the directories of their skills.
fn with_tools(files: &[TrustedFile]) -> BTreeMap<PathBuf, Vec<&TrustedFile>> {
    let mut groups: BTreeMap<PathBuf, Vec<&TrustedFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.tools.is_empty()) {
        if let Some(Owner { dir, .. }) = owner_of(&file.path) {
            groups.entry(dir).or_default().push(file);
        }
    }
    groups
}

/// Returns a store that trusts the code of the skill in `dir` with the rights that `store` has for it, but
/// has seen no tools; `None` if the skill is not as it was trusted.
fn trust_of_unchanged(dir: &Path, store: &TrustStore) -> Option<TrustStore> {
    let skill = SkillFiles::read(dir).ok()?;
    if !store.changes(&skill).is_some_and(|changes| changes.is_empty()) {
        return None;
    }
    let copy = TrustStore::in_memory();
    for file in store.files_of(dir) {
        let own = file.script_rights();
        let TrustedFile { path, sha256, rights, tools_only, .. } = file;
        if tools_only {
            copy.add_tools_with_skill(Some(&skill), &path, sha256).ok()?;
        } else {
            copy.add_with_skill(Some(&skill), &path, sha256, own).ok()?;
        }
        copy.grant(&path, rights).ok()?;
    }
    Some(copy)
}

/// Returns the changes of the tools of one file. Nothing is known of the classes that `failed`.
fn of_file(
    file: &TrustedFile,
    tools: &[Tool],
    failed: &BTreeSet<String>,
    kept: &Kept,
) -> Vec<Change> {
    let path = &file.path;
    let is_of_file = |tool: &&Tool| real(tool.library_path()).as_ref() == Some(path);
    let now: Vec<&Tool> = tools.iter().filter(is_of_file).collect();
    let mut changes = Vec::new();
    for tool in &now {
        let seen = file.tools.get(&tool.toolset).and_then(|seen| seen.get(&tool.short_name));
        changes.extend(of_tool(path, tool, seen, kept));
    }
    for (class, seen) in file.tools.iter().filter(|(class, _)| !failed.contains(*class)) {
        let is_there =
            |name: &str| now.iter().any(|tool| tool.toolset == *class && tool.short_name == name);
        for name in seen.keys().filter(|name| !is_there(name)) {
            let note = format!("the tool `{name}` of `{class}` is gone");
            changes.push(Change::new(path, "tool", &note));
        }
    }
    changes
}

fn of_tool(path: &Path, tool: &Tool, seen: Option<&ContentHash>, kept: &Kept) -> Option<Change> {
    let (name, class) = (&tool.short_name, &tool.toolset);
    let written = tool.written_definition();
    let Some(seen) = seen else {
        let note = format!("the tool `{name}` of `{class}` is new");
        let diff = Some(difference("", &readable(&written)));
        return Some(Change::new(path, "tool", &note).with_diff(diff));
    };
    if *seen == hash(tool) {
        return None;
    }
    let note = format!("the tool `{name}` of `{class}` describes itself differently");
    let then = kept.text(seen).and_then(|text| serde_json::from_str::<Json>(&text).ok());
    let diff = then.map(|then| difference(&readable(&then), &readable(&written)));
    Some(Change::new(path, "tool", &note).with_diff(diff))
}

/// Writes the definition of a tool in lines: its description, then its parameters and annotations.
fn readable(written: &Json) -> String {
    let description = written[0].as_str().unwrap_or_default();
    format!("{description}\n{:#}\n{:#}\n", written[1], written[2])
}
