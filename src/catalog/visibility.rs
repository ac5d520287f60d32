//! Visibility: who may see, match and load a skill.
//!
//! | manifest | the model may see, match and load the skill | the user has a command |
//! |---|---|---|
//! | (default) | yes | yes |
//! | `disable-model-invocation: true` | no | yes |
//! | `user-invocable: false` | yes | no |
//! | both | no | no |
//!
//! A skill that the allowlist leaves out exists for neither of them.

use std::collections::BTreeSet;

use super::Entry;
use super::exposure::Exposure;
use super::naming::may_name;

/// The audience of a skill: the party that may see and load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The language model: prompts, matching, and the tools it calls.
    Model,
    /// The person at the keyboard: slash commands and menus.
    User,
}

/// The skills that exist for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowlist {
    /// Lists of skills, in any form in which skills are named, patterns such as `acme-*` included. A
    /// skill exists if each list names it.
    lists: Vec<BTreeSet<String>>,
}

impl Allowlist {
    /// The allowlist of a configuration: absent means all skills, `[]` none, `["*"]` all.
    pub fn from_entries<S: AsRef<str>>(entries: Option<&[S]>) -> Allowlist {
        let lists = entries.into_iter().filter(|list| list.iter().all(|one| one.as_ref() != "*"));
        let texts = |list: &[S]| list.iter().map(|one| one.as_ref().to_owned()).collect();
        Allowlist { lists: lists.map(texts).collect() }
    }

    /// Returns the allowlist of the skills that both this one and `other` allow.
    #[must_use]
    pub fn and(mut self, other: Allowlist) -> Allowlist {
        self.lists.extend(other.lists);
        self
    }

    pub(super) fn lists(&self) -> &[BTreeSet<String>] {
        &self.lists
    }

    /// Tells whether a skill that could not be loaded, and is known by `names`, would exist.
    pub(super) fn may_allow(&self, names: &[&str]) -> bool {
        self.lists.iter().all(|list| list.iter().any(|written| may_name(written, names)))
    }
}

impl Entry {
    /// Tells whether the skill is listed for `audience`.
    pub fn is_listed(&self, audience: Audience) -> bool {
        self.is_loadable(audience)
    }

    /// Tells whether messages are matched against the skill for `audience`.
    pub fn is_matched(&self, audience: Audience) -> bool {
        self.is_loadable(audience)
    }

    /// Tells whether `audience` may activate the skill, if it exists for the agent.
    pub fn is_loadable(&self, audience: Audience) -> bool {
        match audience {
            Audience::Model => self.skill.is_for_model() && self.exposure != Exposure::Manual,
            Audience::User => self.skill.manifest().is_user_invocable(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowlists_read_as_in_a_configuration() {
        let allows = |entries: Option<&[&str]>| {
            let list = Allowlist::from_entries(entries);
            (list.may_allow(&["a"]), list.may_allow(&["b"]))
        };
        assert_eq!(allows(None), (true, true));
        assert_eq!(allows(Some(&[])), (false, false));
        assert_eq!(allows(Some(&["*"])), (true, true));
        assert_eq!(allows(Some(&["a"])), (true, false));
        assert_eq!(allows(Some(&["b"])), (false, true));
        let both = Allowlist::from_entries(Some(&["a", "b"]));
        let both = both.and(Allowlist::from_entries(Some(&["/B", "c"])));
        assert!(both.may_allow(&["b"]) && !both.may_allow(&["a"]) && !both.may_allow(&["c"]));
    }
}
