//! The check of a skill file against Repertoire's own format, or the open specification.
//!
//! Loading reports the faults of a file; a check adds what only its author needs to know.

mod invisible_text;
mod joined_lines;
mod links;
mod lost_characters;
mod repairs;
mod unknown_keys;
mod untrusted;

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value as Json;
use unicode_normalization::UnicodeNormalization as _;

use super::fields::excerpt;
use super::finding::{Finding, diagnostics};
use super::keys::{KEYS, normalized};
use super::load::{self, Loaded};
use super::manifest::Manifest;
use super::spanned::Spanned;
use super::{directory_name, placeholder};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::{Error, ErrorCode};

use repertoire_system::confined::{self, Dir, Links};
use unknown_keys::advice;
pub use unknown_keys::is_key_of_others;

pub use repairs::{LineRepair, line_repairs};
pub(crate) use untrusted::has_secret;
pub use untrusted::skeleton;

/// The format that a skill file is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The format that Repertoire reads.
    #[default]
    Repertoire,
    /// The open Agent Skills specification, <https://agentskills.io>.
    AgentSkills,
    /// The format that Repertoire reads, with a security review of all files of the skill, for skills of
    /// unknown authors.
    Untrusted,
}

impl Profile {
    /// The name of the profile on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Repertoire => "repertoire",
            Profile::AgentSkills => "agent-skills",
            Profile::Untrusted => "untrusted",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Profile, Error> {
        let profiles = [Profile::Repertoire, Profile::AgentSkills, Profile::Untrusted];
        profiles.into_iter().find(|profile| profile.as_str() == text).ok_or_else(|| {
            let help = "the profiles are `repertoire`, `agent-skills` and `untrusted`";
            Error::new(ErrorCode::InvalidParam, format!("there is no profile `{text}`"), help)
        })
    }
}

/// The top-level keys of the specification.
const SPEC_KEYS: &[&str] =
    &["name", "description", "license", "allowed-tools", "metadata", "compatibility"];

/// Returns all findings about the `SKILL.md` at `path`, in the order of the file: those from loading it
/// for a host named `brand`, and those of `profile`. With [`Profile::Untrusted`], the findings of the
/// review follow, which covers all files of the skill.
pub fn check_file(path: &Path, profile: Profile, brand: &str) -> Vec<Diagnostic> {
    match load::read(path) {
        Ok(text) => check_text(path, &text, profile, brand),
        Err(diagnostic) => vec![diagnostic],
    }
}

/// Returns the findings of [`check_file`] for a file at `path` that has the content `text`, such as one that
/// an editor has not saved yet.
pub fn check_text(path: &Path, text: &str, profile: Profile, brand: &str) -> Vec<Diagnostic> {
    let mut loaded = load::load(text, brand);
    let unseen = invisible_text::find(&loaded, text);
    loaded.findings.extend(unseen);
    loaded.findings.extend(lost_characters::find(&loaded.manifest));
    if let Some(parts) = &loaded.parts {
        loaded.findings.extend(links::broken(text, parts.body, directory(path)));
        loaded.findings.extend(command_not_run(text, parts.body));
    }
    match profile {
        Profile::Repertoire | Profile::Untrusted => {
            note_unknown_keys(&mut loaded);
            let keys = [&KEYS[..], &KINDS].concat();
            loaded.findings.extend(joined_lines::find(text, &keys));
            check_scripts(&mut loaded, path);
        }
        Profile::AgentSkills => check_specification(&mut loaded, &directory_name(path)),
    }
    let review = match profile {
        Profile::Untrusted => untrusted::check(&loaded, text, path, directory(path)),
        Profile::Repertoire | Profile::AgentSkills => Vec::new(),
    };
    let mut all = diagnostics(loaded.findings, path, text);
    all.extend(review);
    all
}

/// The finding about the first command in the body, which begins at byte `body` of `text`.
fn command_not_run(text: &str, body: usize) -> Option<Finding> {
    let command = placeholder::command(&text[body..])?;
    let span = body + command.start..body + command.end;
    let message =
        format!("`{}` is shown as it is: commands are not run", excerpt(&text[span.clone()]));
    let help = "write what to run as an instruction, such as \"run `git status` first\"";
    Some(Finding::new(Code::CommandNotRun, span, message, help))
}

/// Kinds of triggers that authors write at the top level by mistake.
const KINDS: [&str; 3] = ["keywords", "verbs", "patterns"];

fn note_unknown_keys(loaded: &mut Loaded) {
    for key in &loaded.manifest.unknown_keys {
        if KINDS.contains(&key.value.as_str()) {
            let message = format!("`{}` is read only below `triggers`", key.value);
            let help = format!(
                "write `triggers:`, and indented below it `{}: …`{}",
                key.value,
                warning(&key.value, &loaded.manifest)
            );
            loaded.findings.push(Finding::new(Code::MisplacedKey, key.span.clone(), message, help));
            continue;
        }
        let help = advice(&key.value, &loaded.manifest);
        let message = format!("nothing reads the key `{}`", excerpt(&key.value));
        loaded.findings.push(Finding::new(Code::UnknownKey, key.span.clone(), message, help));
    }
}

/// Returns a warning if the misplaced `key` lists a single word: many messages hold it, and the skill
/// would fire for them all.
fn warning(key: &str, manifest: &Manifest) -> String {
    let values = match manifest.extra.get(key) {
        Some(Json::Array(values)) => values.iter().filter_map(Json::as_str).collect(),
        Some(Json::String(values)) => values.split(',').collect(),
        _ => Vec::new(),
    };
    let is_single = |value: &&str| value.trim().split(char::is_whitespace).count() == 1;
    let single =
        values.into_iter().map(str::trim).filter(is_single).find(|value| !value.is_empty());
    single.filter(|_| key != "patterns").map_or_else(String::new, |word| {
        format!(
            " with phrases that its users type; a single word such as `{}` fires for every message \
             that holds it",
            excerpt(word)
        )
    })
}

/// The directory of the file at `path`.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Reports each script that the front matter of the file at `path` names but that cannot be opened.
fn check_scripts(loaded: &mut Loaded, path: &Path) {
    let Ok(dir) = Dir::open(directory(path)) else { return };
    for script in loaded.manifest.scripts.iter().flatten() {
        // An entry that is not a path was reported when it was read.
        let Ok(plain) = confined::plain(&script.value) else { continue };
        let open = |path: &str| dir.file(path.as_ref(), Links::Never);
        let Err(error) = open(&format!("scripts/{plain}")).or_else(|_| open(&plain)) else {
            continue;
        };
        let name = excerpt(&script.value);
        let message = match error.kind() {
            ErrorKind::NotFound => format!("`scripts` entry `{name}` is not a file of the skill"),
            _ => format!("`scripts` entry `{name}` cannot be run: {error}"),
        };
        let help = "write the path of a file in the skill's directory or in its `scripts/`";
        loaded.findings.push(Finding::new(Code::MissingScript, script.span.clone(), message, help));
    }
}

fn check_specification(loaded: &mut Loaded, directory: &str) {
    // Other programs refuse files with faults that Repertoire tolerates.
    for finding in &mut loaded.findings {
        if matches!(
            finding.code,
            Code::NoFrontMatter
                | Code::UnclosedFrontMatter
                | Code::LateFrontMatter
                | Code::RepairedYaml
                | Code::SalvagedYaml
                | Code::DuplicateKey
        ) {
            finding.code = Code::SpecFrontMatter;
        }
    }
    let is_unreadable = loaded.manifest.keys.is_empty()
        && loaded.parts.is_none()
        && !loaded.findings.iter().any(|finding| finding.code == Code::NoDescription);
    if is_unreadable {
        return;
    }
    check_name(loaded, directory);
    check_texts(loaded);
    check_keys(loaded);
}

fn check_name(loaded: &mut Loaded, directory: &str) {
    let help = "write the directory's name: lower-case letters and digits, in words joined by `-`, \
                at most 64 characters";
    let finding = match &loaded.manifest.name {
        None => {
            loaded.findings.retain(|finding| {
                finding.code != Code::InvalidValue || !finding.message.starts_with("`name`")
            });
            Finding::whole(Code::SpecName, "there is no usable `name`", help)
        }
        Some(name) if !is_spec_name(&name.value) => Finding::new(
            Code::SpecName,
            name.span.clone(),
            format!(
                "`name` is `{}`, not words of lower-case letters and digits with single hyphens",
                excerpt(&name.value)
            ),
            help,
        ),
        Some(name) if normal(&name.value) != normal(directory) => Finding::new(
            Code::SpecNameDirectory,
            name.span.clone(),
            format!("`name` is `{}`, the directory is `{}`", name.value, excerpt(directory)),
            "rename one to the other",
        ),
        Some(_) => return,
    };
    loaded.findings.push(finding);
}

/// Tells whether `name` is one by the specification's reference validator, which takes letters and digits
/// of any script: in lower case, or of a script without cases.
fn is_spec_name(name: &str) -> bool {
    let name = normal(name);
    name.chars().count() <= 64
        && name == name.to_lowercase()
        && name.split('-').all(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric))
}

/// Returns a name in the form in which names are compared: systems store those of directories decomposed.
fn normal(name: &str) -> String {
    name.nfkc().collect()
}

fn check_texts(loaded: &mut Loaded) {
    let Loaded { findings, manifest, .. } = loaded;
    if manifest.description.is_none() {
        findings.retain(|finding| {
            !matches!(finding.code, Code::NoDescription | Code::DescriptionFromBody)
        });
        let help = "write `description: ` with what the skill does and when to use it";
        findings.push(Finding::whole(Code::SpecDescription, "there is no `description`", help));
    }
    let mut limit = |field: &Option<Spanned<String>>, name, max_chars, code, help: &str| {
        let Some(field) = field else { return };
        let n_chars = field.value.chars().count();
        if n_chars > max_chars {
            let message = format!("`{name}` has {n_chars} characters, more than {max_chars}");
            findings.push(Finding::new(code, field.span.clone(), message, help));
        }
    };
    let help = "shorten it; details belong into the body";
    limit(&manifest.description, "description", 1024, Code::SpecDescription, help);
    let help = "shorten it to what the skill needs to run";
    limit(&manifest.compatibility, "compatibility", 500, Code::SpecCompatibility, help);
}

/// Returns the help text about a key, in kebab case, that is not a key of the specification.
fn help_with_key(kebab: &str) -> String {
    match kebab {
        "triggers" | "activation" => {
            "write `metadata: {triggers: \"one, two\"}`, which Repertoire reads as well".to_owned()
        }
        "paths" => {
            "write `metadata: {triggers: {paths: \"one, two\"}}`, which Repertoire reads as well"
                .to_owned()
        }
        "toolsets" | "trigger-phrases" | "examples" | "rights" => {
            "move it below `metadata`, where Repertoire reads it as well".to_owned()
        }
        _ if KEYS.iter().any(|known| known.replace('_', "-") == kebab)
            && !["version", "brief-description"].contains(&kebab) =>
        {
            format!(
                "no key of the specification means the same: without `{kebab}` the skill acts \
             differently, and below `metadata` Repertoire does not read it"
            )
        }
        _ => "move it below `metadata`".to_owned(),
    }
}

fn check_keys(loaded: &mut Loaded) {
    for key in &loaded.manifest.keys {
        if SPEC_KEYS.contains(&key.value.as_str()) {
            continue;
        }
        let kebab = normalized(&key.value).replace('_', "-");
        let help = if SPEC_KEYS.contains(&kebab.as_str()) {
            format!("write `{kebab}`")
        } else {
            help_with_key(&kebab)
        };
        let message = format!("`{}` is not a key of the specification", excerpt(&key.value));
        loaded.findings.push(Finding::new(Code::SpecKey, key.span.clone(), message, help));
    }
}
