//! Toolsets and scripts that cannot run: missing, unfit, changed since they were trusted, or without
//! rights that they ask for.

use repertoire::catalog::{Entry, Scope};
use repertoire::engine::Caller;
use repertoire::session::Session;
use repertoire::toolset::ToolsetEntry;
use repertoire::trust::{FileChange, Owner, SkillFiles, TrustStore};
use repertoire::{Engine, ErrorCode};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct CodeProblem {
    pub(super) skill: String,
    pub(super) what: String,
    pub(super) problem: String,
    /// False for a library that a bundled skill may lack, since only its source is bundled, and for
    /// code that the user has not trusted yet.
    pub(super) is_broken: bool,
}

/// Lists the toolsets and scripts that cannot run. Loads no code.
pub(super) fn problems(engine: &Engine, store: &TrustStore) -> Vec<CodeProblem> {
    let session = Session::in_memory("doctor");
    let mut found = Vec::new();
    let is_used = |entry: &&Entry| entry.is_available() && !entry.skill.manifest().is_unreachable();
    for entry in engine.catalog().entries().filter(is_used) {
        let skill = entry.id.as_str();
        let mut tell = |what: &str, problem: &str, is_broken| {
            let (skill, what) = (skill.to_owned(), what.to_owned());
            found.push(CodeProblem { skill, what, problem: problem.to_owned(), is_broken });
        };
        let Some(dir) = entry.skill.dir() else { continue };
        for toolset in &entry.skill.manifest().toolsets {
            // Entries that are invalid regardless of files are reported with the skill file.
            let Ok(named) = toolset.value.parse::<ToolsetEntry>() else { continue };
            if let Err(error) = named.library(dir) {
                let may_lack = entry.scope == Scope::Bundled && error.code() == ErrorCode::NotFound;
                tell(&toolset.value, error.message(), !may_lack);
            }
            if let Some(missing) = missing_rights(entry, &named, store) {
                tell(&toolset.value, &missing, true);
            }
        }
        if let Some(change) = change(entry, store) {
            tell("code", &change, true);
        }
        let mut has_code = !entry.skill.manifest().toolsets.is_empty();
        match engine.scripts(skill, Caller::user(&session)) {
            Ok(scripts) => {
                for script in scripts.iter().filter(|script| !script.is_data) {
                    has_code = true;
                    if let Some(problem) = &script.problem {
                        tell(&script.path, problem, true);
                    }
                }
            }
            Err(error) if engine.runs_scripts() => tell("scripts", error.message(), true),
            // If this engine runs no scripts at all, the reason is reported elsewhere.
            Err(_) => {}
        }
        if has_code && is_new(entry, store) {
            let add = format!("`repertoire trust add {skill}` shows it, and asks");
            tell("code", &format!("it is not trusted yet; {add}"), false);
        }
    }
    found
}

/// Explains why the trusted code of a skill does not run: files of the skill changed, or were not
/// trusted with it. `None` if none of its code was trusted, or nothing changed.
fn change(entry: &Entry, store: &TrustStore) -> Option<String> {
    let dir = entry.skill.dir()?.canonicalize().ok()?;
    if !store.knows_skill(&dir) {
        return (!entry.scope.is_trusted() && store.trusts_code_in(&dir)).then(|| {
            format!(
                "its code was trusted without its other files, which count now; to accept them, run \
                 `repertoire trust add {}`",
                entry.id
            )
        });
    }
    let changes = match SkillFiles::read(&dir) {
        Ok(now) => store.changes(&now)?,
        Err(error) => return Some(error.message().to_owned()),
    };
    (!changes.is_empty()).then(|| {
        format!(
            "it changed since its code was trusted: {}; to see how, run `repertoire trust diff {}`",
            FileChange::listed(&changes),
            entry.id
        )
    })
}

/// Tells whether the code of a skill runs only if it is trusted, and none of it has been trusted.
fn is_new(entry: &Entry, store: &TrustStore) -> bool {
    let Some(dir) = entry.skill.dir().and_then(|dir| dir.canonicalize().ok()) else { return false };
    !entry.scope.is_trusted() && !store.trusts_code_in(&dir)
}

/// Names the rights that the toolset asks for but was not granted. `None` if it has them all, or is
/// not trusted.
fn missing_rights(entry: &Entry, named: &ToolsetEntry, store: &TrustStore) -> Option<String> {
    let owner = Owner::of(entry).filter(|owner| !owner.scope.is_trusted())?;
    let asked = owner.toolset_rights.get(&named.to_string())?.resolved();
    let library = named.library(&owner.dir).ok()?.canonicalize().ok()?;
    let file = store.list().into_iter().find(|file| file.path == library)?;
    let missing = asked.without(&file.rights.get(named.class()).cloned().unwrap_or_default());
    (!missing.is_empty()).then(|| format!("it asks {missing}, which was not granted"))
}
