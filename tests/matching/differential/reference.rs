//! The plain matcher, which searches for every trigger separately, at every position of the text.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use caseless::Caseless;
use regex::{Regex, RegexBuilder};
use repertoire::skill::Spanned;
use repertoire::{HitKind, Skill};
use unicode_normalization::UnicodeNormalization;

/// Returns the normalised form of a text, as `docs/matching.md` describes it.
fn normalized(text: &str) -> String {
    static DROPPED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\p{Default_Ignorable_Code_Point}").unwrap());
    static HYPHEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\u{58a}\u{1806}\u{2010}\u{2011}\u{2012}\u{2043}]").unwrap());
    static DOTTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"([iI])\u{307}+").unwrap());
    let text = HYPHEN.replace_all(&DROPPED.replace_all(text, ""), "-").into_owned();
    let parts: String = text.nfkd().collect();
    DOTTED.replace_all(&parts, "$1").nfc().collect()
}

pub(super) fn fold(text: &str) -> String {
    static BLANKS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\s+").unwrap());
    let text = normalized(text).replace('’', "'");
    let folded: String = text.chars().flat_map(|c| [c].into_iter().default_case_fold()).collect();
    BLANKS.replace_all(&folded, " ").into_owned()
}

/// Tells whether a trigger occurs in a folded text as a whole word, not inside of `denied` places.
fn has_literal(folded: &str, trigger: &str, denied: &[Range<usize>]) -> bool {
    let trigger = fold(trigger).trim().to_owned();
    !trigger.is_empty()
        && (0..folded.len()).filter(|&at| folded.is_char_boundary(at)).any(|at| {
            let Some(after) = folded[at..].strip_prefix(&trigger) else { return false };
            let before = folded[..at].chars().next_back();
            let is_inside = |of: &Range<usize>| of.start <= at && at + trigger.len() <= of.end;
            !denied.iter().any(is_inside)
                && is_edge(before, trigger.chars().next(), false)
                && is_edge(after.chars().next(), trigger.chars().next_back(), true)
        })
}

pub(super) fn is_edge(neighbour: Option<char>, own: Option<char>, right: bool) -> bool {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{L}\p{M}\p{Nd}_]").unwrap());
    static UNSPACED: LazyLock<Regex> = LazyLock::new(|| {
        let scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
        Regex::new(&format!("[ー{}]", scripts.map(|s| format!(r"\p{{{s}}}")).concat())).unwrap()
    });
    static HANGUL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{Hangul}").unwrap());
    let is = |class: &Regex, c: char| class.is_match(c.encode_utf8(&mut [0; 4]));
    let Some(neighbour) = neighbour else { return true };
    let touching = [neighbour, own.unwrap()];
    !is(&WORD, neighbour)
        || touching.iter().any(|&c| is(&UNSPACED, c))
        || (right && touching.iter().any(|&c| is(&HANGUL, c)))
}

fn has_pattern(normalized: &str, pattern: &str) -> bool {
    let pattern = pattern.replace('İ', "[Ii]").replace('\u{2011}', "-").replace('\u{200b}', "(?:)");
    let pattern = RegexBuilder::new(&pattern).case_insensitive(true).build().unwrap();
    pattern.is_match(normalized)
}

/// The triggers found for one skill, each once; `None` if an exclude vetoes the skill.
pub(super) type Hits = Option<BTreeSet<(HitKind, String)>>;

/// Returns the reference matcher's hits for one skill, if the names at the `denied` places of the folded
/// query are denied.
pub(super) fn expected_hits(skill: &Skill, query: &str, denied: &[Range<usize>]) -> Hits {
    let (folded, normalized) = (fold(query), normalized(query));
    let triggers = skill.triggers();
    if triggers.exclude.iter().any(|t| has_literal(&folded, &t.value, &[])) {
        return None;
    }
    let literal = |t: &str| has_literal(&folded, t, denied);
    let pattern = |t: &str| has_pattern(&normalized, t);
    let mut hits = BTreeSet::new();
    let mut add = |kind, triggers: &[Spanned<String>], is_found: &dyn Fn(&str) -> bool| {
        let found = triggers.iter().filter(|t| is_found(&t.value));
        hits.extend(found.map(|t| (kind, t.value.clone())));
    };
    add(HitKind::Keyword, &triggers.keywords, &literal);
    add(HitKind::Verb, &triggers.verbs, &literal);
    add(HitKind::Pattern, &triggers.patterns, &pattern);
    Some(hits)
}

/// Returns the order that `docs/matching.md` documents ("Ranking"), computed from the hits of all skills,
/// without recency.
pub(super) fn expected_order(skills: &[Skill], hits: &[Hits]) -> Vec<String> {
    let literal = |text: &str| fold(text).trim().to_owned();
    let declared_by = |kind: HitKind, trigger: &str| {
        skills
            .iter()
            .filter(|skill| {
                let t = skill.triggers();
                let mut literals = t.keywords.iter().chain(&t.verbs).map(|t| literal(&t.value));
                match kind {
                    HitKind::Pattern => t.patterns.iter().any(|p| p.value == trigger),
                    _ => literals.any(|t| t == literal(trigger)),
                }
            })
            .count()
    };
    let words = |(kind, trigger): &(HitKind, String)| match kind {
        HitKind::Pattern => 0,
        _ => literal(trigger).split(' ').count(),
    };
    let mut keyed: Vec<_> = (0..skills.len())
        .filter_map(|skill| {
            let hits = hits[skill].as_ref().filter(|hits| !hits.is_empty())?;
            let longest = hits.iter().map(words).max();
            let rarest = hits.iter().map(|(kind, t)| declared_by(*kind, t)).min();
            let subject = |(kind, trigger): &(HitKind, String)| match kind {
                HitKind::Pattern => format!("pattern {trigger}"),
                _ => literal(trigger),
            };
            let n_subjects = hits.iter().map(subject).collect::<BTreeSet<_>>().len();
            Some((Reverse(longest), rarest, Reverse(n_subjects), skills[skill].name().to_owned()))
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(.., name)| name).collect()
}
