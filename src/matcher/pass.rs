//! The pass over a query: which items it holds, and what opens patterns.

use std::ops::Range;

use super::Query;
use super::excerpt::Excerpt;
use super::found::{Found, Presence, Scratch};
use super::index::Index;
use super::mask::Quoted;
use super::mention::{self, Mention, Strength};
use super::patterns::WINDOW_BYTES;
use super::scan::Report;
use super::tables::{LiteralUse, NamedSkill};
use super::text::QueryText;

/// Which literals a scan notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of them.
    All,
    /// Those in what is not quoted, but for the required literals of patterns.
    Said,
    /// Of what is quoted the names in inline code; and all required literals of patterns.
    Quoted,
}

/// Notes the literals of a part.
struct Notes<'s> {
    index: &'s Index,
    part: Part,
    folded: &'s str,
    text: &'s QueryText,
    quoted: &'s Quoted,
    found: &'s mut Found,
}

impl Report for Notes<'_> {
    #[inline]
    fn item(&mut self, item: u32, range: Range<usize>) {
        if self.part != Part::Quoted {
            self.found.add(item, &range);
        }
    }

    fn literal(&mut self, literal: u32, range: Range<usize>) {
        let counts = self.part != Part::Quoted;
        for &to in self.index.tables.uses.of(literal) {
            match to {
                LiteralUse::Name(name) => self.examine_name(name, &range),
                LiteralUse::Item(item) if counts => self.found.add(item, &range),
                LiteralUse::Exclude(exclude) if counts => self.found.excludes.push(exclude),
                LiteralUse::Item(_) | LiteralUse::Exclude(_) => {}
            }
        }
    }
}

impl Notes<'_> {
    #[inline(never)] // few literals are names
    fn examine_name(&mut self, name: u32, at: &Range<usize>) {
        let NamedSkill { name, skill, item } = &self.index.tables.names[name as usize];
        let Some(range) = name.locate(self.folded, at.clone()) else { return };
        if self.part == Part::Quoted && !self.is_inline(&range) {
            return;
        }
        let reading = name.read(self.folded, &range);
        // One word of code is no name; several are hardly there by chance.
        let is_code = self.part == Part::Quoted && name.n_words == 1;
        if is_code && reading.strength == Some(Strength::Weak) {
            return;
        }
        let (start, end) = (range.start as u32, range.end as u32);
        let mention = Mention { start, end, skill: *skill, item: *item, reading };
        self.found.mentions.push(mention);
    }

    fn is_inline(&self, range: &Range<usize>) -> bool {
        let span = self.text.span_of_folded(range.clone());
        self.quoted.is_inline(span.start) || self.quoted.is_inline(span.end.saturating_sub(1))
    }
}

impl Index {
    /// Finds which items the query holds, which mentions count, and what opens patterns.
    pub(super) fn pass<'q>(
        &self,
        query: &'q Query<'_>,
        masks: bool,
        scratch: &mut Scratch,
    ) -> Excerpt<'q> {
        let excerpt = Excerpt::new(&query.text, self.max_query_bytes);
        let seen_text = excerpt.text(&mut scratch.excerpt);
        scratch.found.start();
        scratch.text.set(seen_text);
        scratch.all_opened = false;
        let Scratch { text, quoted, covered, .. } = scratch;
        if masks {
            quoted.set(seen_text);
        }
        if masks && !quoted.is_empty() {
            quoted.cover(text, covered);
            self.scan(Part::Said, scratch);
            // Last, as its occurrences decide about patterns.
            self.scan(Part::Quoted, scratch);
        } else {
            self.scan(Part::All, scratch);
        }
        let Scratch { excerpt: buffer, text, found, met, .. } = scratch;
        let seen_text = excerpt.seen(buffer);
        let normalized = text.normalized(seen_text);
        self.patterns.without_literal(normalized, text.is_ascii(), met);
        for &pattern in &met.tried {
            let item = self.tables.pattern_items[pattern as usize];
            found.add_pattern(item, Presence::Possible);
        }
        for (place, path) in query.paths.iter().enumerate() {
            self.paths
                .matches(path, |glob| found.add(self.tables.glob_items[glob], &(place..place)));
        }
        self.settle_mentions(found);
        scratch.is_plain = text.is_plain() && seen_text.len() <= WINDOW_BYTES;
        excerpt
    }

    /// Notes the literals of the query that belong to `part`.
    fn scan(&self, part: Part, scratch: &mut Scratch) {
        let Scratch { text, quoted, covered, occurrences, found, .. } = scratch;
        let folded = if part == Part::Said { covered } else { text.folded() };
        let mut notes = Notes { index: self, part, folded, text, quoted, found };
        self.scan_literals(folded, occurrences, &mut notes);
    }

    /// Decides which mentions count: strong ones name their skill, weak ones count as keywords unless there
    /// is a strong one.
    fn settle_mentions(&self, found: &mut Found) {
        let mut mentions = std::mem::take(&mut found.mentions);
        let is_any_strong = mention::resolve(&mut mentions);
        for &Mention { skill, reading, .. } in &mentions {
            if !reading.is_denied && reading.strength == Some(Strength::Strong) {
                found.explicit.push(skill);
            }
        }
        sort_distinct(&mut found.explicit);
        for &Mention { start, end, skill, item, reading, .. } in &mentions {
            if reading.is_denied {
                found.denied.push(skill);
                continue;
            }
            let is_explicit = found.is_explicit(skill);
            if !is_explicit && is_any_strong {
                continue;
            }
            if !is_explicit {
                found.weak.push(skill);
            }
            found.add(item, &(start as usize..end as usize));
        }
        sort_distinct(&mut found.weak);
        sort_distinct(&mut found.denied);
        let Found { explicit, weak, denied, .. } = found;
        let has = |skills: &[u32], skill| skills.binary_search(&skill).is_ok();
        denied.retain(|&skill| !has(explicit, skill) && !has(weak, skill));
        found.mentions = mentions;
        self.settle_vetoes(found);
    }

    /// Leaves one exclude entry, the first, of each skill that is vetoed; those named are not.
    fn settle_vetoes(&self, found: &mut Found) {
        if found.excludes.is_empty() {
            return;
        }
        let skill_of = |exclude: u32| self.tables.excludes[exclude as usize].0;
        // Entries are in the order of their skills.
        found.excludes.sort_unstable();
        found.excludes.dedup_by_key(|exclude| skill_of(*exclude));
        let explicit = &found.explicit;
        found.excludes.retain(|&exclude| explicit.binary_search(&skill_of(exclude)).is_err());
    }
}

fn sort_distinct(skills: &mut Vec<u32>) {
    skills.sort_unstable();
    skills.dedup();
}
