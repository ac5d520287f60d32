//! The literals by which a name is found, and where one stands.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::boundary;
use super::{Reading, denial, strength};

/// So many words of a name are looked up in every mix of blanks and hyphens; the words after
/// them are compared in place. Eight literals a name at most.
const MAX_HEAD_WORDS: usize = 4;

/// A name or an id as it may stand in a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Name {
    /// Folded words after those in the literals.
    tail: Box<[Box<str>]>,
    /// Words in all.
    pub(crate) n_words: usize,
    /// Whether `/`, `$` or `@` before it makes it a mention: so for ids.
    pub(super) is_id: bool,
}

impl Name {
    /// A name from its folded form, with the literals by which it is found: hyphens and blanks
    /// are equal.
    pub(crate) fn new(folded: &str, is_id: bool) -> (Name, Vec<String>) {
        let words: Vec<&str> = folded.split([' ', '-']).filter(|w| !w.is_empty()).collect();
        let is_path = is_id && folded.contains('/');
        if is_path || words.is_empty() {
            let name = Name { tail: Box::default(), n_words: 1, is_id };
            return (name, vec![folded.to_owned()]);
        }
        let (head, tail) = words.split_at(words.len().min(MAX_HEAD_WORDS));
        let mut literals = vec![head[0].to_owned()];
        for word in &head[1..] {
            literals = literals
                .iter()
                .flat_map(|l| [' ', '-'].map(|by| format!("{l}{by}{word}")))
                .collect();
        }
        if tail.is_empty() && !literals.iter().any(|l| l == folded) {
            literals.push(folded.to_owned());
        }
        let tail = tail.iter().map(|&word| word.into()).collect();
        (Name { tail, n_words: words.len(), is_id }, literals)
    }

    /// Whether the literals are all of the name.
    pub(crate) fn is_literal(&self) -> bool {
        self.tail.is_empty()
    }

    /// Where the name stands of which a literal was found at `found`; `None` if the words after it
    /// are missing, or it is a part of a longer word.
    pub(crate) fn locate(&self, text: &str, found: Range<usize>) -> Option<Range<usize>> {
        let end = self.tail.iter().try_fold(found.end, |end, word| {
            let rest = text[end..].strip_prefix([' ', '-'])?;
            rest.starts_with(&**word).then_some(end + 1 + word.len())
        })?;
        let stands_alone = boundary::opens(text, found.start, end) && boundary::closes(text, end);
        stands_alone.then_some(found.start..end)
    }

    /// What stands around the name at `range` tells about it.
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
    fn a_name_is_at_most_eight_literals_and_its_own_form() {
        assert_eq!(Name::new("a-b-c-d-e-f-g", true).1.len(), 8);
        assert_eq!(
            Name::new("pr: a - b", false).1,
            ["pr: a b", "pr: a-b", "pr:-a b", "pr:-a-b", "pr: a - b"]
        );
        assert_eq!(Name::new("--", false).1, ["--"]);
    }
}
