//! `repertoire trust list`: lists the trusted files, and the changes of their skills.

use repertoire::trust::{FileChange, Refusal, SkillFiles, TrustStore, TrustedFile, TrustedSkill};
use repertoire::{Error, ErrorCode};
use serde_json::{Value as Json, json};

use super::accepted::change_json;
use super::{state, to_json};
use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{DIM, GOOD, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

pub(super) fn run(store: &TrustStore, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let (files, skills, refusals) = (store.list(), store.skills(), store.refusals());
    let changes: Vec<Result<Vec<FileChange>, Error>> = skills.iter().map(changes).collect();
    if out.json {
        let files = files.iter().map(|file| {
            let mut json = to_json(file);
            json["state"] = state(file).into();
            json
        });
        let skills = skills.iter().zip(&changes).map(|(skill, changes)| {
            let error = changes.as_ref().err().map(Failure::from);
            json!({
                "dir": skill.dir.to_string_lossy(),
                "since": skill.since,
                "files": skill.files.len(),
                "changes": changes.iter().flatten().map(change_json).collect::<Vec<_>>(),
                "error": error,
            })
        });
        let (files, skills): (Vec<Json>, Vec<Json>) = (files.collect(), skills.collect());
        let store = setup::trust_file(common)?;
        let store = store.to_string_lossy();
        let (trusted, refused) = (files, refusals);
        Output::json(
            &json!({"store": store, "trusted": trusted, "skills": skills, "refused": refused}),
        )?;
    } else if files.is_empty() && refusals.is_empty() {
        out.note("nothing is trusted; `repertoire trust add PATH` trusts a file or a skill");
    } else {
        let mut text = Page::default();
        for file in &files {
            let state = state(file);
            let style = if state == "unchanged" { GOOD } else { WARNING };
            let path = file.path.to_string_lossy();
            text.line(format_args!(
                "{} {} {}",
                styled(DIM, &file.sha256),
                styled(style, format_args!("{state:10}")),
                sanitize::line(&path)
            ));
            for line in rights(file) {
                text.line(format_args!("  {}", styled(DIM, sanitize::line(&line))));
            }
        }
        for (skill, changes) in skills.iter().zip(&changes) {
            let dir = skill.dir.display();
            let told = match changes {
                Ok(changes) if changes.is_empty() => continue,
                Ok(changes) => format!("{dir} has changed: {}", FileChange::listed(changes)),
                Err(error) => format!("{dir} cannot be compared: {}", error.message()),
            };
            text.line(format_args!("{}", styled(WARNING, sanitize::line(&told))));
        }
        if !files.is_empty() {
            out.human(text.as_str())?;
        }
        show_refusals("refused", &refusals, out)?;
    }
    Ok(ExitCode::Done)
}

/// Returns a line for each kind of rights that a file was trusted with.
fn rights(file: &TrustedFile) -> Vec<String> {
    let own = file.script_rights();
    let own = (!own.is_empty()).then(|| format!("trusted {own}"));
    let classes = file.rights.iter().filter(|(_, rights)| !rights.is_empty());
    own.into_iter()
        .chain(classes.map(|(class, rights)| format!("`{class}` trusted {rights}")))
        .collect()
}

/// Shows refusals, each in a line that begins with `word`.
pub(super) fn show_refusals(word: &str, refusals: &[Refusal], out: Output) -> std::io::Result<()> {
    let mut text = Page::default();
    for Refusal { path, class, rights, .. } in refusals {
        let what = match class {
            Some(class) => format!("`{class}` {rights}"),
            None => "to run".to_owned(),
        };
        let line = format!("{} {what}", path.display());
        text.line(format_args!("{} {}", styled(WARNING, word), sanitize::line(&line)));
    }
    if refusals.is_empty() { Ok(()) } else { out.human(text.as_str()) }
}

/// Returns the changes of a skill since it was trusted. A skill that no longer exists has none: its
/// files are reported as missing.
fn changes(skill: &TrustedSkill) -> Result<Vec<FileChange>, Error> {
    match SkillFiles::read(&skill.dir) {
        Ok(now) => Ok(now.changes_since(&skill.files)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
