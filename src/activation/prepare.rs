//! Prepares an activation, before the user is asked for consent and the session records it.

use repertoire_text::invisible::without_invisible;

use super::consent::{ConsentRequest, Risk};
use super::knowledge::documents;
use super::tree::{TreeLimits, folder_tree};
use super::{Activation, RequiredSkill, SubSkill, arguments};
use crate::catalog::files::{BundledFiles, files_of};
use crate::catalog::{Audience, Catalog, Entry};
use crate::disclosure::{path_line, path_text};
use crate::error::{Error, ErrorCode};
use crate::session::Session;
use crate::skill::placeholder::{Directories, has_commands};
use crate::skill::{Skill, Spanned};

/// Prepares the activation of `entry`, a skill of `catalog`, with `args`. Its hints are for a model,
/// which reads them even if a user asked for the skill.
///
/// Fails if the body cannot be read, or is too long with these arguments. If the directory cannot be
/// read, the list of files is empty.
pub(crate) fn prepare(
    catalog: &Catalog,
    entry: &Entry,
    args: &str,
    risk: Risk,
) -> Result<Activation, Error> {
    let manifest = entry.skill.manifest();
    // Invisible characters must not reach a model, in whatever form the host passes the text on.
    let shown = |text: &str| without_invisible(text).into_owned();
    let body = without_invisible(entry.skill.body()?);
    let dir = entry.skill.dir();
    let BundledFiles { files, more: more_files, .. } = BundledFiles::of(&entry.skill);
    let base_dir = dir.map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()));
    let values = arguments::Values {
        args,
        declared: manifest.declared_arguments(),
        directories: base_dir.as_deref().map(|dir| Directories::of(dir, &body, path_text)),
    };
    let content = arguments::apply(&body, &values).ok_or_else(|| {
        let message = format!(
            "skill `{}` would have more than {} bytes with these arguments",
            entry.id,
            arguments::MAX_BYTES
        );
        Error::new(
            ErrorCode::InvalidParam,
            message,
            "give shorter arguments, or the name of a file",
        )
    })?;
    let sub_skills = catalog
        .sub_skills(entry, Audience::Model)
        .map(|below| SubSkill { id: below.id.clone(), brief: shown(below.skill.brief()) });
    let required_skills = catalog.required(entry).map(|(written, found)| RequiredSkill {
        id: found.map_or_else(|| shown(written), |of| of.id.to_string()),
        brief: found.map(|of| shown(of.skill.brief())).unwrap_or_default(),
        is_missing: found.is_none(),
    });
    let text = |field: &Option<Spanned<String>>| field.as_ref().map(|text| text.value.clone());
    Ok(Activation {
        id: entry.id.clone(),
        name: shown(entry.skill.name()),
        scope: entry.scope,
        mode: manifest.context,
        content,
        runs_no_commands: has_commands(&body),
        base_dir,
        files,
        more_files,
        sub_skills: sub_skills.collect(),
        knowledge: documents(entry),
        required_skills: required_skills.collect(),
        allowed_tools: manifest.allowed_tools.as_deref().map(texts),
        model: text(&manifest.model),
        agent: text(&manifest.agent),
        risk,
        task: None,
    })
}

/// Collects the information that a user should see before `entry` is activated in `session`. `scripts`
/// are the scripts that the skill can run.
pub(crate) fn consent_request(
    entry: &Entry,
    scripts: Vec<String>,
    session: &Session,
    audience: Audience,
    risk: Risk,
) -> ConsentRequest {
    let dir = entry.skill.dir();
    let limits = TreeLimits::default();
    let tree = match dir {
        Some(dir) => folder_tree(dir, &limits).unwrap_or_else(|error| format!("({error})")),
        None => file_lines(&entry.skill, &limits),
    };
    let manifest = entry.skill.manifest();
    ConsentRequest {
        id: entry.id.clone(),
        session: session.id().to_owned(),
        description: entry.skill.description().to_owned(),
        audience,
        scope: entry.scope,
        dir: dir.map(ToOwned::to_owned),
        tree,
        toolsets: texts(&manifest.toolsets),
        allowed_tools: manifest.allowed_tools.as_deref().map(texts),
        scripts,
        risk,
    }
}

/// The files of a skill that a provider serves, one in each line.
fn file_lines(skill: &Skill, limits: &TreeLimits) -> String {
    let Ok(BundledFiles { mut files, more, .. }) = files_of(skill, limits.lines) else {
        return String::new();
    };
    if more > 0 {
        files.push(format!("… {more} more"));
    }
    files.iter().map(|file| path_line(file)).collect::<Vec<_>>().join("\n")
}

fn texts(entries: &[Spanned<String>]) -> Vec<String> {
    entries.iter().map(|entry| without_invisible(&entry.value).into_owned()).collect()
}
