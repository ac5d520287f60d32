//! Names: the literals by which one is found, and the range at which it stands.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Reading, denial, strength};
use crate::matcher::text::boundary;

/// The most words of a name that are looked for, with blanks or hyphens between them; those after
/// them are compared in place. A name is therefore two literals, where all mixes of four words
/// would be eight.
const MAX_HEAD_WORDS: usize = 2;

/// The most words of a name for which every mix of blanks and hyphens counts as the name, where
/// skills that declare the same are counted.
const MAX_FORM_WORDS: usize = 4;

/// The words of a name; empty if it has none, or is an id that is a path.
fn words(folded: &str, is_id: bool) -> Vec<&str> {
    if is_id && folded.contains('/') {
        return Vec::new();
    }
    folded.split([' ', '-']).filter(|word| !word.is_empty()).collect()
}

/// Words in every mix of blanks and hyphens.
fn joined(words: &[&str]) -> Vec<String> {
    let mut joined = vec![words.first().map_or_else(String::new, ToString::to_string)];
    for word in words.iter().skip(1) {
        joined = joined
            .iter()
            .flat_map(|before| [' ', '-'].map(|by| format!("{before}{by}{word}")))
            .collect();
    }
    joined
}

/// A name or an id as it may stand in a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Name {
    /// Folded words after those in the literals.
    tail: Box<[Box<str>]>,
    /// Words in all.
    pub(crate) n_words: usize,
    /// True for ids: `/`, `$` or `@` before one makes it a mention.
    pub(super) is_id: bool,
}

impl Name {
    /// A name from its folded form, with the literals that are looked for: the beginning of it, or all.
    /// Hyphens and blanks are equal.
    pub(crate) fn new(folded: &str, is_id: bool) -> (Name, Vec<String>) {
        let words = words(folded, is_id);
        if words.is_empty() {
            return (Name { tail: Box::default(), n_words: 1, is_id }, vec![folded.to_owned()]);
        }
        // One with other blanks and hyphens is also found as it is, so all of it is looked for.
        let is_plain = folded.split([' ', '-']).count() == words.len();
        let n_head = if is_plain { MAX_HEAD_WORDS } else { MAX_FORM_WORDS };
        let (head, tail) = words.split_at(words.len().min(n_head));
        let mut literals = joined(head);
        if tail.is_empty() && !is_plain {
            literals.push(folded.to_owned());
        }
        let tail = tail.iter().map(|&word| word.into()).collect();
        (Name { tail, n_words: words.len(), is_id }, literals)
    }

    /// The literals that count as a name.
    pub(crate) fn forms(folded: &str, is_id: bool) -> Vec<String> {
        let words = words(folded, is_id);
        let mut forms = Vec::new();
        if (1..=MAX_FORM_WORDS).contains(&words.len()) {
            forms = joined(&words);
        }
        if !forms.iter().any(|form| form == folded) {
            forms.push(folded.to_owned());
        }
        forms
    }

    /// The range of the name whose literal was found at `found`; `None` if the words after it are
    /// missing, or it is a part of a longer word.
    pub(crate) fn locate(&self, text: &str, found: Range<usize>) -> Option<Range<usize>> {
        let end = self.tail.iter().try_fold(found.end, |end, word| {
            let rest = text[end..].strip_prefix([' ', '-'])?;
            rest.starts_with(&**word).then_some(end + 1 + word.len())
        })?;
        let stands_alone = boundary::opens(text, found.start, end) && boundary::closes(text, end);
        stands_alone.then_some(found.start..end)
    }

    /// Reads the context of the name at `range`.
    pub(crate) fn read(&self, text: &str, range: &Range<usize>) -> Reading {
        let (strength, is_token, start) = strength::weigh(self, text, range);
        let is_denied = strength.is_some() && denial::is_denied(text, start);
        Reading { strength, is_token, is_denied }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_by_its_beginning_or_its_own_form() {
        for (name, literals, forms) in [
            ("a", &["a"][..], 1),
            ("-a-", &["a", "-a-"], 2),
            ("--", &["--"], 1),
            ("a-b", &["a b", "a-b"], 2),
            ("a-b-c", &["a b", "a-b"], 4),
            ("a-b-c-d-e-f-g", &["a b", "a-b"], 1),
            ("pr: a - b", &["pr: a b", "pr: a-b", "pr:-a b", "pr:-a-b", "pr: a - b"], 5),
        ] {
            assert_eq!(Name::new(name, false).1, literals, "{name}");
            assert_eq!(Name::forms(name, false).len(), forms, "{name}");
        }
        assert_eq!(Name::new("a/b c", true).1, ["a/b c"]);
    }
}
