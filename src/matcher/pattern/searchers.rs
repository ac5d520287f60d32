//! The memory in which one thread runs patterns, so that threads write to no memory they share.
//!
//! A pattern builds the states of its automaton while it runs. Left to itself a `meta::Regex` keeps
//! them in a pool, and each thread that takes from it writes to memory that the others read.

use std::sync::Arc;

use regex_automata::meta::Cache;

use super::cache::Forms;

/// The approximate limit of the memory that a thread keeps, in bytes. Above it, all of it is
/// dropped: what a pattern needs is made in less time than a query takes, and few catalogs need
/// this much.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The place of a pattern without a searcher.
const NONE: u32 = u32::MAX;

/// The compiled patterns that one thread ran, with the memory that it runs them in.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Searchers {
    /// The place of each pattern's searcher, or [`NONE`].
    places: Vec<u32>,
    all: Vec<Searcher>,
    n_bytes: usize,
    /// The number of times that compiled patterns had been dropped when the first of these was made.
    n_drops: usize,
}

#[derive(Debug)]
struct Searcher {
    forms: Arc<Forms>,
    caches: Caches,
    n_bytes: usize,
}

/// The memory that each form of a pattern runs in, once it was needed.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Caches {
    pub(in crate::matcher) ascii: Option<Cache>,
    pub(in crate::matcher) unicode: Option<Cache>,
}

impl Searchers {
    /// Calls `run` with the compiled forms of a pattern, which come from `forms` if the thread does
    /// not have them, and with the memory to run them in.
    ///
    /// The searchers are dropped if `n_drops`, the number of times that some of the `n_patterns`
    /// were dropped from the cache, has changed.
    pub(in crate::matcher) fn with<T>(
        &mut self,
        pattern: usize,
        n_patterns: usize,
        n_drops: usize,
        forms: impl FnOnce() -> Arc<Forms>,
        run: impl FnOnce(&Forms, &mut Caches) -> T,
    ) -> T {
        if self.n_drops != n_drops || self.n_bytes > MAX_BYTES || self.places.is_empty() {
            let places = vec![NONE; n_patterns];
            *self = Searchers { places, n_drops, ..Searchers::default() };
        }
        if self.places[pattern] == NONE {
            self.places[pattern] = self.all.len() as u32;
            self.all.push(Searcher { forms: forms(), caches: Caches::default(), n_bytes: 0 });
        }
        let searcher = &mut self.all[self.places[pattern] as usize];
        let result = run(&searcher.forms, &mut searcher.caches);
        let n_bytes = searcher.caches.memory_usage();
        // It may have become less: an automaton with too many states begins anew.
        self.n_bytes = self.n_bytes + n_bytes - std::mem::replace(&mut searcher.n_bytes, n_bytes);
        result
    }
}

impl Caches {
    fn memory_usage(&self) -> usize {
        let of = |cache: &Option<Cache>| cache.as_ref().map_or(0, Cache::memory_usage);
        of(&self.ascii) + of(&self.unicode)
    }
}
