//! Required literals: the literals that a text must contain for a pattern to match it.
//!
//! The analysis follows RE2's `Prefilter` (<https://github.com/google/re2>): each part of a pattern
//! either *is* one of a few strings, or *needs* one of a few strings, or is unknown. The strings are
//! folded as queries are (see `folding.rs`), so that the folded form of a text that
//! matches always contains one of them. A text that contains one need not match.

use super::{collapse_blanks, push_folded};
use regex_syntax::hir::{Class, Dot, Hir, HirKind, Repetition};

/// The maximum number of strings that one part may stand for.
const MAX_STRINGS: usize = 32;
/// The length in characters at which strings are cut: a part of a required string is required too.
const MAX_CHARS: usize = 48;
/// The maximum number of one-character literals in a group: with more, nearly every text contains one.
const MAX_SINGLE_CHARS: usize = 12;
/// The maximum size of a class whose characters are listed; it must allow the 25 of white space.
const MAX_CLASS_CHARS: usize = 64;

/// The maximum number of groups kept for one pattern.
const MAX_GROUPS: usize = 6;

/// The folded literals that a text must contain for a pattern to match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    /// Groups in the order of the pattern, never empty; a text must contain one literal of each.
    pub groups: Vec<Vec<String>>,
    /// True if there are at most two groups and the pattern matches a line of ASCII that contains a literal
    /// of each, one after the end of the other.
    pub is_exact: bool,
}

impl Required {
    /// Tells whether the pattern requires only single characters, as `\d{4}[g-q]` does; many texts
    /// contain these.
    pub fn is_weak(&self) -> bool {
        !self.is_exact && self.groups.iter().all(|group| selectivity(group).0 <= 1)
    }
}

/// Returns the literals that every text matched by the pattern `source` contains in its folded form;
/// `None` if none are known. `hir` is `source`, parsed case-sensitively.
pub fn required(source: &str, hir: &Hir) -> Option<Required> {
    // A flag changes what a literal matches, and does not show in the parsed form.
    let has_flags = source.match_indices("(?").any(|(at, _)| !source[at..].starts_with("(?:"));
    if !has_flags && source.is_ascii() {
        if let Some(strings) = exact_strings(hir) {
            return Some(Required { groups: vec![minimal(strings)], is_exact: true });
        }
        if let Some((left, right)) = exact_sequence(hir) {
            return Some(Required { groups: vec![minimal(left), minimal(right)], is_exact: true });
        }
    }
    let groups = analyse(hir).into_required()?.into_iter().take(MAX_GROUPS).map(minimal).collect();
    Some(Required { groups, is_exact: false })
}

/// Returns a few strings, one of which is the folded form of each match of `hir`; `None` if they are not
/// few.
pub fn all_matches(hir: &Hir) -> Option<Vec<String>> {
    let Part::Is(strings) = analyse(hir) else { return None };
    Some(strings.iter().map(|string| collapse_blanks(string).into_owned()).collect())
}

/// Removes duplicates, and each literal that contains another one: a text with the longer literal has
/// the shorter one, too.
fn minimal(mut literals: Vec<String>) -> Vec<String> {
    literals.sort_unstable();
    literals.dedup();
    let all = literals.clone();
    literals.retain(|long| !all.iter().any(|short| short != long && long.contains(short.as_str())));
    literals
}

/// Returns exactly the strings that the pattern matches, if they are few, ASCII, and without blanks.
fn exact_strings(hir: &Hir) -> Option<Vec<String>> {
    if !hir.properties().look_set().is_empty() || !is_ascii(hir) {
        return None;
    }
    let Part::Is(strings) = analyse(hir) else { return None };
    let is_exact = |s: &String| !s.is_empty() && s.len() <= MAX_CHARS && !s.contains(' ');
    strings.iter().all(is_exact).then_some(strings)
}

/// Splits a pattern `A.*B` into the strings of `A` and of `B`.
fn exact_sequence(hir: &Hir) -> Option<(Vec<String>, Vec<String>)> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let gap = parts.iter().position(is_gap)?;
    let (left, right) = (&parts[..gap], &parts[gap + 1..]);
    Some((
        exact_strings(&Hir::concat(left.to_vec()))?,
        exact_strings(&Hir::concat(right.to_vec()))?,
    ))
}

/// Tells whether a part is `.*` or `.*?`.
fn is_gap(hir: &Hir) -> bool {
    let HirKind::Repetition(Repetition { min: 0, max: None, sub, .. }) = hir.kind() else {
        return false;
    };
    [Dot::AnyCharExceptLF, Dot::AnyChar].into_iter().any(|dot| **sub == Hir::dot(dot))
}

/// Tells whether a pattern is written in ASCII. Other characters may match text that their folded form
/// does not.
fn is_ascii(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => literal.0.is_ascii(),
        HirKind::Class(class) => class.is_utf8() && class.maximum_len() == Some(1),
        HirKind::Repetition(repetition) => is_ascii(&repetition.sub),
        HirKind::Capture(capture) => is_ascii(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_ascii),
    }
}

/// The knowledge about a part of a pattern.
enum Part {
    /// It matches exactly these strings, folded but with blanks not collapsed yet.
    Is(Vec<String>),
    /// Each match contains a literal of each of these groups. The literals are finished, see [`finish`].
    Needs(Vec<Vec<String>>),
    Unknown,
}

impl Part {
    fn into_required(self) -> Option<Vec<Vec<String>>> {
        match self {
            Part::Is(strings) => finish(strings).map(|literals| vec![literals]),
            Part::Needs(groups) => Some(groups),
            Part::Unknown => None,
        }
    }
}

fn analyse(hir: &Hir) -> Part {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Part::Is(vec![String::new()]),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => Part::Is(vec![fold(text.chars())]),
            Err(_) => Part::Unknown,
        },
        HirKind::Class(class) => analyse_class(class),
        HirKind::Repetition(repetition) => analyse_repetition(repetition),
        HirKind::Capture(capture) => analyse(&capture.sub),
        HirKind::Concat(parts) => analyse_concat(parts),
        HirKind::Alternation(branches) => analyse_alternation(branches),
    }
}

fn analyse_class(class: &Class) -> Part {
    let Class::Unicode(class) = class else { return Part::Unknown };
    let n_chars: usize = class.ranges().iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
    if n_chars > MAX_CLASS_CHARS {
        return Part::Unknown;
    }
    let chars = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let mut strings: Vec<String> = chars.map(|c| fold([c])).collect();
    strings.sort_unstable();
    strings.dedup();
    if strings.is_empty() || strings.len() > MAX_STRINGS {
        return Part::Unknown;
    }
    Part::Is(strings)
}

fn analyse_repetition(repetition: &Repetition) -> Part {
    let Repetition { min, max, sub, .. } = repetition;
    let part = analyse(sub);
    if let Part::Is(strings) = &part {
        // Runs of blanks are one blank in folded text, so `\s+` is a literal.
        let is_blank = strings.iter().all(|s| s == " ");
        let exact = if is_blank || *max == Some(1) {
            Some(strings.clone())
        } else if *max == Some(*min) && *min > 0 {
            (1..*min).try_fold(strings.clone(), |product, _| cross(&product, strings))
        } else {
            None
        };
        if let Some(mut strings) = exact {
            strings.extend((*min == 0).then(String::new));
            return Part::Is(strings);
        }
    }
    match part.into_required() {
        Some(groups) if *min > 0 => Part::Needs(groups),
        _ => Part::Unknown,
    }
}

fn analyse_concat(parts: &[Hir]) -> Part {
    // The strings that the parts since the last inexact one stand for together.
    let mut run = vec![String::new()];
    let mut candidates: Vec<Vec<String>> = Vec::new();
    let mut broken = false;
    for part in parts {
        let part = analyse(part);
        if let Part::Is(strings) = &part
            && let Some(product) = cross(&run, strings)
        {
            run = product;
            continue;
        }
        broken = true;
        candidates.extend(finish(std::mem::replace(&mut run, vec![String::new()])));
        match part {
            Part::Is(strings) => run = strings,
            Part::Needs(groups) => candidates.extend(groups),
            Part::Unknown => {}
        }
    }
    if !broken {
        return Part::Is(run);
    }
    candidates.extend(finish(run));
    if candidates.is_empty() { Part::Unknown } else { Part::Needs(candidates) }
}

fn analyse_alternation(branches: &[Hir]) -> Part {
    let parts: Vec<Part> = branches.iter().map(analyse).collect();
    let n_strings: usize =
        parts.iter().map(|p| if let Part::Is(s) = p { s.len() } else { MAX_STRINGS + 1 }).sum();
    if n_strings <= MAX_STRINGS {
        let strings = parts.into_iter().flat_map(|p| match p {
            Part::Is(strings) => strings,
            _ => Vec::new(),
        });
        return Part::Is(strings.collect());
    }
    let best = |part: Part| part.into_required()?.into_iter().max_by_key(|g| selectivity(g));
    let required: Option<Vec<Vec<String>>> = parts.into_iter().map(best).collect();
    required.map_or(Part::Unknown, |sets| Part::Needs(vec![sets.concat()]))
}

/// Returns each string of `left` followed by each of `right`; `None` if they are too many or too long.
fn cross(left: &[String], right: &[String]) -> Option<Vec<String>> {
    let longest = |set: &[String]| set.iter().map(String::len).max().unwrap_or(0);
    if left.len() * right.len() > MAX_STRINGS || longest(left) + longest(right) > 4 * MAX_CHARS {
        return None;
    }
    Some(left.iter().flat_map(|l| right.iter().map(move |r| format!("{l}{r}"))).collect())
}

/// Makes literals to search for from strings, one of which each match contains. `None` if one of the
/// strings is blank, or if too many are single characters ("one of the letters").
fn finish(strings: Vec<String>) -> Option<Vec<String>> {
    let finished = strings.into_iter().map(|s| {
        let literal: String = collapse_blanks(&s).chars().take(MAX_CHARS).collect();
        (!literal.trim().is_empty()).then_some(literal)
    });
    let literals: Vec<String> = finished.collect::<Option<_>>()?;
    let n_short = literals.iter().filter(|l| l.chars().nth(1).is_none()).count();
    (n_short <= MAX_SINGLE_CHARS).then_some(literals)
}

/// Returns the selectivity of a group of literals, to compare: the length of its shortest literal, then
/// the number of literals, the fewer the better.
pub fn selectivity(literals: &[String]) -> (usize, std::cmp::Reverse<usize>) {
    let shortest = literals.iter().map(|l| l.trim().chars().count()).min().unwrap_or(0);
    (shortest, std::cmp::Reverse(literals.len()))
}

fn fold(chars: impl IntoIterator<Item = char>) -> String {
    let mut folded = String::new();
    for c in chars {
        push_folded(c, &mut folded);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_selective_literals_are_found() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("say .* in .*", Some(&["say "])),
            (r"(create|add).*?(endpoint|route)", Some(&["endpoint", "route"])),
            (r"\d+\s*[\+\-\*/]\s*\d+", Some(&["*", "+", "-", "/"])),
            (r"\bdeploy(s|ed|ing)?\b", Some(&["deploy"])),
            (
                r"add\s+(a|the)?\s*endpoint",
                Some(&[
                    "add a endpoint", "add aendpoint", "add endpoint", "add the endpoint",
                    "add theendpoint",
                ]),
            ),
            (r"https?://", Some(&["http://", "https://"])),
            (r"pull[\s_-]request", Some(&["pull request", "pull-request", "pull_request"])),
            ("Straße", Some(&["strasse"])),
            ("(?i)KELVIN\\b", Some(&["kelvin"])),
            ("(?i)ẞ", Some(&["ss"])),
            ("don’t", Some(&["don't"])),
            ("a{3}b", Some(&["aaab"])),
            ("(foo|bar)+", Some(&["bar", "foo"])),
            ("(foo|ba?r?)+", Some(&["b", "foo"])),
            (r"\d{3}-\d{4}", Some(&["-"])),
            (r"\d+\w*", None),
            (".*.*x", Some(&["x"])),
            ("(foo)?\\d", None),
            ("[a-z]{2}[0-3]", Some(&["0", "1", "2", "3"])),
            ("[a-z]{2}", None),
            (r"\s+", None),
            ("foo|\\d", None),
        ];
        for (pattern, expected) in cases {
            let hir = regex_syntax::parse(pattern).expect(pattern);
            let required = required(pattern, &hir);
            let groups = required.into_iter().flat_map(|required| required.groups);
            let literals = groups.max_by_key(|group| selectivity(group));
            let expected: Option<Vec<String>> =
                expected.map(|set| set.iter().map(|s| (*s).to_owned()).collect());
            assert_eq!(literals, expected, "{pattern}");
        }
    }

    #[test]
    fn what_literals_alone_decide_is_told_from_what_they_only_allow() {
        let cases: [(&str, &[&[&str]], bool); 10] = [
            ("use(State|Effect)", &[&["useeffect", "usestate"]], true),
            (r"\.(csv|tsv)", &[&[".csv", ".tsv"]], true),
            (
                "(create|add).*?(endpoint|route)",
                &[&["add", "create"], &["endpoint", "route"]],
                true,
            ),
            ("ab.*[cC]d", &[&["ab"], &["cd"]], true),
            ("ab.+cd", &[&["ab"], &["cd"]], false),
            (r"\bab.*cd", &[&["ab"], &["cd"]], false),
            ("(?-i)ab.*cd", &[&["ab"], &["cd"]], false),
            ("ab.*?c d", &[&["ab"], &["c d"]], false),
            (r"ab.*\x{fb01}", &[&["ab"], &["fi"]], false),
            ("ab.*cd.*ef", &[&["ab"], &["cd"], &["ef"]], false),
        ];
        for (pattern, groups, is_exact) in cases {
            let hir = regex_syntax::parse(pattern).expect(pattern);
            let required = required(pattern, &hir).expect(pattern);
            assert_eq!(required.groups, groups, "{pattern}");
            assert_eq!(required.is_exact, is_exact, "{pattern}");
        }
    }
}
