//! The patterns of a catalog, compiled when first needed and run only where they may match.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_automata::{Input, meta};
use serde::{Deserialize, Serialize};
use thread_local::ThreadLocal;

use super::literal_free::{Candidates, LiteralFree};
use super::searchers::{Caches, Searchers};
use crate::matcher::arena::Texts;
use crate::skill::pattern::{self, Alphabet, Case};

/// Patterns see so much of a text, in bytes: half from its head, half from its tail. It bounds what
/// one author's costly pattern can do to other people's long messages.
pub(crate) const WINDOW_BYTES: usize = 64 * 1024;

/// Compiled patterns take about so much memory at most, in bytes, beside what threads run them in.
/// Those not used lately go first, an eighth of them at once.
const MAX_CACHED_BYTES: usize = 256 * 1024 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Patterns {
    /// The patterns as their authors wrote them.
    sources: Texts,
    literal_free: LiteralFree,
    /// The state of each, once one of them is run.
    #[serde(skip)]
    states: OnceLock<Box<[State]>>,
    #[serde(skip)]
    cached: Mutex<Cached>,
    max_cached_bytes: usize,
    /// The number of times that compiled patterns were dropped for others.
    #[serde(skip)]
    n_drops: AtomicUsize,
    #[serde(skip)]
    searchers: ThreadLocal<RefCell<Searchers>>,
}

/// The state of a pattern.
#[derive(Debug, Default)]
struct State {
    compiled: Mutex<Option<Arc<Forms>>>,
    /// Whether it was run since the cache last looked.
    used: AtomicBool,
}

/// The patterns that are compiled.
#[derive(Debug, Default)]
struct Cached {
    /// Each form with its size, the first compiled first.
    queue: VecDeque<(u32, usize)>,
    n_bytes: usize,
}

/// A pattern in the forms that were needed so far.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Forms {
    /// For texts of ASCII: much smaller, as `\d` and `\w` are a few characters there. `None` if the
    /// pattern names other characters.
    ascii: OnceLock<Option<meta::Regex>>,
    unicode: OnceLock<Option<meta::Regex>>,
}

impl Patterns {
    /// Takes in valid patterns in their order, each with whether a match of it holds a known literal.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = (&'a str, bool)>) -> Patterns {
        let mut new = Patterns { max_cached_bytes: MAX_CACHED_BYTES, ..Patterns::default() };
        let mut literal_free = Vec::new();
        for (place, (source, has_literal)) in patterns.into_iter().enumerate() {
            if !has_literal {
                // Each was validated when its skill was read; what is not valid matches nothing.
                let hir = pattern::parse(source, Case::Insensitive)
                    .inspect_err(|error| tracing::error!(source, %error, "pattern does not parse"));
                literal_free.extend(hir.ok().map(|hir| (place as u32, hir)));
            }
            new.sources.push(source);
        }
        new.literal_free = LiteralFree::new(&literal_free);
        new
    }

    /// Puts the patterns without a required literal into `candidates` that may match the normalised
    /// `text`, as many as there is room for.
    pub(in crate::matcher) fn without_literal(
        &self,
        text: &str,
        is_ascii: bool,
        candidates: &mut Candidates,
    ) {
        self.literal_free.select(text, is_ascii, candidates);
        if candidates.has_untried() {
            let tried = candidates.tried.len();
            tracing::warn!(tried, "too many patterns without a literal may match a text");
        }
    }

    /// The patterns that may match the text of `candidates` as well, but for which there was no room.
    pub(in crate::matcher) fn untried(&self, candidates: &Candidates) -> impl Iterator<Item = u32> {
        self.literal_free.untried(candidates)
    }

    /// A pattern as its author wrote it.
    pub(crate) fn source(&self, pattern: u32) -> &str {
        self.sources.get(pattern)
    }

    fn states(&self) -> &[State] {
        self.states.get_or_init(|| (0..self.len()).map(|_| State::default()).collect())
    }

    /// Returns where the pattern matches first in the normalised `text`.
    ///
    /// Of a pattern that this thread ran before nothing is written that other threads look at: two
    /// of them would wait for each other's cores at each pattern.
    pub(crate) fn find(&self, pattern: usize, text: &str) -> Option<Range<usize>> {
        let State { used, .. } = &self.states()[pattern];
        if !used.load(Ordering::Relaxed) {
            used.store(true, Ordering::Relaxed);
        }
        let n_drops = self.n_drops.load(Ordering::Relaxed);
        let mut searchers = self.searchers.get_or_default().borrow_mut();
        let forms = || self.compiled(pattern);
        searchers.with(pattern, self.len(), n_drops, forms, |forms, caches| {
            let (regex, cache) = self.form_for(pattern, forms, caches, text)?;
            let cache = cache.get_or_insert_with(|| regex.create_cache());
            windows(text).into_iter().flatten().find_map(|window| {
                let found = regex.search_with(cache, &Input::new(text).range(window));
                found.map(|found| found.range())
            })
        })
    }

    fn compiled(&self, pattern: usize) -> Arc<Forms> {
        let compiled = self.states()[pattern].compiled.lock();
        Arc::clone(compiled.unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
    }

    /// The form of a pattern for a text, and what it runs in; it is made if this is the first of its
    /// kind.
    fn form_for<'f>(
        &self,
        pattern: usize,
        forms: &'f Forms,
        caches: &'f mut Caches,
        text: &str,
    ) -> Option<(&'f meta::Regex, &'f mut Option<meta::Cache>)> {
        let get = |form: &'f OnceLock<Option<meta::Regex>>, alphabet| {
            let mut n_bytes = None;
            let regex = form.get_or_init(|| {
                let regex = pattern::compile(self.source(pattern as u32), alphabet)?;
                n_bytes = Some(regex.memory_usage());
                Some(regex)
            });
            if let Some(n_bytes) = n_bytes {
                self.make_room(pattern, n_bytes);
            }
            regex.as_ref()
        };
        let Caches { ascii, unicode } = caches;
        let of_ascii = if text.is_ascii() { get(&forms.ascii, Alphabet::Ascii) } else { None };
        let of_ascii = of_ascii.map(|regex| (regex, ascii));
        of_ascii.or_else(|| Some((get(&forms.unicode, Alphabet::Unicode)?, unicode)))
    }

    /// Notes a pattern of `n_bytes` that was compiled, and drops others for it: the first compiled
    /// that were not used since they were last passed over.
    fn make_room(&self, pattern: usize, n_bytes: usize) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.n_bytes += n_bytes;
        cached.queue.push_back((pattern as u32, n_bytes));
        if cached.n_bytes <= self.max_cached_bytes {
            return;
        }
        let enough = self.max_cached_bytes - self.max_cached_bytes / 8;
        while cached.n_bytes > enough && cached.queue.len() > 1 {
            let Some((oldest, n_bytes)) = cached.queue.pop_front() else { break };
            let State { compiled, used } = &self.states()[oldest as usize];
            if used.swap(false, Ordering::Relaxed) {
                cached.queue.push_back((oldest, n_bytes));
                continue;
            }
            // A pattern leaves with all its forms.
            compiled.lock().unwrap_or_else(PoisonError::into_inner).take();
            cached.n_bytes -= n_bytes;
        }
        // Threads give up what they keep of them when they look next.
        self.n_drops.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of patterns.
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether what was read leads nowhere but to patterns.
    pub(crate) fn is_sound(&self) -> bool {
        self.sources.is_sound() && self.literal_free.is_sound(self.len())
    }

    /// Memory in bytes, compiled patterns aside.
    pub(crate) fn memory_usage(&self) -> usize {
        let states = self.states.get().map_or(0, |states| size_of_val(&**states));
        self.sources.memory_usage() + self.literal_free.memory_usage() + states
    }
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
        assert!(patterns.find(0, "x0y").is_some());
        let n_bytes = patterns.cached.get_mut().unwrap().n_bytes;
        patterns.max_cached_bytes = 20 * n_bytes;
        let is_cached =
            |pattern: usize| patterns.states()[pattern].compiled.lock().unwrap().is_some();
        for pattern in 0..60 {
            let text = format!("x{pattern}y");
            assert!(patterns.find(pattern, &text).is_some());
            assert!(patterns.find(0, "x0y").is_some(), "0 is used all the time");
        }
        let n_cached = (0..60).filter(|&pattern| is_cached(pattern)).count();
        assert!((2..22).contains(&n_cached), "{n_cached} are cached");
        assert!(is_cached(0) && is_cached(59));
        assert!(patterns.cached.lock().unwrap().n_bytes <= patterns.max_cached_bytes);
    }

    #[test]
    fn threads_give_up_patterns_that_were_dropped() {
        let mut patterns = patterns((0..40).map(|i| format!("x{i}y+")));
        assert!(patterns.find(0, "x0y").is_some());
        let kept = Arc::downgrade(&patterns.compiled(0));
        patterns.max_cached_bytes = 10 * patterns.cached.get_mut().unwrap().n_bytes;
        for pattern in 1..40 {
            assert!(patterns.find(pattern, &format!("x{pattern}y")).is_some());
        }
        assert!(kept.upgrade().is_none());
        assert_eq!(patterns.find(0, "x0y"), Some(0..3));
    }

    #[test]
    fn many_threads_find_the_same() {
        let patterns = patterns((0..50).map(|i| format!(r"\d{{{}}}[a-z]", i % 9 + 1)));
        let text = "x 12345a é";
        let find_all = || -> Vec<_> { (0..50).map(|i| patterns.find(i, text)).collect() };
        let expected = find_all();
        assert_eq!(expected[4], Some(2..8));
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (find_all(), find_all()))).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), (expected.clone(), expected.clone()));
            }
        });
    }
}
