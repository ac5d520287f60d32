//! The patterns of a catalog: compiled when first needed, run only where they may match.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::{Input, PatternSet, meta};

use crate::skill::pattern::{self, Overlap};

/// Patterns see so much of a text, in bytes: half from its head, half from its tail. It bounds what
/// one author's costly pattern can do to other people's long messages.
pub(crate) const WINDOW_BYTES: usize = 64 * 1024;

/// Patterns without a required literal share automata of so many patterns. One automaton of all
/// is the trap: its lazily built states thrash as soon as sets are large.
const SHARED_PATTERNS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Patterns {
    patterns: Vec<Pattern>,
    /// Those without a required literal.
    shared: Vec<Shared>,
}

#[derive(Debug)]
struct Pattern {
    source: Box<str>,
    compiled: OnceLock<Option<meta::Regex>>,
}

#[derive(Debug)]
struct Shared {
    patterns: Vec<usize>,
    compiled: OnceLock<Option<meta::Regex>>,
}

impl Patterns {
    /// Takes in `sources`, valid patterns, with the places of those that have no required
    /// literal.
    pub(crate) fn new(sources: Vec<Box<str>>, unfiltered: &[usize]) -> Patterns {
        let patterns =
            sources.into_iter().map(|source| Pattern { source, compiled: OnceLock::new() });
        let shared = unfiltered
            .chunks(SHARED_PATTERNS)
            .map(|chunk| Shared { patterns: chunk.to_vec(), compiled: OnceLock::new() });
        Patterns { patterns: patterns.collect(), shared: shared.collect() }
    }

    /// Where the pattern matches first in the normalised `text`.
    pub(crate) fn find(&self, pattern: usize, text: &str) -> Option<Range<usize>> {
        let Pattern { source, compiled } = &self.patterns[pattern];
        let regex = compiled.get_or_init(|| compile(&[source], Overlap::Leftmost)).as_ref()?;
        windows(text).into_iter().flatten().find_map(|window| {
            regex.find(Input::new(text).range(window)).map(|found| found.range())
        })
    }

    /// Calls `report` for each pattern without a required literal that matches `text`.
    pub(crate) fn unfiltered_matches(&self, text: &str, mut report: impl FnMut(usize)) {
        for Shared { patterns, compiled } in &self.shared {
            let sources =
                || -> Vec<&str> { patterns.iter().map(|&id| &*self.patterns[id].source).collect() };
            let Some(regex) = compiled.get_or_init(|| compile(&sources(), Overlap::All)) else {
                continue;
            };
            let mut found = PatternSet::new(regex.pattern_len());
            for window in windows(text).into_iter().flatten() {
                let input = Input::new(text).range(window);
                regex.which_overlapping_matches(&input, &mut found);
            }
            found.iter().for_each(|id| report(patterns[id.as_usize()]));
        }
    }
}

/// The parts of `text` that patterns see.
fn windows(text: &str) -> [Option<Range<usize>>; 2] {
    if text.len() <= WINDOW_BYTES {
        return [Some(0..text.len()), None];
    }
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let head = boundary(WINDOW_BYTES / 2);
    let tail = boundary(text.len() - WINDOW_BYTES / 2);
    [Some(0..head), Some(tail..text.len())]
}

fn compile(sources: &[&str], overlap: Overlap) -> Option<meta::Regex> {
    let regex = pattern::compile(sources, overlap);
    if regex.is_none() {
        // Every pattern was validated when its skill was read.
        tracing::error!(?sources, "patterns do not compile and are left out");
    }
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_seen_at_head_and_tail_with_their_context() {
        let patterns = Patterns::new(vec!["^x|x$|y".into()], &[]);
        let long = |middle: &str| format!("-{}{middle}{}-", "é".repeat(40_000), "é".repeat(40_000));
        assert_eq!(patterns.find(0, &long("y")), None);
        let text = long("");
        assert_eq!(patterns.find(0, &format!("y{text}")), Some(0..1));
        assert_eq!(patterns.find(0, &format!("{text}x")), Some(text.len()..text.len() + 1));
        // The edge of a window is not the edge of the text.
        let xs = "x".repeat(WINDOW_BYTES + 10);
        assert_eq!(patterns.find(0, &format!("-{xs}-")), None);
    }

    #[test]
    fn many_unfiltered_patterns_are_all_tried() {
        let sources: Vec<Box<str>> =
            (0..150).map(|i| format!(r"\d{{{}}}[a-z]", i % 9 + 1).into()).collect();
        let all: Vec<usize> = (0..150).collect();
        let patterns = Patterns::new(sources, &all);
        let mut found = Vec::new();
        patterns.unfiltered_matches("1234x", |id| found.push(id));
        let expected: Vec<usize> = all.into_iter().filter(|i| i % 9 < 4).collect();
        assert_eq!(found, expected);
    }
}
