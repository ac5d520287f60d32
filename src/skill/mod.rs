//! Skills: directories with a `SKILL.md`, and the content read from it.
//!
//! A file is read in steps, which `load` puts together: `document` finds the front matter,
//! `front_matter` parses it into values that carry their position in the file, and `manifest` and
//! `trigger` interpret the values. Loading never fails as a whole: every file yields a [`Skill`], or
//! diagnostics that say why it is not one.

mod add_examples;
mod brief;
mod check;
mod closing;
mod code_paths;
mod code_ranges;
mod context;
mod cut_text;
mod directories;
pub(crate) mod document;
mod examples;
mod extract;
mod fields;
mod finding;
mod fingerprint;
mod front_matter;
mod glob;
mod id;
#[doc(hidden)]
pub mod json;
mod keys;
mod limits;
pub(crate) mod load;
mod manifest;
mod manifest_json;
mod nfkc;
mod origin;
mod own_path;
#[doc(hidden)]
pub mod pattern;
pub(crate) mod placeholder;
mod pointer;
mod policy;
mod portable;
mod quirk;
mod quirks_of;
mod repair;
mod repair_quirks;
mod requires;
mod rights;
mod spanned;
mod strict;
mod tabs;
mod texts;
mod trigger;
#[doc(hidden)]
pub mod yaml;
mod yaml_lines;

use std::cmp::Reverse;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use crate::diagnostic::{Code, Diagnostic};
use crate::error::{Error, ErrorCode};
use crate::lazy::Lazy;
use crate::provider::Provided;

use finding::Finding;
use fingerprint::Fingerprint;
use load::{Loaded, Parts};
use origin::Origin;

#[doc(hidden)]
pub use add_examples::with_examples;
pub(crate) use brief::{first_sentence_end, one_line};
pub(crate) use check::has_secret;
#[doc(hidden)]
pub use check::{LineRepair, is_key_of_others, line_repairs, skeleton};
pub use check::{Profile, check_file, check_text};
#[cfg(feature = "toolsets")]
pub(crate) use code_paths::path_and_class;
pub use context::Context;
pub use examples::Examples;
#[doc(hidden)]
pub use fields::excerpt;
pub(crate) use fields::is_comma;
pub(crate) use glob::glob;
pub use id::{SkillId, is_identifier};
#[doc(hidden)]
pub use keys::KEYS;
pub use manifest::Manifest;
pub(crate) use own_path::own_path;
pub(crate) use policy::Policy;
pub use portable::Portable;
pub use quirk::{Quirk, Quirks};
pub use repertoire_system::network::{Endpoint, Host, Network};
pub use repertoire_text::invisible::is_invisible;
pub use rights::ToolsetRights;
#[cfg(feature = "trust")]
pub(crate) use rights::quoted;
pub use spanned::Spanned;
#[doc(hidden)]
pub use strict::front_matter;
pub use trigger::Triggers;

/// The largest body a skill may have, in bytes.
pub const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The largest front matter a skill may have, in bytes.
pub const MAX_FRONT_MATTER_BYTES: usize = 256 * 1024;

/// A skill: a directory with a `SKILL.md`, and the content read from it. The body of a file is read only
/// when it is first requested.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Skill {
    content: Lazy<Content>,
    /// True if the skill declares any trigger. This field and the next are kept outside of `content`
    /// because they are read for every skill, even for one that has nothing to do with a message.
    declares_triggers: bool,
    is_for_model: bool,
    /// The body of the file, filled in when it is first requested.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    body: OnceLock<String>,
}

/// The content read from a file.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct Content {
    name: String,
    description: String,
    brief: String,
    manifest: Manifest,
    fingerprint: Fingerprint,
    quirks: Quirks,
    #[cfg_attr(feature = "snapshot", serde(with = "crate::diagnostic::as_values"))]
    diagnostics: Vec<Diagnostic>,
    origin: Origin,
}

impl Skill {
    /// Reads the `SKILL.md` at `path` for a host named `brand`, whose own block of keys is read too. If
    /// the file cannot be a skill, the diagnostics say why.
    pub fn load(path: &Path, brand: &str) -> Result<Skill, Vec<Diagnostic>> {
        let text = Skill::read(path).map_err(|diagnostic| vec![diagnostic])?;
        let policy = Policy::read(&Policy::path(path));
        Skill::of_file(path, &text, policy.as_ref(), brand)
    }

    /// Returns the text of the `SKILL.md` at `path`.
    pub(crate) fn read(path: &Path) -> Result<String, Diagnostic> {
        load::read(path)
    }

    /// Returns the text of the `SKILL.md` that a provider has at `location`.
    pub(crate) fn read_provided(
        provided: &Provided,
        location: &Path,
    ) -> Result<String, Diagnostic> {
        load::of_provider(load::bytes_of_provider(provided, location)?, location)
    }

    /// Does what [`Skill::load`] does, for a file whose text and policy are already in memory.
    pub(crate) fn of_file(
        path: &Path,
        text: &str,
        policy: Option<&Policy>,
        brand: &str,
    ) -> Result<Skill, Vec<Diagnostic>> {
        Skill::of(text, brand, Some((path, policy)), None)
    }

    /// Does what [`Skill::of_file`] does, for a text that a provider has at `location`.
    pub(crate) fn of_provider(
        provided: &Arc<Provided>,
        location: &Path,
        text: &str,
        policy: Option<&Policy>,
        brand: &str,
    ) -> Result<Skill, Vec<Diagnostic>> {
        Skill::of(text, brand, Some((location, policy)), Some(provided))
    }

    /// Parses a skill from a text that is not a file. Its front matter must have a `name`.
    pub fn parse(text: &str, brand: &str) -> Result<Skill, Vec<Diagnostic>> {
        Skill::of(text, brand, None, None)
    }

    fn of(
        text: &str,
        brand: &str,
        file: Option<(&Path, Option<&Policy>)>,
        provided: Option<&Arc<Provided>>,
    ) -> Result<Skill, Vec<Diagnostic>> {
        let Loaded { mut findings, mut manifest, quirks, parts } = load::load(text, brand);
        let (path, policy) = file.unzip();
        manifest.closed_by_policy = policy.flatten().is_some_and(Policy::closes);
        let name = manifest.name.as_ref().map(|name| name.value.clone());
        let name = name.or_else(|| path.map(directory_name));
        if parts.is_some() && name.is_none() {
            let message = "a skill without a directory has no name but `name`, which is missing";
            let help = "write `name: code-review` into the front matter";
            findings.push(Finding::whole(Code::InvalidValue, message, help));
        }
        let diagnostics = finding::diagnostics(findings, path.unwrap_or(Path::new("")), text);
        let (Some(parts), Some(name)) = (parts, name) else { return Err(diagnostics) };
        let Parts { description, brief, body } = parts;
        let described = manifest.description.as_ref().map(|description| &description.span);
        let is_described_above = described.is_some_and(|span| span.end <= body);
        let fingerprint = Fingerprint::of(text, body, is_described_above);
        let body_text = || text[body..].to_owned();
        let origin = match (path, provided) {
            (None, _) => Origin::Memory { body: body_text() },
            (Some(path), None) => Origin::File { path: path.to_owned() },
            (Some(path), Some(provided)) => {
                let (location, provided) = (path.to_owned(), Arc::clone(provided));
                Origin::Provided { location, provided, body: body_text() }
            }
        };
        Ok(Skill {
            declares_triggers: manifest.triggers.declared,
            is_for_model: !manifest.is_model_invocation_disabled(),
            content: Lazy::from(Content {
                name,
                description,
                brief,
                manifest,
                fingerprint,
                quirks,
                diagnostics,
                origin,
            }),
            body: OnceLock::new(),
        })
    }

    /// The name in the manifest, or the name of the directory if the manifest has none.
    pub fn name(&self) -> &str {
        &self.content.get().name
    }

    /// The description, with `when_to_use` joined to it: what the skill does and when to use it.
    pub fn description(&self) -> &str {
        &self.content.get().description
    }

    /// A one-line description: `brief_description` if the manifest has one, otherwise the first sentence
    /// of the description, cut to at most 80 characters.
    pub fn brief(&self) -> &str {
        &self.content.get().brief
    }

    /// The front matter.
    pub fn manifest(&self) -> &Manifest {
        &self.content.get().manifest
    }

    /// The triggers of the manifest.
    pub fn triggers(&self) -> &Triggers {
        &self.manifest().triggers
    }

    /// Returns this skill without `message` among the messages of `examples.should`.
    pub(crate) fn without_example(&self, message: &str) -> Skill {
        let mut content = self.content.get().clone();
        content.manifest.examples.should.retain(|example| example.value != message);
        Skill { content: Lazy::from(content), ..self.clone() }
    }

    /// Tells whether the skill declares any trigger that could select it; see [`Triggers::declared`].
    pub(crate) fn declares_triggers(&self) -> bool {
        self.declares_triggers
    }

    /// Tells whether the manifest lets the model load the skill.
    pub(crate) fn is_for_model(&self) -> bool {
        self.is_for_model
    }

    /// The text after the front matter, byte for byte. It is read from the file on the first call, and
    /// then kept in memory; that of a provider is kept from the start.
    ///
    /// Fails with `EXECUTION_ERROR` if the file cannot be read, or if it changed since the skill was
    /// loaded in such a way that its body may not belong to the loaded manifest. If only the body was
    /// edited, returns the new body.
    pub fn body(&self) -> Result<&str, Error> {
        let path = match &self.content.get().origin {
            Origin::Memory { body } | Origin::Provided { body, .. } => return Ok(body),
            Origin::File { path } => path,
        };
        if let Some(body) = self.body.get() {
            return Ok(body);
        }
        let text = load::read(path).map_err(|found| {
            Error::new(ErrorCode::ExecutionError, found.to_string(), found.help.as_str())
        })?;
        let body =
            self.content.get().fingerprint.body_in(&text).ok_or_else(|| self.outdated(path))?;
        Ok(self.body.get_or_init(|| body.to_owned()))
    }

    fn outdated(&self, path: &Path) -> Error {
        let message = format!(
            "the file of the skill `{}` ({}) changed since the skill was loaded, and the \
             instructions of that version are gone",
            self.name(),
            path.display()
        );
        let help = "make sure that the file is whole, and refresh the skills";
        Error::new(ErrorCode::ExecutionError, message, help)
    }

    /// The length of the body in bytes, as it was when the skill was loaded.
    pub(crate) fn body_bytes(&self) -> usize {
        self.content.get().fingerprint.body_bytes
    }

    /// A hash of the body, for detecting changes. All processes of the same program compute the same
    /// hash.
    ///
    /// Fails for the same reasons as [`Skill::body`].
    pub fn body_hash(&self) -> Result<u64, Error> {
        self.body().map(fingerprint::hash)
    }

    /// The path of the `SKILL.md`, or `None` if the skill was not read from a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.content.get().origin {
            Origin::File { path } => Some(path),
            Origin::Memory { .. } | Origin::Provided { .. } => None,
        }
    }

    /// The place of the `SKILL.md` in diagnostics: its path, or the name of the provider with the path there.
    pub(crate) fn location(&self) -> Option<&Path> {
        self.content.get().origin.location()
    }

    /// The directory of the skill, as in [`Skill::location`].
    pub(crate) fn dir_location(&self) -> Option<&Path> {
        self.location().and_then(Path::parent)
    }

    /// The provider of the skill, and the path of its directory there, which is empty for the root.
    pub(crate) fn provided(&self) -> Option<(&Provided, String)> {
        match &self.content.get().origin {
            Origin::Provided { location, provided, .. } => {
                let dir = location.parent().map(|dir| provided.path_of(dir)).unwrap_or_default();
                Some((provided, dir))
            }
            Origin::File { .. } | Origin::Memory { .. } => None,
        }
    }

    /// The directory of the skill, or `None` if the skill was not read from a file.
    pub fn dir(&self) -> Option<&Path> {
        self.path().and_then(Path::parent)
    }

    /// The properties of the file for which some agents do not list the skill.
    pub fn quirks(&self) -> Quirks {
        self.content.get().quirks
    }

    /// The diagnostics about the file, in the order of their positions.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.content.get().diagnostics
    }
}

impl FromStr for Skill {
    type Err = Error;

    /// Calls [`Skill::parse`] with an empty brand, which stands for any host: the blocks of all are read. The error is made from the diagnostic that
    /// most likely caused the refusal.
    fn from_str(text: &str) -> Result<Skill, Error> {
        Skill::parse(text, "").map_err(|diagnostics| first_error(&diagnostics))
    }
}

/// Returns an error made from the first of the most severe diagnostics, which most likely caused the
/// refusal.
fn first_error(diagnostics: &[Diagnostic]) -> Error {
    match diagnostics.iter().min_by_key(|diagnostic| Reverse(diagnostic.severity)) {
        Some(diagnostic) => Error::from(diagnostic),
        None => Error::new(ErrorCode::InternalError, "a skill was refused without a reason", ""),
    }
}

/// The name of the directory that holds the file at `path`.
fn directory_name(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().and_then(Path::file_name);
    directory.map_or_else(|| "skill".to_owned(), |name| name.to_string_lossy().into_owned())
}
