//! The search for one literal in one text, without an index.

use std::ops::Range;

use super::text::boundary::{closes, opens};
use super::text::{QueryText, fold_trigger};

/// Returns the bytes of `text` where the keyword or exclude `trigger` first stands as a word of its
/// own, compared as an index of skills compares them; `None` if it does not, or is empty.
///
/// ```
/// use repertoire::matcher::find_literal;
///
/// assert_eq!(find_literal("open a Pull  Request", "pull request"), Some(7..20));
/// assert_eq!(find_literal("see github", "git"), None);
/// ```
pub fn find_literal(text: &str, trigger: &str) -> Option<Range<usize>> {
    let literal = fold_trigger(trigger);
    let first = literal.chars().next()?;
    let mut query = QueryText::default();
    query.set(text);
    let folded = query.folded();
    let mut from = 0;
    while let Some(start) = folded[from..].find(&literal).map(|at| from + at) {
        let end = start + literal.len();
        if opens(folded, start, end) && closes(folded, end) {
            return Some(query.span_of_folded(start..end));
        }
        from = start + first.len_utf8();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::{Index, IndexOptions, IndexedSkill, Query};
    use crate::skill::{Skill, SkillId};

    #[test]
    fn a_literal_is_found_where_an_index_finds_it() {
        let id = SkillId::new("not-in-the-texts");
        for (text, trigger) in [
            ("a press  release", "press release"),
            ("PRESS-RELEASE", "press release"),
            ("github and git", "git"),
            ("gitgit git", "git"),
            ("使用git提交", "git"),
            ("asp.net .net", ".net"),
            ("libc++2 c++", "c++"),
            ("STRASSE Straße", "straße"),
            ("don’t do it", "don't"),
            ("ﬁle it", "file"),
            ("aaa aa", "aa"),
            ("", "x"),
            ("x", " "),
        ] {
            let quoted = serde_json::to_string(trigger).unwrap();
            let source = format!("---\nname: q\ndescription: d\ntriggers: [{quoted}]\n---\n");
            let skill: Skill = source.parse().unwrap();
            let skills = [IndexedSkill { id: &id, name: "q", triggers: skill.triggers() }];
            let index = Index::new(&skills, &IndexOptions::default()).unwrap();
            let answer = index.search(&Query::new(text), &[], 1);
            let expected = answer.matches.first().map(|found| found.hits[0].span.clone());
            assert_eq!(find_literal(text, trigger), expected, "{text}: {trigger}");
        }
    }
}
