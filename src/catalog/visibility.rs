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
pub enum Allowlist {
    /// All of them.
    #[default]
    All,
    /// The skills with these ids or names.
    Only(BTreeSet<String>),
}

impl Allowlist {
    /// The allowlist of a configuration: absent means all skills, `[]` none, `["*"]` all.
    pub fn from_entries<S: AsRef<str>>(entries: Option<&[S]>) -> Allowlist {
        let Some(entries) = entries else { return Allowlist::All };
        if entries.iter().any(|entry| entry.as_ref() == "*") {
            return Allowlist::All;
        }
        Allowlist::Only(entries.iter().map(|entry| entry.as_ref().to_owned()).collect())
    }

    pub(super) fn allows(&self, name: &str) -> bool {
        match self {
            Allowlist::All => true,
            Allowlist::Only(names) => names.contains(name),
        }
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

    /// Tells whether `audience` may activate the skill.
    pub fn is_loadable(&self, audience: Audience) -> bool {
        self.allowed
            && match audience {
                Audience::Model => self.skill.is_for_model(),
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
            (list.allows("a"), list.allows("b"))
        };
        assert_eq!(allows(None), (true, true));
        assert_eq!(allows(Some(&[])), (false, false));
        assert_eq!(allows(Some(&["*"])), (true, true));
        assert_eq!(allows(Some(&["a"])), (true, false));
        assert_eq!(allows(Some(&["b"])), (false, true));
    }
}
