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

    fn of(&mut self, role: &str) -> Option<&mut Languages> {
        Some(match role {
            "not" => &mut self.not,
            "no" => &mut self.no,
            "final" => &mut self.last_not,
            "without" => &mut self.without,
            "after" => &mut self.after,
            "last" => &mut self.last,
            "apart" => &mut self.apart,
            "that" => &mut self.that,
            "use" => &mut self.usage,
            "between" => &mut self.between,
            "unless" => &mut self.unless,
            "skill" => &mut self.skill,
            "plural" => &mut self.plural,
            "and" => &mut self.and,
            "is" => &mut self.is,
            "broken" => &mut self.broken,
            "fails" => &mut self.fails,
            "care" => &mut self.care,
            _ => return None,
        })
    }
}

/// Words, and pairs of words, with their roles.
#[derive(Debug)]
struct Lexicon {
    words: HashMap<&'static str, Roles>,
    pairs: HashMap<(&'static str, &'static str), Roles>,
}

/// The mean number of bytes of a word in the list, with its blank.
const MEAN_BYTES: usize = 8;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("words.txt")));

fn read(text: &'static str) -> Lexicon {
    let words = HashMap::with_capacity(text.len() / MEAN_BYTES);
    let mut lexicon = Lexicon { words, pairs: HashMap::new() };
    let mut language: Languages = 0;
    for line in text.lines() {
        let (role, entries) = line.split_once(' ').unwrap_or((line, ""));
        if role == "=" {
            language = if language == 0 { 1 } else { language << 1 };
        }
        for entry in entries.split(' ') {
            let pair = entry.split_once('+');
            let roles = match pair {
                Some(pair) => lexicon.pairs.entry(pair).or_default(),
                None => lexicon.words.entry(entry).or_default(),
            };
            let Some(languages) = roles.of(role) else { continue };
            *languages |= language;
            if let Some((_, second)) = pair {
                lexicon.words.entry(second).or_default().ends_pair |= language;
            }
        }
    }
    lexicon
}

/// Returns the roles of a folded word; `None` if it is not known.
pub(super) fn roles(word: &str) -> Option<Roles> {
    LEXICON.words.get(word).copied()
}

/// Returns the roles of two words, one after the other, that they have only together.
pub(super) fn roles_of_pair(first: &str, second: &str) -> Roles {
    let pairs: &HashMap<(&str, &str), Roles> = &LEXICON.pairs;
    pairs.get(&(first, second)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::text::fold_trigger;

    #[test]
    fn every_line_has_a_role_and_every_word_is_folded() {
        let mut n_languages = 0;
        for line in include_str!("words.txt").lines() {
            let (role, entries) = line.split_once(' ').unwrap_or((line, ""));
            n_languages += usize::from(role == "=");
            assert!(
                ["=", "#", ""].contains(&role) || Roles::default().of(role).is_some(),
                "{line}"
            );
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
        assert_eq!(roles("xyzzy"), None);
    }
}
