//! Patterns: the analysis of a catalog's patterns for its index, and their compiled forms.
//!
//! A pattern with required literals (`repertoire_text::required`) has a gate (`gates.rs`). A pattern without them
//! (`literal_free.rs`) is tried if the text contains the classes of characters that the pattern
//! requires. A pattern that passes is compiled when first needed, into a bounded cache that each thread
//! has for itself (`cache.rs`).

pub(in crate::matcher) mod cache;
pub(in crate::matcher) mod gates;
pub(in crate::matcher) mod literal_free;

use std::cmp::Reverse;
use std::collections::HashMap;

use repertoire_text::required::{self, Required};

use super::parallel::in_parallel;
use crate::progress::Steps;
use crate::skill::pattern::{self, Case};
use cache::Patterns;
use gates::{Gate, Gates};
use literal_free::required_classes;

pub(crate) use cache::WINDOW_BYTES;

/// The minimum number of patterns for one more thread. Their analysis takes several milliseconds, many
/// times the cost of a thread.
const MIN_PATTERNS_A_THREAD: usize = 256;

/// The patterns of a catalog with their required literals, in the order of their texts.
pub(in crate::matcher) struct Sources<'a> {
    /// The item of each pattern.
    pub(in crate::matcher) items: Vec<u32>,
    texts: Vec<&'a str>,
    required: Vec<Option<Required>>,
    /// The number of patterns that require each literal.
    n_patterns: HashMap<String, u32>,
}

impl<'a> Sources<'a> {
    /// Analyses patterns, each given with its item.
    pub(in crate::matcher) fn new(
        patterns: impl Iterator<Item = (u32, &'a str)>,
        steps: &Steps<'_>,
    ) -> Sources<'a> {
        let mut patterns: Vec<(u32, &str)> = patterns.collect();
        patterns.sort_unstable_by_key(|&(_, text)| text);
        let (items, texts): (Vec<u32>, Vec<&str>) = patterns.into_iter().unzip();
        let required = |source: &&str| {
            let hir = pattern::parse(source, Case::Verbatim).ok();
            steps.add();
            let hir = hir?;
            let required = required::required(source, &hir)?;
            // Nearly every message contains a given letter. If the pattern also requires a digit or
            // a sign, these rule out more messages, so it is treated as one without literals.
            let is_weak = required.is_weak() && required_classes(&hir) != 0;
            (!is_weak).then_some(required)
        };
        let required = in_parallel(&texts, MIN_PATTERNS_A_THREAD, |texts| {
            texts.iter().map(required).collect()
        });
        let mut n_patterns: HashMap<String, u32> = HashMap::new();
        for literal in required.iter().flatten().flat_map(|required| &required.groups).flatten() {
            *n_patterns.entry(literal.clone()).or_default() += 1;
        }
        Sources { items, texts, required, n_patterns }
    }

    /// Every literal that some pattern requires.
    pub(in crate::matcher) fn literals(&self) -> impl Iterator<Item = &str> {
        self.n_patterns.keys().map(String::as_str)
    }

    /// Returns the patterns and their gates; `places` are the numbers of all literals.
    pub(in crate::matcher) fn compile(&self, places: &HashMap<String, u32>) -> (Patterns, Gates) {
        let gates = self.required.iter();
        let gates: Vec<Gate> = gates.map(|required| self.gate(required.as_ref(), places)).collect();
        let has_literal = self.required.iter().map(Option::is_some);
        let patterns = Patterns::new(self.texts.iter().copied().zip(has_literal));
        (patterns, Gates::new(&gates, places.len()))
    }

    /// Gates a pattern by the group of literals that is rarest among the patterns. A word that all
    /// patterns require would make all of them candidates for every text that contains it. The other
    /// groups are only looked up when a literal of the rarest group was seen.
    fn gate(&self, required: Option<&Required>, places: &HashMap<String, u32>) -> Gate {
        let Some(required) = required else { return Gate::default() };
        let rarity = |group: &[String]| {
            let (shortest, _) = required::selectivity(group);
            let n_patterns: u32 = group.iter().map(|literal| self.n_patterns[literal]).sum();
            (Reverse(shortest.min(3)), n_patterns)
        };
        let groups = &required.groups;
        let rarest = (0..groups.len()).min_by_key(|&group| rarity(&groups[group]));
        let place = |literal: &String| places[literal.as_str()];
        Gate {
            groups: groups.iter().map(|group| group.iter().map(place).collect()).collect(),
            rarest: rarest.unwrap_or_default(),
            is_exact: required.is_exact,
        }
    }
}
