//! A query after the pass over it, with the working memory that knows what was found.

use std::cell::RefMut;
use std::ops::{Deref, DerefMut};

use super::excerpt::Excerpt;
use super::found::Scratch;
use super::index::Index;
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

/// An index and what a pass over a query has found in it.
#[derive(Debug)]
pub(super) struct Passed<'i, 'q> {
    pub(super) index: &'i Index,
    pub(super) text: Excerpt<'q>,
    pub(super) scratch: ScratchGuard<'i>,
}

impl<'q> Passed<'_, 'q> {
    /// The skills whose triggers stand in quoted text only, with one of them, by id; `answer` is what was
    /// found without that text.
    pub(super) fn quoted_only(
        &mut self,
        query: &'q Query<'_>,
        answer: &Answer,
    ) -> Vec<(SkillId, String)> {
        if !self.has_quoted() {
            return Vec::new();
        }
        self.text = self.index.pass(query, false, &mut self.scratch);
        let mut only = self.matches_beside(query, answer);
        only.sort_unstable();
        only
    }
}
