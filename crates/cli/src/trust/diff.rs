//! `repertoire trust diff`: shows what changed since code was trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use repertoire::catalog::is_skill_file;
use repertoire::trust::{
    ChangeKind, ContentHash, FileChange, Owner, SkillFiles, TrustStore, TrustedFile, TrustedSkill,
};
use serde_json::json;

use super::change::{Change, difference};
use super::kept::Kept;
use super::{Code, code_files, known_at, owner_of, state, tool_diff};
use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::{GOOD, Output, Page, styled};
use crate::setup;

pub(super) fn run(
    paths: &[PathBuf],
    store: &TrustStore,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let files: Vec<TrustedFile> = if paths.is_empty() {
        store.list()
    } else {
        let mut named = BTreeSet::new();
        for path in paths {
            named.extend(known_at(path, store, common)?);
        }
        store.list().into_iter().filter(|file| named.contains(&file.path)).collect()
    };
    let kept = Kept::beside(&setup::trust_file(common)?);
    let mut changes: Vec<Change> = files.iter().filter_map(|file| content(file, &kept)).collect();
    of_skills(&files, store, &kept, &mut changes);
    changes.extend(tool_diff::of(&files, store, &kept, common)?);
    if out.json {
        Output::json(&json!({"changes": changes}))?;
    } else {
        let mut text = Page::default();
        for change in &changes {
            change.show(&mut text);
        }
        if changes.is_empty() {
            text.line(format_args!("{}", styled(GOOD, "nothing changed since it was trusted")));
        }
        out.human(text.as_str())?;
    }
    Ok(ExitCode::done_if(changes.is_empty()))
}

/// Returns the change of the content of a file, if there is one.
fn content(file: &TrustedFile, kept: &Kept) -> Option<Change> {
    let path = &file.path;
    match state(file) {
        "unchanged" => None,
        "missing" => Some(Change::new(path, "missing", "it is not there any more")),
        "unreadable" => Some(Change::new(path, "unknown", "it cannot be read")),
        _ => Some(changed(path, &file.sha256, kept)),
    }
}

/// Returns the change of a file that had the content `then` when it was trusted.
fn changed(path: &Path, then: &ContentHash, kept: &Kept) -> Change {
    if let Some(target) = path.canonicalize().ok().filter(|target| target != path) {
        let note = format!("a link leads from it to {} now", target.display());
        return Change::new(path, "changed", &note);
    }
    let now = ContentHash::of_file(path).map_or_else(|_| "?".into(), |h| h.to_string());
    let texts = kept.text(then).zip(fs::read_to_string(path).ok());
    let diff = texts.map(|(old, new)| difference(&old, &new));
    let note = format!("sha256 {then} then, {now} now");
    Change::new(path, "changed", &note).with_diff(diff)
}

/// Adds the changes of the skills of trusted files to `changes`, which has those of the files
/// themselves: new code, changes of other files, and rights.
fn of_skills(files: &[TrustedFile], store: &TrustStore, kept: &Kept, changes: &mut Vec<Change>) {
    let mut skills: BTreeMap<PathBuf, (Owner, Vec<&TrustedFile>)> = BTreeMap::new();
    for file in files {
        if let Some(owner) = owner_of(&file.path) {
            skills.entry(owner.dir.clone()).or_insert((owner, Vec::new())).1.push(file);
        }
    }
    let known: BTreeSet<PathBuf> = store.list().into_iter().map(|file| file.path).collect();
    let trusted: BTreeMap<PathBuf, TrustedSkill> =
        store.skills().into_iter().map(|skill| (skill.dir.clone(), skill)).collect();
    for (owner, files) in skills.into_values() {
        let there = code_files(&owner).unwrap_or_default();
        let new = there.iter().filter(|path| !known.contains(*path));
        changes.extend(new.map(|path| Change::new(path, "new", "nobody trusted it")));
        let dir = owner.dir.canonicalize().unwrap_or_else(|_| owner.dir.clone());
        let told: BTreeSet<String> = changes.iter().map(|change| change.path.clone()).collect();
        let is_told = |path: &Path| told.contains(&*path.to_string_lossy());
        changes.extend(beside(&dir, trusted.get(&dir), is_told, kept));
        changes.extend(files.iter().flat_map(|file| rights(file, &owner)));
    }
}

/// Returns the changes of the files of the skill in `dir`, without those that are reported already.
fn beside(
    dir: &Path,
    trusted: Option<&TrustedSkill>,
    is_told: impl Fn(&Path) -> bool,
    kept: &Kept,
) -> Vec<Change> {
    let Some(trusted) = trusted else {
        let note = "its code was trusted without its other files, which count now";
        return vec![Change::new(dir, "unknown", note)];
    };
    let now = match SkillFiles::read(dir) {
        Ok(now) => now.changes_since(&trusted.files),
        Err(error) => return vec![Change::new(dir, "unknown", error.message())],
    };
    let change = |FileChange { path, kind, .. }: FileChange| {
        let (file, then) = (dir.join(&path), trusted.files.get(&path));
        match (kind, then) {
            (ChangeKind::Added, _) => Change::new(&file, "new", "it was not there"),
            (ChangeKind::Removed, _) => Change::new(&file, "missing", "it is not there any more"),
            (ChangeKind::Changed, Some(then)) if !is_skill_file(path.as_ref()) => {
                changed(&file, then, kept)
            }
            (ChangeKind::Changed, _) => {
                Change::new(&file, "changed", "it declares other scripts or toolsets")
            }
        }
    };
    now.into_iter().filter(|change| !is_told(&dir.join(&change.path))).map(change).collect()
}

/// Returns the rights that a skill now asks for but was not granted, and those that it was granted
/// but no longer asks for.
fn rights(file: &TrustedFile, owner: &Owner) -> Vec<Change> {
    let code = Code::new(file.path.clone(), Some(owner.clone()));
    let mut changes = Vec::new();
    let (had, asked) = (file.script_rights(), code.script_rights.clone());
    if code.is_of_scripts && !file.tools_only {
        let more = asked.without(&had);
        if !more.is_empty() {
            let note = format!("its skill asks {more}, and it was trusted without");
            changes.push(Change::new(&file.path, "rights", &note));
        }
        let less = had.without(&asked);
        if !less.is_empty() {
            let note = format!("it was trusted {less}, and its skill asks for that no more");
            changes.push(Change::new(&file.path, "rights", &note));
        }
    }
    for (class, asked) in code.asked() {
        let granted = file.rights.get(&class).cloned().unwrap_or_default();
        let missing = asked.without(&granted);
        if !missing.is_empty() {
            let note = format!("`{class}` asks {missing}, which was not granted");
            changes.push(Change::new(&file.path, "rights", &note));
        }
    }
    changes
}
