//! The patterns of a catalog, compiled when first needed and run only where they may match.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use regex_automata::{Input, meta};
use serde::{Deserialize, Serialize};

use super::demands::{Demands, Met};
use crate::skill::pattern::{self, Alphabet, Case};

/// Patterns see so much of a text, in bytes: half from its head, half from its tail. It bounds what
/// one author's costly pattern can do to other people's long messages.
pub(crate) const WINDOW_BYTES: usize = 64 * 1024;

/// Compiled patterns take about so much memory at most, in bytes; those not used lately go first.
const MAX_CACHED_BYTES: usize = 256 * 1024 * 1024;

/// What a compiled pattern holds beside its program: the caches of the threads that ran it, for
/// which the crate has no figure; about what they were measured at.
const CACHES_BYTES: usize = 16 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Patterns {
    all: Vec<Pattern>,
    /// What those demand of a text that require no literal.
    demands: Demands,
    /// The compiled patterns, the first compiled first, and their size.
    #[serde(skip)]
    cached: Mutex<(VecDeque<u32>, usize)>,
    max_cached_bytes: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Pattern {
    source: Box<str>,
    #[serde(skip)]
    compiled: RwLock<Option<Arc<Forms>>>,
    /// Whether it was run since the cache last looked.
    #[serde(skip)]
    used: AtomicBool,
}

/// A pattern in the forms that were needed so far.
#[derive(Debug, Default)]
struct Forms {
    /// For texts of ASCII: much smaller, as `\d` and `\w` are a few characters there. `None` if the
    /// pattern names other characters.
    ascii: OnceLock<Option<meta::Regex>>,
    unicode: OnceLock<Option<meta::Regex>>,
}

impl Patterns {
    /// Takes in valid patterns, each with whether a match of it holds a known literal.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = (&'a str, bool)>) -> Patterns {
        let mut new = Patterns { max_cached_bytes: MAX_CACHED_BYTES, ..Patterns::default() };
        let mut without_literal = Vec::new();
        for (place, (source, has_literal)) in patterns.into_iter().enumerate() {
            if !has_literal {
                // Each was validated when its skill was read; what is not valid matches nothing.
                let hir = pattern::parse(source, Case::Insensitive)
                    .inspect_err(|error| tracing::error!(source, %error, "pattern does not parse"));
                without_literal.extend(hir.ok().map(|hir| (place as u32, hir)));
            }
            let source = source.into();
            let (compiled, used) = (RwLock::default(), AtomicBool::new(false));
            new.all.push(Pattern { source, compiled, used });
        }
        new.demands = Demands::new(&without_literal);
        new
    }

    /// Puts the patterns without a required literal into `met` that may match the normalised
    /// `text`, and those for which that is not tried as they are too many.
    pub(crate) fn without_literal(&self, text: &str, met: &mut Met) {
        self.demands.meet(text, met);
        if !met.untried.is_empty() {
            let (tried, untried) = (met.tried.len(), met.untried.len());
            tracing::warn!(tried, untried, "too many patterns without a literal may match a text");
        }
    }

    /// A pattern as its author wrote it.
    pub(crate) fn source(&self, pattern: u32) -> &str {
        &self.all[pattern as usize].source
    }

    /// Where the pattern matches first in the normalised `text`.
    pub(crate) fn find(&self, pattern: usize, text: &str) -> Option<Range<usize>> {
        let forms = self.compiled(pattern);
        let regex = self.form_for(pattern, &forms, text)?;
        windows(text).into_iter().flatten().find_map(|window| {
            regex.find(Input::new(text).range(window)).map(|found| found.range())
        })
    }

    fn compiled(&self, pattern: usize) -> Arc<Forms> {
        let Pattern { compiled, used, .. } = &self.all[pattern];
        used.store(true, Ordering::Relaxed);
        if let Some(forms) = &*compiled.read().unwrap_or_else(PoisonError::into_inner) {
            return Arc::clone(forms);
        }
        let mut slot = compiled.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slot.get_or_insert_default())
    }

    /// The form of a pattern for a text; it is made if this is the first of its kind.
    fn form_for<'f>(
        &self,
        pattern: usize,
        forms: &'f Forms,
        text: &str,
    ) -> Option<&'f meta::Regex> {
        let get = |form: &'f OnceLock<Option<meta::Regex>>, alphabet| {
            let mut n_bytes = None;
            let regex = form.get_or_init(|| {
                let regex = pattern::compile(&self.all[pattern].source, alphabet)?;
                n_bytes = Some(bytes_of(&regex));
                Some(regex)
            });
            if let Some(n_bytes) = n_bytes {
                self.make_room(pattern, n_bytes);
            }
            regex.as_ref()
        };
        let ascii = if text.is_ascii() { get(&forms.ascii, Alphabet::Ascii) } else { None };
        ascii.or_else(|| get(&forms.unicode, Alphabet::Unicode))
    }

    /// Notes a pattern of `n_bytes` that was compiled, and drops others for it: the first compiled
    /// that were not used since they were last passed over.
    fn make_room(&self, pattern: usize, n_bytes: usize) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (queue, total) = &mut *cached;
        *total += n_bytes;
        queue.push_back(pattern as u32);
        while *total > self.max_cached_bytes && queue.len() > 1 {
            let Some(oldest) = queue.pop_front() else { break };
            let Pattern { compiled, used, .. } = &self.all[oldest as usize];
            if used.swap(false, Ordering::Relaxed) {
                queue.push_back(oldest);
                continue;
            }
            // A pattern stands in the queue for each of its forms, and leaves with all.
            if let Some(forms) = compiled.write().unwrap_or_else(PoisonError::into_inner).take() {
                *total = total.saturating_sub(forms.n_bytes());
            }
        }
    }

    /// The number of patterns.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether what was read leads nowhere but to patterns.
    pub(crate) fn is_sound(&self) -> bool {
        self.demands.is_sound(self.all.len())
    }

    /// Memory in bytes, compiled patterns aside.
    pub(crate) fn memory_usage(&self) -> usize {
        let patterns = self.all.iter().map(|p| size_of::<Pattern>() + p.source.len());
        patterns.sum::<usize>() + self.demands.memory_usage()
    }
}

impl Forms {
    fn n_bytes(&self) -> usize {
        [&self.ascii, &self.unicode]
            .into_iter()
            .filter_map(|form| form.get()?.as_ref())
            .map(bytes_of)
            .sum()
    }
}

/// About what a compiled pattern takes.
fn bytes_of(regex: &meta::Regex) -> usize {
    regex.memory_usage() + CACHES_BYTES
}

/// The parts of `text` that patterns see.
fn windows(text: &str) -> [Option<Range<usize>>; 2] {
    if text.len() <= WINDOW_BYTES {
        return [Some(0..text.len()), None];
    }
    let head = char_boundary(text, WINDOW_BYTES / 2);
    let tail = char_boundary(text, text.len() - WINDOW_BYTES / 2);
    [Some(0..head), Some(tail..text.len())]
}

/// The last boundary between characters up to `at`.
pub(crate) fn char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(sources: impl IntoIterator<Item = String>) -> Patterns {
        let sources: Vec<String> = sources.into_iter().collect();
        Patterns::new(sources.iter().map(|source| (source.as_str(), false)))
    }

    #[test]
    fn long_texts_are_seen_at_head_and_tail_with_their_context() {
        let patterns = patterns(["^x|x$|y".to_owned()]);
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
    fn a_pattern_is_the_same_in_each_form() {
        let patterns = patterns([r"\bk\w+\b".to_owned(), r"[^a]é|s\d".to_owned()]);
        for (pattern, text, expected) in [
            (0, "a KIT", Some(2..5)),
            (0, "é kité", Some(3..8)),
            (0, "ak", None),
            (1, "as1", Some(1..3)),
            (1, "aé ſ٣", Some(4..8)),
        ] {
            assert_eq!(patterns.find(pattern, text), expected, "{text}");
        }
    }

    #[test]
    fn the_cache_keeps_what_is_used_within_its_bounds() {
        let mut patterns = patterns((0..60).map(|i| format!("x{i}y+")));
        patterns.max_cached_bytes = 10 * 2 * CACHES_BYTES;
        let is_cached = |pattern: usize| patterns.all[pattern].compiled.read().unwrap().is_some();
        for pattern in 0..60 {
            let text = format!("x{pattern}y");
            assert!(patterns.find(pattern, &text).is_some());
            assert!(patterns.find(0, "x0y").is_some(), "0 is used all the time");
        }
        let n_cached = (0..60).filter(|&pattern| is_cached(pattern)).count();
        assert!((2..20).contains(&n_cached), "{n_cached} are cached");
        assert!(is_cached(0) && is_cached(59));
        assert!(patterns.cached.lock().unwrap().1 <= patterns.max_cached_bytes);
    }
}
