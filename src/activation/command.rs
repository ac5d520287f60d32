//! Slash commands, by which a user activates a skill.

use std::borrow::Cow;
use std::collections::BTreeSet;

use repertoire_text::invisible::without_invisible;
use serde::Serialize;

use crate::catalog::naming::readings;
use crate::catalog::{Audience, Catalog, Entry};
use crate::skill::SkillId;

/// A slash command, for menus and completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Command {
    /// The command as it is typed: `/sven/plan`.
    pub command: String,
    /// The skill that the command activates.
    pub id: SkillId,
    /// The skill's description in one line.
    pub brief: String,
    /// The arguments that the skill takes, in its author's words.
    pub argument_hint: Option<String>,
}

/// A message that begins with a slash, split into the command and its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed<'m> {
    /// The first word, without its slash.
    pub word: &'m str,
    /// The text after the first word, trimmed.
    pub args: &'m str,
}

impl<'m> Typed<'m> {
    /// Splits `message`; `None` if it does not begin with a slash and a word.
    pub fn parse(message: &'m str) -> Option<Typed<'m>> {
        let rest = message.trim().strip_prefix('/')?;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, args) = rest.split_at(end);
        (!word.is_empty()).then(|| Typed { word, args: args.trim_start() })
    }
}

/// Returns the commands that users can type, in the order of ids.
pub(crate) fn commands(catalog: &Catalog) -> Vec<Command> {
    let named = named(catalog).into_iter().filter(|(_, entry)| entry.is_available());
    let command = |(name, entry): (String, &Entry)| {
        let hint = entry.skill.manifest().argument_hint.as_ref();
        Command {
            command: format!("/{name}"),
            id: entry.id.clone(),
            brief: without_invisible(entry.skill.brief()).into_owned(),
            argument_hint: hint.map(|hint| without_invisible(&hint.value).into_owned()),
        }
    };
    named.map(command).collect()
}

/// Finds the skill that `word`, typed after a slash, refers to, whether the skill is available or not.
/// The word is an id, a command in any letter case, or a name that only one skill has; a plugin may stand
/// before it, as in `/plugin:id`.
pub fn find<'c>(catalog: &'c Catalog, word: &str) -> Option<&'c Entry> {
    let named = named(catalog);
    // `//tdd` is a comment, not a command.
    let n_readings = if word.starts_with(['/', '$', '@', '#']) { 1 } else { usize::MAX };
    let found = readings(word).take(n_readings).find_map(|word| {
        let command = sanitized(word.trim_end_matches('/'));
        let by_id = named.iter().find(|(_, entry)| entry.id == *word);
        let by_command = || named.iter().find(|(name, _)| *name == command);
        let by_name = || {
            let mut found = named.iter().filter(|(_, entry)| entry.skill.name() == word);
            found.next().filter(|_| found.next().is_none())
        };
        by_id.or_else(by_command).or_else(by_name)
    });
    found.map(|(_, entry)| *entry)
}

/// Returns the skills that have a command, in the order of ids, each with a unique command: its id as it
/// is typed, followed by a number if that is the id or the command of another skill.
fn named(catalog: &Catalog) -> Vec<(String, &Entry)> {
    let invocable = |entry: &&Entry| !entry.is_shadowed() && entry.is_loadable(Audience::User);
    let entries: Vec<&Entry> = catalog.entries().filter(invocable).collect();
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let mut taken = BTreeSet::new();
    let mut name = |entry: &Entry| {
        let id = entry.id.as_str();
        let plain = sanitized(id);
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let is_free = |name: &String| name == id || !ids.contains(name.as_str());
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let name = names.find(|name| is_free(name) && taken.insert(name.clone()));
        name.unwrap_or_else(|| id.to_owned())
    };
    entries.into_iter().map(|entry| (name(entry), entry)).collect()
}

/// Returns `id` as it is typed in a terminal: in lower case, without invisible characters, and with a single
/// `_` for each run of blanks, control characters, hyphens and `_`. A `/` is kept.
fn sanitized(id: &str) -> String {
    let mut command = String::with_capacity(id.len());
    for c in visible(id).chars().flat_map(char::to_lowercase) {
        let c = if c.is_whitespace() || c.is_control() || c == '-' { '_' } else { c };
        if c != '_' || !command.ends_with('_') {
            command.push(c);
        }
    }
    command
}

/// Returns `id` without invisible characters. Control characters are kept: they separate words.
fn visible(id: &str) -> Cow<'_, str> {
    if id.is_ascii() { Cow::Borrowed(id) } else { without_invisible(id) }
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
