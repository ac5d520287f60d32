//! Settings that decide how much of a skill a model sees.

use std::path::Path;

use super::rule::CORRECT_IT;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::{Error, choose};
use crate::skill::SkillId;

/// The part of a skill that a model sees, from the most to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Exposure {
    /// As [`Exposure::Full`], and the skill is in every catalog prompt, whatever the budget.
    Pinned,
    /// Its instructions where a message calls for them, else a line with its description.
    #[default]
    Full,
    /// A line with its description at most; the model loads its instructions.
    Line,
    /// A line with its name alone at most.
    Name,
    /// Nothing: only the user can invoke the skill.
    Manual,
}

impl Exposure {
    /// All values, from the most to the least.
    pub const ALL: [Exposure; 5] =
        [Exposure::Pinned, Exposure::Full, Exposure::Line, Exposure::Name, Exposure::Manual];

    /// The name of the value, as in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Exposure::Pinned => "pinned",
            Exposure::Full => "full",
            Exposure::Line => "line",
            Exposure::Name => "name",
            Exposure::Manual => "manual",
        }
    }
}

impl std::str::FromStr for Exposure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Exposure, Error> {
        choose("an exposure", text, &Exposure::ALL, Exposure::as_str)
    }
}

/// A setting that decides how much of some skills a model sees. Of several settings that name a skill, the last
/// one decides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExposureChoice {
    /// The skill, in one of the forms in which skills are named, or a pattern such as `acme-*`.
    pub skills: String,
    /// The part of it that a model sees.
    pub exposure: Exposure,
    /// True if the file of a project says so. It decides about the project's own skills only, and shows no more
    /// of them than without it.
    pub of_project: bool,
    /// The finding to report if there is no such skill.
    pub unknown: Diagnostic,
}

impl ExposureChoice {
    /// Shows `exposure` of what `skills` names.
    pub fn new(skills: impl Into<String>, exposure: Exposure) -> ExposureChoice {
        let skills = skills.into();
        let message = format!("`{skills}` is to be shown, but there is no such skill");
        let unknown = Diagnostic::new(Code::UnknownSkill, Path::new(""), message, CORRECT_IT);
        ExposureChoice { skills, exposure, of_project: false, unknown }
    }

    /// Marks the choice as one that the file of a project makes.
    #[must_use]
    pub fn of_project(mut self, of_project: bool) -> ExposureChoice {
        self.of_project = of_project;
        self
    }

    /// Reports `unknown` if there is no such skill.
    #[must_use]
    pub fn or_finding(mut self, unknown: Diagnostic) -> ExposureChoice {
        self.unknown = unknown;
        self
    }

    /// The finding about a choice of a project's file that has no say about the skill `id`.
    pub(super) fn refusal(&self, id: &SkillId) -> Diagnostic {
        let message = format!(
            "the file of a project cannot show `{id}` as `{}`: it may only show less of the project's own skills",
            self.exposure.as_str()
        );
        let help = "the user's own `config.toml` can set it";
        self.unknown.in_its_place(Code::RefusedSetting, message, help)
    }
}

/// Returns the part of a skill that a model sees by `choices`. Calls `refuse` with those that have no say.
pub(super) fn exposure<'c>(
    choices: &[&'c ExposureChoice],
    is_of_project: bool,
    mut refuse: impl FnMut(&'c ExposureChoice),
) -> Exposure {
    choices.iter().fold(Exposure::default(), |now, choice| {
        if choice.of_project && (!is_of_project || choice.exposure < now) {
            refuse(choice);
            return now;
        }
        choice.exposure
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_shows_less_of_its_own_skills_only() {
        let own = |exposure| ExposureChoice::new("a", exposure).of_project(true);
        let user = |exposure| ExposureChoice::new("a", exposure);
        for (choices, is_of_project, wanted, n_refused) in [
            (vec![], true, Exposure::Full, 0),
            (vec![own(Exposure::Line)], true, Exposure::Line, 0),
            (vec![own(Exposure::Line)], false, Exposure::Full, 1),
            (vec![own(Exposure::Pinned)], true, Exposure::Full, 1),
            (vec![user(Exposure::Name), own(Exposure::Full)], true, Exposure::Name, 1),
            (vec![user(Exposure::Name), own(Exposure::Manual)], true, Exposure::Manual, 0),
            (vec![user(Exposure::Name), user(Exposure::Pinned)], false, Exposure::Pinned, 0),
        ] {
            let mut refused = 0;
            let of_refs: Vec<_> = choices.iter().collect();
            assert_eq!(exposure(&of_refs, is_of_project, |_| refused += 1), wanted, "{choices:?}");
            assert_eq!(refused, n_refused, "{choices:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for exposure in Exposure::ALL {
            assert_eq!(exposure.as_str().parse::<Exposure>().unwrap(), exposure);
        }
        assert!("loud".parse::<Exposure>().is_err());
    }
}
