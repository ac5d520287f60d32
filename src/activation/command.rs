//! Slash commands: what a user types to activate a skill.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::{Audience, Catalog, Entry};
use crate::skill::SkillId;

/// A slash command, for menus and completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// As it is typed: `/sven/plan`.
    pub command: String,
    /// The skill it activates.
    pub id: SkillId,
    /// What the skill does, in one line.
    pub brief: String,
    /// What arguments it takes, as its author put it.
    pub argument_hint: Option<String>,
}

/// A message that begins with a slash, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typed<'m> {
    /// The first word, without its slash.
    pub(crate) word: &'m str,
    /// What follows it, without blanks around.
    pub(crate) args: &'m str,
}

impl<'m> Typed<'m> {
    /// Takes `message` apart; `None` if it does not begin with a slash and a word.
    pub(crate) fn parse(message: &'m str) -> Option<Typed<'m>> {
        let rest = message.trim().strip_prefix('/')?;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, args) = rest.split_at(end);
        (!word.is_empty()).then(|| Typed { word, args: args.trim_start() })
    }
}

/// The commands that users have, in the order of ids.
pub(crate) fn commands(catalog: &Catalog) -> Vec<Command> {
    let entries: Vec<&Entry> = catalog.listed(Audience::User).collect();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &entries {
        *taken.entry(sanitized(entry.id.as_str())).or_default() += 1;
    }
    let command = |entry: &&Entry| {
        let short = sanitized(entry.id.as_str());
        // Two skills that differ in what is smoothed away keep their ids.
        let name = if taken[&short] == 1 { &short } else { entry.id.as_str() };
        Command {
            command: format!("/{name}"),
            id: entry.id.clone(),
            brief: entry.skill.brief().to_owned(),
            argument_hint: entry.skill.manifest().argument_hint.as_ref().map(|h| h.value.clone()),
        }
    };
    entries.iter().map(command).collect()
}

/// The skill that `word`, typed after a slash, stands for: an id, a name that is unique, or a
/// command.
pub(crate) fn find<'c>(catalog: &'c Catalog, word: &str) -> Option<&'c Entry> {
    let unique = |is: &dyn Fn(&Entry) -> bool| {
        let mut found = catalog
            .entries()
            .filter(|entry| !entry.is_shadowed() && entry.is_loadable(Audience::User) && is(entry));
        found.next().filter(|_| found.next().is_none())
    };
    unique(&|entry| entry.id == word)
        .or_else(|| unique(&|entry| entry.skill.name() == word))
        .or_else(|| unique(&|entry| sanitized(entry.id.as_str()) == word))
}

/// `id` as it is typed in a terminal: in lower case, blanks and hyphens as `_`, runs of these as
/// one, `/` kept.
fn sanitized(id: &str) -> String {
    let mut command = String::with_capacity(id.len());
    for c in id.chars().flat_map(char::to_lowercase) {
        let c = if c.is_whitespace() || c.is_control() || c == '-' { '_' } else { c };
        if c != '_' || !command.ends_with('_') {
            command.push(c);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_fit_for_terminals() {
        for (id, command) in [
            ("sven/plan", "sven/plan"),
            ("Code - Review", "code_review"),
            ("a--b__c \t d", "a_b_c_d"),
            ("Sven/Do It-now", "sven/do_it_now"),
            ("ÜBER", "über"),
        ] {
            assert_eq!(sanitized(id), command);
        }
    }

    #[test]
    fn only_a_slash_and_a_word_is_typed_as_a_command() {
        let typed = |message| Typed::parse(message).map(|typed| (typed.word, typed.args));
        assert_eq!(typed("/review PR 42"), Some(("review", "PR 42")));
        assert_eq!(typed("  /sven/plan\n the  rest \n"), Some(("sven/plan", "the  rest")));
        assert_eq!(typed("/review"), Some(("review", "")));
        for message in ["", "/", "/ review", "review", "see /review", "\\/review"] {
            assert_eq!(typed(message), None, "{message}");
        }
    }
}
