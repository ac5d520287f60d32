//! Rules by which the host's agent turns skills off, and settings that turn them on or off.

use std::path::{Path, PathBuf, absolute};

use serde_json::Value as Json;

use super::naming::is_like;
use super::{Entry, Scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::skill::SkillId;

/// A rule of the host's agent that turns skills off, or on again. Of several rules that apply to a skill,
/// the last one decides.
///
/// ```
/// use repertoire::Engine;
/// use repertoire::catalog::{RuleTarget, SkillRule};
///
/// let skill = "---\nname: acme-mail\ndescription: Sends mail.\n---\n";
/// let rule = SkillRule { target: RuleTarget::Name("acme-*".into()), off: Some("no mail".into()) };
/// let engine = Engine::builder().skill(skill.parse()?).rules(vec![rule]).build()?;
/// assert_eq!(engine.catalog().get("acme-mail").and_then(|entry| entry.reason()), Some("no mail".into()));
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize))]
pub struct SkillRule {
    /// The skills to which the rule applies.
    pub target: RuleTarget,
    /// The reason why they are off, in a phrase; `None` if they are on.
    pub off: Option<String>,
}

/// A setting that turns skills on or off. Of several settings that name a skill, the last one decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillChoice {
    /// The skill, in one of the forms in which skills are named, or a pattern such as `acme-*`.
    pub skills: String,
    /// The reason why it is off, in a phrase; `None` if it is on.
    pub off: Option<String>,
    /// True if the file of a project says so. It decides about the project's own skills: it turns off no
    /// other ones, and turns none of the others on that the user turned off.
    pub of_project: bool,
    /// The finding to report if there is no such skill.
    pub unknown: Diagnostic,
}

impl SkillChoice {
    /// Turns on what `skills` names.
    pub fn on(skills: impl Into<String>) -> SkillChoice {
        let skills = skills.into();
        let message = format!("`{skills}` is enabled, but there is no such skill");
        let unknown = Diagnostic::new(Code::UnknownSkill, Path::new(""), message, CORRECT_IT);
        SkillChoice { skills, off: None, of_project: false, unknown }
    }

    /// Turns off what `skills` names. `reason` is a phrase, shown with the status of the skills.
    pub fn off(skills: impl Into<String>, reason: impl Into<String>) -> SkillChoice {
        let skills = skills.into();
        let message = format!("`{skills}` is disabled, but there is no such skill");
        let unknown = Diagnostic::new(Code::UnknownSkill, Path::new(""), message, CORRECT_IT);
        SkillChoice { skills, off: Some(reason.into()), of_project: false, unknown }
    }

    /// Tells whether the choice has no say about a skill of which `earlier` decided, as the file of a project
    /// makes it.
    fn is_refused(&self, is_of_project: bool, earlier: Option<&SkillChoice>) -> bool {
        let is_off_for_user = || earlier.is_some_and(|it| it.off.is_some() && !it.of_project);
        self.of_project && !is_of_project && (self.off.is_some() || is_off_for_user())
    }

    /// The finding about a choice of a project's file that has no say about the skill `id`.
    pub(super) fn refusal(&self, id: &SkillId) -> Diagnostic {
        let (message, help) = match self.off {
            Some(_) => (
                format!("the file of a project cannot turn off `{id}`, which is not the project's"),
                "the user can turn it off, in a file of the user's own",
            ),
            None => (
                format!("the file of a project cannot turn on `{id}`, which the user turned off"),
                "the user can turn it on, in a file of the user's own",
            ),
        };
        self.unknown.in_its_place(Code::RefusedSetting, message, help)
    }
}

/// Returns the last of `choices` that has a say about a skill. Calls `refuse` with those that have none.
pub(super) fn decision<'c>(
    choices: &[&'c SkillChoice],
    is_of_project: bool,
    mut refuse: impl FnMut(&'c SkillChoice),
) -> Option<&'c SkillChoice> {
    let mut decided = None;
    for choice in choices {
        if choice.is_refused(is_of_project, decided) {
            refuse(choice);
        } else {
            decided = Some(*choice);
        }
    }
    decided
}

/// The remedy for a setting that names no skill.
pub(super) const CORRECT_IT: &str = "correct the id, or remove the setting";

/// The skills to which a [`SkillRule`] applies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize))]
pub enum RuleTarget {
    /// Skills by id, name, or the name of their directory, in any letter case; for a skill of a
    /// namespaced source also `NAMESPACE:NAME`. `*` stands for any text.
    Name(String),
    /// Skills with exactly this name, of those in [`RuleTarget::Name`].
    Exact(String),
    /// Skills with this name in any letter case, of those in [`RuleTarget::Name`].
    Caseless(String),
    /// The skill with this file or directory, whether a link leads to it or not.
    File(PathBuf),
    /// The skills below this directory.
    Below(PathBuf),
    /// Skills whose front matter has this truth value in a key that is not a field of skills.
    Key(&'static str, bool),
}

/// Returns the reason by which the last of `rules` that applies turns `entry` off.
pub(super) fn turned_off(rules: &[SkillRule], entry: &Entry) -> Option<String> {
    rules.iter().rev().find(|rule| rule.target.applies_to(entry))?.off.clone()
}

impl RuleTarget {
    fn applies_to(&self, entry: &Entry) -> bool {
        let dir = entry.skill.dir();
        match self {
            RuleTarget::Name(pattern) => names(entry).any(|name| is_like(&name, pattern)),
            RuleTarget::Exact(wanted) => names(entry).any(|name| name == *wanted),
            RuleTarget::Caseless(wanted) => {
                let wanted = wanted.to_lowercase();
                names(entry).any(|name| name.to_lowercase() == wanted)
            }
            RuleTarget::File(wanted) => {
                let wanted = real(wanted);
                let paths = [entry.skill.path(), dir].into_iter().flatten();
                paths.map(real).any(|path| path == wanted)
            }
            RuleTarget::Below(root) => {
                dir.and_then(|dir| absolute(dir).ok()).is_some_and(|dir| dir.starts_with(root))
            }
            RuleTarget::Key(key, value) => {
                entry.skill.manifest().extra.get(*key).and_then(Json::as_bool) == Some(*value)
            }
        }
    }
}

/// Iterates over the names by which an agent may call a skill.
fn names(entry: &Entry) -> impl Iterator<Item = String> {
    let id = entry.id.as_str();
    let dir = entry
        .skill
        .dir_location()
        .and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
    let namespaced = id.split_once('/').filter(|_| entry.scope == Scope::Fetched);
    let qualified = namespaced.map(|(namespace, name)| format!("{namespace}:{name}"));
    // The plain name of a namespaced skill may be that of another one.
    let plain = [Some(entry.skill.name().to_owned()), dir];
    let plain = plain.into_iter().flatten().filter(move |_| namespaced.is_none());
    std::iter::once(id.to_owned()).chain(qualified).chain(plain.collect::<Vec<_>>())
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
