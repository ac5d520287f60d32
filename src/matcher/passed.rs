//! A query after the pass over it, with the working memory that knows what was found.

use std::cell::RefMut;
use std::ops::{Deref, DerefMut};

use super::excerpt::Excerpt;
use super::found::Scratch;
use super::index::Index;
use super::mention;
use super::{Answer, Query};
use crate::skill::SkillId;

/// Working memory of the current thread, or memory of its own while that is in use.
#[derive(Debug)]
pub(super) enum ScratchGuard<'i> {
    Kept(RefMut<'i, Scratch>),
    Own(Box<Scratch>),
}

impl Deref for ScratchGuard<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        match self {
            ScratchGuard::Kept(scratch) => scratch,
            ScratchGuard::Own(scratch) => scratch,
        }
    }
}

impl DerefMut for ScratchGuard<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        match self {
            ScratchGuard::Kept(scratch) => scratch,
            ScratchGuard::Own(scratch) => scratch,
        }
    }
}

/// One index and what a pass over a query has found in it. Before anything is ranked,
/// [`resolve_together`] decides which mentions count.
#[derive(Debug)]
pub(super) struct Passed<'i, 'q> {
    pub(super) index: &'i Index,
    pub(super) text: Excerpt<'q>,
    pub(super) scratch: ScratchGuard<'i>,
}

impl<'q> Passed<'_, 'q> {
    /// Passes over `query` again, quoted text included.
    fn unmask(&mut self, query: &'q Query<'_>) {
        self.text = self.index.pass(query, false, &mut self.scratch);
    }
}

/// Decides which mentions count, across the indexes that a query was passed over.
pub(super) fn resolve_together(passed: &mut [Passed<'_, '_>]) {
    let [first, others @ ..] = passed else { return };
    first.scratch.drop_gone_mentions();
    let mut mentions = std::mem::take(&mut first.scratch.found.mentions);
    for (layer, other) in (1..).zip(others.iter_mut()) {
        other.scratch.drop_gone_mentions();
        let of_layer = other.scratch.found.mentions.drain(..);
        mentions.extend(of_layer.map(|mention| mention::Mention { layer, ..mention }));
    }
    let is_any_strong = mention::resolve(&mut mentions);
    for (layer, other) in (1..).zip(others) {
        let of_layer = mentions.iter().filter(|mention| mention.layer == layer);
        other.scratch.found.mentions.extend(of_layer);
        other.index.settle_mentions(is_any_strong, &mut other.scratch.found);
    }
    mentions.retain(|mention| mention.layer == 0);
    first.scratch.found.mentions = mentions;
    first.index.settle_mentions(is_any_strong, &mut first.scratch.found);
}

/// The skills whose triggers stand in quoted text only, with one of them, by id; `answer` is what was
/// found without that text.
pub(super) fn quoted_only<'q>(
    passed: &mut [Passed<'_, 'q>],
    query: &'q Query<'_>,
    answer: &Answer,
) -> Vec<(SkillId, String)> {
    // What is quoted is the same for each index.
    if !passed.first().is_some_and(Passed::has_quoted) {
        return Vec::new();
    }
    for passed in passed.iter_mut() {
        passed.unmask(query);
    }
    resolve_together(passed);
    let only = passed.iter_mut().flat_map(|passed| passed.matches_beside(query, answer));
    let mut only: Vec<_> = only.collect();
    only.sort_unstable();
    only
}

impl Scratch {
    fn drop_gone_mentions(&mut self) {
        let Scratch { found, changes, .. } = self;
        if let Some(changes) = changes {
            found.mentions.retain(|mention| !changes.is_gone(mention.skill));
        }
    }
}
