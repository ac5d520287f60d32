//! `repertoire trust`: manages the code that may run although the user did not install it.

mod abilities;
mod accepted;
mod built;
mod change;
mod code;
mod diff;
mod kept;
mod list;
mod tool_diff;
mod toolsets;
mod wider;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use repertoire::catalog::{Scope, is_skill_file};
use repertoire::skill::ToolsetRights;
use repertoire::trust::{ContentHash, Owner, Refusal, TrustStore, TrustedFile};
use repertoire::{Engine, Error, ErrorCode, Skill, SkillId};
use serde_json::{Value as Json, json};

use crate::args::{Common, TrustAddArgs, TrustCommand, TrustDiffArgs, TrustPathsArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, NAME, Output, Page, styled};
use crate::{confirm, sanitize, setup};
use accepted::Accepted;
use kept::Kept;

pub(crate) use built::{Built, add_built};
pub(crate) use code::code_files;
use code::{Code, code_of, is_library, owner_of};

pub(crate) fn run(
    command: &TrustCommand,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let store = setup::trust_store(common)?;
    match command {
        TrustCommand::List => list::run(&store, common, out),
        TrustCommand::Show(TrustPathsArgs { paths }) => {
            let code = code_of(paths, common)?;
            abilities::show(&code, common, out)?;
            Ok(ExitCode::Done)
        }
        TrustCommand::Add(args) => add(args, &store, common, out),
        TrustCommand::Diff(TrustDiffArgs { paths }) => diff::run(paths, &store, common, out),
        TrustCommand::Remove(TrustPathsArgs { paths }) => {
            let mut files = BTreeSet::new();
            for path in paths {
                files.extend(known_at(path, &store, common)?);
            }
            let forgotten = store.forget_refusals(&files)?;
            let trusted = store.list().into_iter().map(|file| file.path);
            let trusted = trusted.filter(|path| files.contains(path));
            let removed = store.remove_all(trusted.collect::<Vec<_>>())?;
            if !out.json {
                list::show_refusals("forgot", &forgotten, out)?;
            }
            report("removed", &removed, &[], &BTreeMap::new(), out)
        }
    }
}

/// Trusts files, after showing the user what they may do. A no is remembered.
fn add(
    args: &TrustAddArgs,
    store: &TrustStore,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let offered = Offered::new(code_of(&args.named.paths, common)?, store)?;
    if !out.json {
        abilities::show(&offered.code, common, out)?;
        accepted::show(offered.skills.values(), out)?;
    }
    if !confirm::is_agreed("trust all of it?", args.yes, out)? {
        offered.refuse(store)?;
        out.note("nothing is trusted");
        return Ok(ExitCode::Failure);
    }
    offered.trust(store, Code::asked, common, out)
}

/// Code that may become trusted, as the user is shown it.
struct Offered {
    code: Vec<Code>,
    /// The hashes of the files in `code`. They are taken before the files are shown, so that a file which
    /// changes after that is not trusted.
    hashes: Vec<ContentHash>,
    skills: BTreeMap<PathBuf, Accepted>,
}

impl Offered {
    fn new(code: Vec<Code>, store: &TrustStore) -> anyhow::Result<Offered> {
        let hashes = code.iter().map(|code| ContentHash::of_file(&code.file));
        let hashes = hashes.collect::<Result<_, _>>()?;
        let skills = accepted::of(&code, store)?;
        Ok(Offered { code, hashes, skills })
    }

    fn iter(&self) -> impl Iterator<Item = (&Code, &ContentHash, Option<&Accepted>)> {
        let skill = |code: &Code| self.skills.get(&code.skill_dir()?);
        self.code.iter().zip(&self.hashes).map(move |(code, hash)| (code, hash, skill(code)))
    }

    /// Returns the questions, as a no to them is remembered.
    fn questions(&self) -> impl Iterator<Item = Refusal> {
        self.iter().map(|(code, hash, skill)| {
            let files = skill.map(|skill| &skill.files);
            Refusal::of_code(&code.file, hash.clone(), files, code.script_rights.clone())
        })
    }

    /// Remembers that the user said no.
    fn refuse(&self, store: &TrustStore) -> anyhow::Result<()> {
        Ok(self.questions().try_for_each(|question| store.refuse(question))?)
    }

    /// Trusts the code, and gives each library the rights that `granted` returns.
    fn trust(
        &self,
        store: &TrustStore,
        granted: impl Fn(&Code) -> BTreeMap<String, ToolsetRights>,
        common: &Common,
        out: Output,
    ) -> anyhow::Result<ExitCode> {
        let kept = Kept::beside(&setup::trust_file(common)?);
        let before = store.list();
        let mut added = Vec::with_capacity(self.code.len());
        for (code, hash, skill) in self.iter() {
            let files = skill.map(|skill| &skill.files);
            let mut file = if code.is_of_scripts || code.owner.is_none() {
                let own = code.script_rights.clone();
                store.add_with_skill(files, &code.file, hash.clone(), own)?
            } else {
                store.add_tools_with_skill(files, &code.file, hash.clone())?
            };
            let rights = granted(code);
            if !rights.is_empty() {
                file = store.grant(&code.file, rights)?;
            }
            added.push(file);
            kept.keep(&code.file);
        }
        for skill in self.skills.values() {
            kept.keep_all(&skill.files);
        }
        let shown =
            self.code.iter().map(|code| toolsets::Shown::of(code, &before, &kept, common, out));
        let shown = shown.collect::<anyhow::Result<Vec<_>>>()?;
        report("trusted", &added, &shown, &self.skills, out)
    }
}

/// Compares a file with its content when it was trusted: it is unchanged, changed, missing or
/// unreadable.
fn state(file: &TrustedFile) -> &'static str {
    match ContentHash::of_file(&file.path) {
        Ok(sha256) if sha256 == file.sha256 && file.is_in_place() => "unchanged",
        Ok(_) => "changed",
        // A file that is now too large to be read has changed, too.
        Err(error) if error.code() == ErrorCode::InvalidParam => "changed",
        Err(error) if error.code() == ErrorCode::NotFound => "missing",
        Err(_) => "unreadable",
    }
}

fn to_json(file: &TrustedFile) -> Json {
    json!({
        "path": file.path.to_string_lossy(),
        "sha256": file.sha256,
        "since": file.since,
        "network": file.network,
        "read": file.read,
        "rights": file.rights,
    })
}

fn report(
    done: &str,
    files: &[TrustedFile],
    shown: &[Option<toolsets::Shown>],
    skills: &BTreeMap<PathBuf, Accepted>,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let shown = |i: usize| shown.get(i).and_then(Option::as_ref);
    if out.json {
        let files = files.iter().enumerate().map(|(i, file)| {
            let mut json = to_json(file);
            if let Some(shown) = shown(i) {
                json["tools"] = shown.to_json();
            }
            json
        });
        let skills: Vec<Json> = skills.values().map(Accepted::to_json).collect();
        Output::json(&json!({done: files.collect::<Vec<_>>(), "skills": skills}))?;
        return Ok(ExitCode::Done);
    }
    let mut text = Page::default();
    for (i, file) in files.iter().enumerate() {
        let path = file.path.to_string_lossy();
        let (path, hash) = (styled(NAME, sanitize::line(&path)), styled(DIM, &file.sha256));
        text.line(format_args!("{done} {path} {hash}"));
        if let Some(shown) = shown(i) {
            shown.show(&mut text);
        }
    }
    for Accepted { files, .. } in skills.values() {
        let (n_files, dir) = (files.files().len(), files.dir().to_string_lossy());
        let dir = sanitize::line(&dir);
        text.line(format_args!("with all {n_files} files of {dir}: a change asks again"));
    }
    out.human(text.as_str())?;
    Ok(ExitCode::Done)
}

/// Returns the trusted and the refused files that `path` means. They need not exist any more.
fn known_at(path: &Path, store: &TrustStore, common: &Common) -> anyhow::Result<BTreeSet<PathBuf>> {
    // A skill means its own files; any other directory means all files below it.
    let below = |dir: PathBuf| -> BTreeSet<PathBuf> {
        let files = if skill_in(&dir).is_some() { store.files_of(&dir) } else { store.list() };
        let refused = store.refusals().into_iter().map(|refusal| refusal.path);
        let files = files.into_iter().map(|file| file.path).chain(refused);
        files.filter(|path| path.starts_with(&dir)).collect()
    };
    // A trusted file or its skill's directory may have become a link since, so the path itself comes
    // before that of its target.
    let at = |path: &Path| {
        let places = [std::path::absolute(path).ok(), path.canonicalize().ok()];
        places.into_iter().flatten().map(below).find(|files| !files.is_empty()).unwrap_or_default()
    };
    let mut files = at(path);
    if files.is_empty()
        && !path.is_file()
        && let Ok(owner) = skill_at(path, common)
    {
        files = at(&owner.dir);
    }
    if files.is_empty() {
        let message = format!("nothing of {} is trusted or refused", path.display());
        let help = "see `repertoire trust list`; a skill that is gone is named by its path";
        return Err(Error::new(ErrorCode::NotFound, message, help).into());
    }
    Ok(files)
}

/// Returns the skill that `path` means: a directory that is a skill, or an id. An existing directory
/// that is named with a `/` is never taken for an id.
fn skill_at(path: &Path, common: &Common) -> anyhow::Result<Owner> {
    if let Some(owner) = skill_in(path) {
        return Ok(owner);
    }
    let name = path.to_string_lossy();
    if path.is_dir() && name.contains(std::path::is_separator) {
        let message = format!("the directory {} is not a skill", path.display());
        let help = "name the directory of a `SKILL.md`, or a file";
        return Err(Error::new(ErrorCode::NotFound, message, help).into());
    }
    let engine: Engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let entry = catalog.find_any(&name).map_err(|error| {
        let message = format!("{} is neither a file nor a skill", path.display());
        error.reworded(message)
    })?;
    let owner = Owner::of(entry).ok_or_else(|| {
        let message = format!("the skill `{}` has no directory", entry.id);
        Error::new(ErrorCode::NotFound, message, "skills in memory have no files to trust")
    })?;
    Ok(owner)
}

/// Returns the skill in `dir`, read without a catalog; `None` if there is no skill file.
pub(crate) fn skill_in(dir: &Path) -> Option<Owner> {
    let entries = std::fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let file = files.find(|entry| is_skill_file(&entry.file_name()))?;
    let skill = Skill::load(&file.path(), "").ok();
    let id = SkillId::new(&dir.file_name().unwrap_or_default().to_string_lossy());
    Some(Owner::new(id, Scope::Project, dir.to_owned(), skill.as_ref().map(Skill::manifest)))
}
