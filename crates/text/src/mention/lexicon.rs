//! The words that denials and talk about a skill are made of, in all languages that are known.
//!
//! `words.txt` gives each word its roles in each language. A clause is read with a set of languages, from
//! which each word removes those that it does not belong to: `no` and `use` deny in Spanish only
//! together with words of Spanish.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of languages, one bit for each.
pub(super) type Languages = u32;

pub(super) const ALL: Languages = Languages::MAX;

/// The languages in which a word has each role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Roles {
    /// Negates the use of the name after it: "nicht", "不要".
    pub(super) not: Languages,
    /// Negates only together with a verb of use: "ne", "no".
    pub(super) no: Languages,
    /// Denies the name before it at the end of a clause: "benutze x nicht".
    pub(super) last_not: Languages,
    /// Denies the name after it without a verb: "ohne", "au lieu".
    pub(super) without: Languages,
    /// Denies the name before it: "なしで", "kullanmadan".
    pub(super) after: Languages,
    /// Denies the name before it at the end of a clause: "kullanma".
    pub(super) last: Languages,
    /// A verb before the name and a word after it that deny together what stands between them: "turn x off".
    pub(super) apart: Languages,
    /// Begins a clause that a comma does not part from the one before it: "nicht, dass du x benutzt".
    pub(super) that: Languages,
    /// A verb for the use of a skill, or for the wish to use it.
    pub(super) usage: Languages,
    /// May stand between the others.
    pub(super) between: Languages,
    /// Before a negation, turns it around: "why", "forget".
    pub(super) unless: Languages,
    /// Means a skill.
    pub(super) skill: Languages,
    /// Means several skills.
    pub(super) plural: Languages,
    /// Joins two names.
    pub(super) and: Languages,
    /// Tells a state, or begins a question about one.
    pub(super) is: Languages,
    /// The state of a skill that is talked about: "broken", "installed".
    pub(super) broken: Languages,
    /// Tells a state by itself: "fails", "坏了".
    pub(super) fails: Languages,
    /// Work on a skill instead of its use: "delete".
    pub(super) care: Languages,
    /// The second of two words that have a role together.
    pub(super) ends_pair: Languages,
}

impl Roles {
    /// The languages in which the word may stand in a denial.
    pub(super) fn inside(&self) -> Languages {
        self.usage | self.between | self.skill
    }

    /// Adds what a word does in a language.
    fn add(&mut self, usage: Use) {
        if let Some((_, field)) = ROLES.get(usize::from(usage.role)) {
            *field(self) |= 1 << usage.language;
        }
    }
}

/// The roles as `words.txt` names them, and last the one that the notation of pairs gives.
const ROLES: [(&str, Field); 19] = [
    ("not", |of| &mut of.not),
    ("no", |of| &mut of.no),
    ("final", |of| &mut of.last_not),
    ("without", |of| &mut of.without),
    ("after", |of| &mut of.after),
    ("last", |of| &mut of.last),
    ("apart", |of| &mut of.apart),
    ("that", |of| &mut of.that),
    ("use", |of| &mut of.usage),
    ("between", |of| &mut of.between),
    ("unless", |of| &mut of.unless),
    ("skill", |of| &mut of.skill),
    ("plural", |of| &mut of.plural),
    ("and", |of| &mut of.and),
    ("is", |of| &mut of.is),
    ("broken", |of| &mut of.broken),
    ("fails", |of| &mut of.fails),
    ("care", |of| &mut of.care),
    ("+", |of| &mut of.ends_pair),
];

/// The languages of one role among all of a word.
type Field = fn(&mut Roles) -> &mut Languages;

/// One role of a word in one language, and the place of the word's next one.
///
/// A process that routes one message reads the whole list for it, so that what is kept is small: a word
/// with all its roles would be five times as much, in as many more pages of memory.
#[derive(Debug, Clone, Copy)]
struct Use {
    role: u8,
    language: u8,
    next: u16,
}

/// In place of a next use, after the last one.
const NONE: u16 = u16::MAX;

/// Words, and pairs of words, each with the place of its first use.
#[derive(Debug, Default)]
struct Lexicon {
    words: HashMap<&'static str, u16>,
    pairs: HashMap<(&'static str, &'static str), u16>,
    uses: Vec<Use>,
}

/// The mean number of bytes of a word in the list, with its blank and what repeats it in other roles.
const MEAN_BYTES: usize = 9;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("words.txt")));

fn read(text: &'static str) -> Lexicon {
    let n_words = text.len() / MEAN_BYTES;
    let mut lexicon = Lexicon {
        words: HashMap::with_capacity(n_words),
        uses: Vec::with_capacity(n_words + n_words / 2),
        pairs: HashMap::new(),
    };
    let ends_pair = ROLES.len() as u8 - 1;
    let mut n_languages = 0;
    for line in text.lines() {
        let (name, entries) = line.split_once(' ').unwrap_or((line, ""));
        n_languages += u8::from(name == "=");
        let (Some(role), Some(language)) = (role_named(name), n_languages.checked_sub(1)) else {
            continue;
        };
        for entry in entries.split(' ') {
            let Lexicon { words, pairs, uses } = &mut lexicon;
            let mut link = |first: &mut u16, role| {
                uses.push(Use { role, language, next: *first });
                *first = uses.len() as u16 - 1;
            };
            if let Some(pair) = entry.split_once('+') {
                link(pairs.entry(pair).or_insert(NONE), role);
                link(words.entry(pair.1).or_insert(NONE), ends_pair);
            } else {
                link(words.entry(entry).or_insert(NONE), role);
            }
        }
    }
    lexicon
}

fn role_named(name: &str) -> Option<u8> {
    ROLES.iter().position(|(role, _)| *role == name).map(|at| at as u8)
}

/// Tells whether a folded word has any role.
pub(super) fn is_known(word: &str) -> bool {
    LEXICON.words.contains_key(word)
}

/// Returns the roles of a folded word; `None` if it is not known.
pub(super) fn roles(word: &str) -> Option<Roles> {
    LEXICON.words.get(word).map(|first| roles_from(*first))
}

/// Returns the roles of two words, one after the other, that they have only together.
pub(super) fn roles_of_pair(first: &str, second: &str) -> Roles {
    let pairs: &HashMap<(&str, &str), u16> = &LEXICON.pairs;
    pairs.get(&(first, second)).map(|first| roles_from(*first)).unwrap_or_default()
}

/// Collects the uses of a word, of which one is at `at`.
fn roles_from(mut at: u16) -> Roles {
    let mut roles = Roles::default();
    while let Some(usage) = LEXICON.uses.get(usize::from(at)) {
        roles.add(*usage);
        at = usage.next;
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold_trigger;

    #[test]
    fn every_line_has_a_role_and_every_word_is_folded() {
        let mut n_languages = 0;
        for line in include_str!("words.txt").lines() {
            let (role, entries) = line.split_once(' ').unwrap_or((line, ""));
            n_languages += usize::from(role == "=");
            assert!(["=", "#", ""].contains(&role) || role_named(role).is_some(), "{line}");
            assert!(role == "#" || fold_trigger(entries) == entries, "{line}");
        }
        assert!(n_languages <= Languages::BITS as usize);
        assert_eq!(n_languages, 27);
    }

    #[test]
    fn words_have_the_roles_of_their_languages() {
        let (nicht, no) = (roles("nicht").unwrap(), roles("no").unwrap());
        assert!(nicht.not == nicht.last_not && nicht.not.is_power_of_two());
        assert!(no.no != 0 && no.no & nicht.not == 0);
        assert!(roles("lugar").is_some_and(|word| word.ends_pair != 0 && word.without == 0));
        assert_ne!(roles_of_pair("en", "lugar").without, 0);
        assert_eq!(roles_of_pair("lugar", "en"), Roles::default());
        for unknown in ["xyzzy", "", "lexicon.rs", "="] {
            assert_eq!(roles(unknown), None, "{unknown}");
        }
    }
}
