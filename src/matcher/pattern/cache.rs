//! The cache of a catalog's patterns, compiled when first needed and run only where they may match.
//!
//! Each thread compiles the patterns that it runs, so running a pattern takes no lock and writes to no
//! memory that another thread reads. Threads that share a `meta::Regex` would wait for the pool in which
//! it keeps the states that it builds while it runs.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use regex_automata::{Input, meta};
use repertoire_text::boundary::char_boundary;
use serde::{Deserialize, Serialize};
use thread_local::ThreadLocal;

use super::literal_free::{Candidates, LiteralFree};
use crate::matcher::arena::Texts;
use crate::skill::pattern::{self, Alphabet, Case};

/// The maximum number of bytes of a text that patterns see: half from its head, half from its tail. This
/// bounds how much a costly pattern of one author can slow the long messages of all users.
pub(crate) const WINDOW_BYTES: usize = 64 * 1024;

/// The approximate limit of the patterns that a thread keeps compiled, in bytes. Above it, all of them are
/// dropped, as few catalogs need this much.
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;

/// The place of a pattern that is not compiled.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Patterns {
    /// The patterns as their authors wrote them.
    sources: Texts,
    pub(in crate::matcher) literal_free: LiteralFree,
    max_cached_bytes: usize,
    #[serde(skip)]
    caches: ThreadLocal<RefCell<Cache>>,
}

/// The patterns that one thread has compiled.
#[derive(Debug, Default)]
struct Cache {
    /// The index of each pattern in `compiled`, or [`NONE`].
    places: Vec<u32>,
    compiled: Vec<Compiled>,
    n_bytes: usize,
}

/// A pattern in the forms that were needed so far.
#[derive(Debug, Default)]
struct Compiled {
    /// The form for ASCII texts: much smaller, as `\d` and `\w` are a few characters there. `None` if the
    /// pattern names characters that are not ASCII.
    ascii: Form,
    unicode: Form,
}

type Form = OnceCell<Option<Box<Searcher>>>;

/// A compiled pattern, the memory it runs in, and the sizes of both.
#[derive(Debug)]
struct Searcher {
    regex: meta::Regex,
    cache: meta::Cache,
    /// The size of `regex` in bytes, kept because it never changes and computing it walks through all
    /// parts.
    n_regex_bytes: usize,
    /// The size of `regex` and `cache` in bytes, as last computed.
    n_bytes: usize,
}

impl Patterns {
    /// Stores valid patterns in their order, each given with true if it requires a literal.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = (&'a str, bool)>) -> Patterns {
        let mut new = Patterns { max_cached_bytes: MAX_CACHED_BYTES, ..Patterns::default() };
        let mut literal_free = Vec::new();
        for (place, (source, has_literal)) in patterns.into_iter().enumerate() {
            if !has_literal {
                // Each was validated when its skill was read; an invalid one matches nothing.
                let hir = pattern::parse(source, Case::Insensitive)
                    .inspect_err(|error| tracing::error!(source, %error, "pattern does not parse"));
                literal_free.extend(hir.ok().map(|hir| (place as u32, hir)));
            }
            new.sources.push(source);
        }
        new.literal_free = LiteralFree::new(&literal_free);
        new
    }

    /// Puts into `candidates` the patterns that require no literal and may match the normalised `text`,
    /// as many as the bound on positions allows.
    pub(in crate::matcher) fn without_literal(&self, text: &str, candidates: &mut Candidates) {
        self.literal_free.select(text, candidates);
        if candidates.untried_from.is_some() {
            let tried = candidates.tried.len();
            tracing::warn!(tried, "too many patterns without a literal may match a text");
        }
    }

    /// Returns a pattern as its author wrote it.
    pub(crate) fn source(&self, pattern: u32) -> &str {
        self.sources.get(pattern)
    }

    /// Returns the range of the first match of a pattern in the normalised `text`.
    pub(crate) fn find(&self, pattern: usize, text: &str) -> Option<Range<usize>> {
        match self.caches.get_or_default().try_borrow_mut() {
            Ok(mut cache) => cache.find(self, pattern, text),
            // A reentrant call: a subscriber to log messages searches while a search logs.
            Err(_) => Cache::default().find(self, pattern, text),
        }
    }

    /// The number of patterns.
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Tells whether the deserialised data refers to existing patterns only.
    pub(crate) fn is_sound(&self) -> bool {
        self.sources.is_sound() && self.literal_free.is_sound(self.len())
    }
}

impl Cache {
    fn find(&mut self, patterns: &Patterns, pattern: usize, text: &str) -> Option<Range<usize>> {
        if self.places.is_empty() || self.n_bytes > patterns.max_cached_bytes {
            *self = Cache { places: vec![NONE; patterns.len()], ..Cache::default() };
        }
        if self.places[pattern] == NONE {
            self.places[pattern] = self.compiled.len() as u32;
            self.compiled.push(Compiled::default());
        }
        let Compiled { ascii, unicode } = &mut self.compiled[self.places[pattern] as usize];
        let source = patterns.source(pattern as u32);
        let of_ascii = text.is_ascii().then(|| compiled(ascii, source, Alphabet::Ascii));
        let searcher = match of_ascii.flatten() {
            Some(searcher) => searcher,
            None => compiled(unicode, source, Alphabet::Unicode)?,
        };
        let found = searcher.find(text);
        let n_bytes = searcher.n_regex_bytes + searcher.cache.memory_usage();
        // The size may have shrunk: a lazy automaton with too many states starts over.
        self.n_bytes = self.n_bytes + n_bytes - std::mem::replace(&mut searcher.n_bytes, n_bytes);
        found
    }
}

/// Returns a form of a pattern; the first call compiles it.
fn compiled<'f>(form: &'f mut Form, source: &str, alphabet: Alphabet) -> Option<&'f mut Searcher> {
    form.get_or_init(|| {
        let regex = pattern::compile(source, alphabet)?;
        let (cache, n_regex_bytes) = (regex.create_cache(), regex.memory_usage());
        Some(Box::new(Searcher { regex, cache, n_regex_bytes, n_bytes: 0 }))
    });
    form.get_mut()?.as_deref_mut()
}

impl Searcher {
    fn find(&mut self, text: &str) -> Option<Range<usize>> {
        windows(text).into_iter().flatten().find_map(|window| {
            let input = Input::new(text).range(window);
            self.regex.search_with(&mut self.cache, &input).map(|found| found.range())
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(sources: impl IntoIterator<Item = String>) -> Patterns {
        let sources: Vec<String> = sources.into_iter().collect();
        Patterns::new(sources.iter().map(|source| (source.as_str(), false)))
    }

    #[test]
    fn the_cache_begins_anew_beyond_its_bound() {
        let mut patterns = patterns((0..60).map(|i| format!("x{i}y+")));
        assert!(patterns.find(0, "x0y").is_some());
        let of_one = patterns.caches.get().unwrap().borrow().n_bytes;
        patterns.max_cached_bytes = 20 * of_one;
        let mut n_most = 0;
        for pattern in 0..60 {
            let text = format!("x{pattern}y");
            assert_eq!(patterns.find(pattern, &text), Some(0..text.len()));
            let cache = patterns.caches.get().unwrap().borrow();
            n_most = n_most.max(cache.compiled.len());
            assert!(cache.n_bytes <= 22 * of_one && cache.places[pattern] != NONE);
        }
        assert!((10..30).contains(&n_most), "{n_most} are cached");
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
