//! `repertoire new`: writes a skill to start from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use repertoire::catalog::is_skill_file;
use repertoire::skill::is_identifier;
use repertoire::{Error, ErrorCode};
use repertoire_authoring::lint::is_generic;
use serde_json::json;

use crate::args::{Common, NewArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::{NAME, Output, Page, styled};
use crate::replace::create;
use crate::shell::quoted;
use crate::{sanitize, setup};

pub(crate) fn run(args: &NewArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    if !is_identifier(&args.name) {
        return Err(UsageError(not_an_identifier(&args.name)).into());
    }
    setup::sources(common)?;
    // `--source` names the only directory that commands read, so a new skill belongs there, too.
    let named = args.dir.as_ref().or(common.sources.last());
    let skills = named.cloned().unwrap_or_else(|| {
        // The printed path does not begin with `./`.
        let skills = Path::new(&format!(".{}", common.brand)).join("skills");
        if common.project == Path::new(".") { skills } else { common.project.join(skills) }
    });
    let path = write(&skills.join(&args.name), &args.name)?;

    let next = next_commands(&args.name, &path, &skills, named.is_none(), common);
    if out.json {
        Output::json(&json!({"id": args.name, "path": path.to_string_lossy(), "next": next}))?;
    } else {
        let mut text = Page::default();
        let path = path.to_string_lossy();
        text.line(format_args!("{}\n\nEdit it, then:", styled(NAME, sanitize::line(&path))));
        for command in next {
            text.line(format_args!("  {}", sanitize::line(&command)));
        }
        out.human(text.as_str())?;
    }
    Ok(ExitCode::Done)
}

/// Returns the commands that check the new skill and try it.
fn next_commands(
    name: &str,
    path: &Path,
    skills: &Path,
    is_standard: bool,
    common: &Common,
) -> [String; 2] {
    let words = keyword(name, CHECKLIST);
    let mut options = Vec::new();
    if !is_standard {
        options.push(("--source", skills.to_string_lossy().into_owned()));
    } else if common.names_project && common.project != Path::new(".") {
        options.push(("--project", common.project.to_string_lossy().into_owned()));
    }
    if common.brand != "repertoire" {
        options.push(("--brand", common.brand.clone()));
    }
    let options: String =
        options.iter().map(|(option, value)| [" ", option, " ", &quoted(value)].concat()).collect();
    [
        format!("repertoire check {}", quoted(&path.to_string_lossy())),
        format!("repertoire match {} --explain{options}", quoted(&words)),
    ]
}

pub(crate) fn not_an_identifier(name: &str) -> Error {
    let message = format!("`{name}` is not a name for a skill");
    let rule = "small letters, digits and single hyphens, at most 64";
    let help = match nearest_identifier(name) {
        Some(nearest) => format!("write `{nearest}` ({rule})"),
        None => format!("write a name such as `code-review` ({rule})"),
    };
    Error::new(ErrorCode::InvalidParam, message, help)
}

/// Returns the valid identifier nearest to `name`; `None` if nothing of `name` can be kept.
fn nearest_identifier(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let mut nearest = parts.collect::<Vec<_>>().join("-");
    nearest.truncate(64);
    let nearest = nearest.trim_end_matches('-');
    is_identifier(nearest).then(|| nearest.to_owned())
}

/// Returns the keyword of a new skill: the words of its name, with `more` if they occur in messages of all
/// kinds.
pub(crate) fn keyword(name: &str, more: &str) -> String {
    let words = name.replace('-', " ");
    if is_generic(&words) { format!("{words} {more}") } else { words }
}

/// Returns a message that must get the new skill `name`.
pub(crate) fn example(name: &str) -> String {
    format!("I need help with {}, please", keyword(name, CHECKLIST))
}

/// The word that makes the keyword of a skill with an everyday name its own.
const CHECKLIST: &str = "checklist";

/// Writes the skill file into `dir`. Fails if the directory already has one.
pub(crate) fn write(dir: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = dir.join("SKILL.md");
    let failed = |error: io::Error| not_written(&path, &error);
    fs::create_dir_all(dir).map_err(failed)?;
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_skill_file(&entry.file_name()) {
            return Err(Error::new(
                ErrorCode::ExecutionError,
                format!("{} is there already", entry.path().display()),
                "choose another name, or remove the file first",
            ));
        }
    }
    create(&path, &scaffold(name)).map_err(failed)?;
    Ok(path)
}

/// Returns the error for a new file at `path` that cannot be written.
pub(crate) fn not_written(path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot write {}: {error}", path.display());
    Error::new(code, message, "choose another directory with `--dir DIR`")
}

/// The text of a new skill.
fn scaffold(name: &str) -> String {
    let (words, example) = (keyword(name, CHECKLIST), example(name));
    let mut title = words.clone();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!(
        "---
name: \"{name}\"
# What the skill does, then when to use it. An agent reads this to decide; be exact.
description: Guides {words}, step by step, with a check of the result. Use when the user asks for {words}.
metadata:
  version: \"0.1.0\"
  # Messages that must get the skill, and messages that must not; `check` tries them.
  examples:
    should: [\"{example}\"]
    should_not: [\"Which day is it today?\"]
  # A message that holds one of these gets the skill. Whole words, in any case.
  triggers:
    keywords:
      - \"{words}\"
    # Verbs match like keywords, in other forms too where the host wants it:
    # verbs: [summarize]
    # Patterns are regular expressions; write them in single quotes:
    # patterns: ['summar(y|ies) of .+']
    # Words that rule the skill out:
    # exclude: [executive summary]
    # Files that call for the skill:
    # paths: ['**/*.md']
---

# {title}

Say in a sentence or two what is to be achieved, and how to know that it was.

## Steps

1. Look first: which files, commands or questions tell what is wanted?
2. Do the work. Give exact commands; name what must not be touched.
3. Check the result, and say how.

## When it goes wrong

- Name what usually fails, and what to do then.

## More

Put long material into files next to this one, such as `references/details.md`, and say here when
to read them. Scripts go into `scripts/`.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_identifier_is_one() {
        for (name, nearest) in [
            ("Code Review", Some("code-review")),
            ("--a__b--", Some("a-b")),
            ("naïve", Some("na-ve")),
            ("日本", None),
            ("", None),
        ] {
            assert_eq!(nearest_identifier(name).as_deref(), nearest, "{name}");
        }
        let long = nearest_identifier(&format!("{}-{}", "x".repeat(63), "y")).unwrap();
        assert_eq!(long, "x".repeat(63));
    }
}
