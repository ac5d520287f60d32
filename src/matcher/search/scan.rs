//! Scans a text for literals, and records what they stand for: items, excludes, and mentions of names.

use std::ops::Range;

use repertoire_text::attached::cover_ranges;
use repertoire_text::mention::{self, Lines, Mention};
use repertoire_text::searched_form;
use repertoire_text::{QueryText, boundary};

use super::Search;
use super::scratch::{Found, Scratch};
use crate::catalog::PlaceSet;
use crate::matcher::automaton::{NONE, Occurrence, Occurrences};
use crate::matcher::index::Index;
use crate::matcher::tables::{LiteralUse, NamedSkill};

impl Index {
    /// Passes the literals that stand in the text as words of their own to the recorder, in the order of
    /// their ends, and records in `occurrences` the literals that patterns require.
    ///
    /// Takes time linear in the text even if literals are nested (`a`, `aa`, `aaa`, …). Once a literal
    /// has occurred with the same kind of right side, so have the literals that it ends with, whose left
    /// sides are inside it.
    fn scan_literals(&self, occurrences: &mut Occurrences, recorder: &mut Recorder<'_>) {
        occurrences.start(self.automaton.literals().len());
        let text = recorder.folded;
        self.automaton.scan(text, |longest, end| {
            // A damaged snapshot may lead into the middle of a character.
            let closes = text.is_char_boundary(end) && boundary::closes(text, end);
            let mut next = longest;
            let mut only_each = false;
            while next != NONE {
                let literal = next;
                let of = self.automaton.literal(literal);
                next = if only_each { of.next_each } else { of.next };
                if let Some(known) = occurrences.add(literal, Occurrence::new(end, closes)) {
                    let is_settled = known.closed || !closes;
                    known.add(end, closes);
                    if is_settled && !only_each && of.next != NONE {
                        self.skip(of.next, occurrences);
                        only_each = true;
                        next = of.next_each;
                    }
                }
                if closes {
                    let range = end.saturating_sub(of.len as usize)..end;
                    if text.is_char_boundary(range.start) && boundary::opens(text, range.start, end)
                    {
                        recorder.record(literal, range);
                    }
                }
            }
        });
    }

    /// Marks `literal` and the literals that it ends with as occurring at further places that are not
    /// recorded.
    #[cold]
    fn skip(&self, mut literal: u32, occurrences: &mut Occurrences) {
        while literal != NONE {
            if let Some(known) = occurrences.get_mut(literal)
                && std::mem::replace(&mut known.skipped, true)
            {
                return;
            }
            literal = self.automaton.literal(literal).next;
        }
    }
}

/// The part of the literals that a scan records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All literals.
    All,
    /// The literals outside attachments. The literals that patterns require are left to
    /// [`Part::Attached`].
    Said,
    /// The keywords and verbs of the whole text, those of attachments as such; and the literals that
    /// patterns require.
    Attached,
}

/// Records the literals of one part.
struct Recorder<'s> {
    index: &'s Index,
    part: Part,
    folded: &'s str,
    text: &'s QueryText,
    /// The text from which `text` was made.
    source: &'s str,
    looks_for_names: bool,
    /// The skills whose names and excludes are recorded; `None` for all.
    among: Option<&'s PlaceSet>,
    found: &'s mut Found,
}

impl Recorder<'_> {
    /// Records what triggers use a literal for.
    #[inline]
    fn record(&mut self, literal: u32, range: Range<usize>) {
        let counts = matches!(self.part, Part::All | Part::Said);
        let is_attached = self.part == Part::Attached;
        for &to in self.index.tables.uses.of(literal) {
            match to {
                LiteralUse::Name(name) if self.looks_for_names => self.examine_name(name, &range),
                LiteralUse::Item(item) if counts => self.found.add(item, &range),
                LiteralUse::Item(item) if is_attached => self.found.add_attached(item, &range),
                LiteralUse::Exclude(exclude) if counts && self.may_veto(exclude) => {
                    self.found.excludes.push(exclude);
                }
                _ => {}
            }
        }
    }

    /// Tells whether the skill of an exclude is searched.
    fn may_veto(&self, exclude: u32) -> bool {
        let skill_of = |exclude: u32| self.index.tables.excludes[exclude as usize].0;
        self.among.is_none_or(|among| among.has(skill_of(exclude) as usize))
    }

    #[inline(never)] // few literals are names
    fn examine_name(&mut self, name: u32, at: &Range<usize>) {
        let NamedSkill { name, skill, item } = &self.index.tables.names[name as usize];
        if self.among.is_some_and(|among| !among.has(*skill as usize)) {
            return;
        }
        let Some(range) = name.locate(self.folded, at.clone()) else { return };
        let n_breaks = |blank| self.n_breaks(blank);
        let reading = name.read(Lines { text: self.folded, n_breaks: &n_breaks }, &range);
        let (start, end) = (range.start as u32, range.end as u32);
        let mention = Mention { start, end, skill: *skill, item: *item, reading };
        self.found.mentions.push(mention);
    }

    /// The number of line breaks in the white space that is the blank at byte `blank` of the folded text.
    fn n_breaks(&self, blank: usize) -> usize {
        if self.text.is_plain() {
            return 0;
        }
        let start = self.text.span_of_folded(blank..blank + 1).start;
        let is_white = |c: &char| c.is_whitespace() || searched_form(*c).is_none();
        let white = self.source[start..].chars().take_while(is_white);
        white.filter(|&c| c == '\n').count()
    }
}

impl Search<'_, '_> {
    /// Records the literals of the query. Once mentions are known to be `denied`, records those outside of
    /// them, and no names.
    pub(super) fn scan_parts(&mut self, denied: &[Range<usize>]) {
        if self.scratch.attached.is_empty() {
            self.scan_part(Part::All, denied);
        } else {
            self.scan_part(Part::Said, denied);
            self.scan_part(Part::Attached, denied);
        }
    }

    /// Records the literals of the query that belong to `part`.
    fn scan_part(&mut self, part: Part, denied: &[Range<usize>]) {
        let Search { index, text: excerpt, among, scratch, .. } = self;
        let among = *among;
        let Scratch {
            excerpt: buffer,
            text,
            covered,
            said,
            occurrences,
            said_occurrences,
            found,
            ..
        } = &mut **scratch;
        let occurrences = if part == Part::Said { said_occurrences } else { occurrences };
        let source = excerpt.seen(buffer);
        let mut folded = if part == Part::Said { &**covered } else { text.folded() };
        if !denied.is_empty() {
            cover_ranges(folded, denied.iter().cloned(), said);
            folded = said;
        }
        let looks_for_names = denied.is_empty() && part != Part::Attached;
        let mut recorder =
            Recorder { index, part, folded, text, source, looks_for_names, among, found };
        index.scan_literals(occurrences, &mut recorder);
    }

    /// Decides which mentions count. A strong mention names its skill. A weak one counts as a keyword,
    /// unless the message has a strong mention.
    pub(super) fn settle_mentions(&mut self) {
        let Scratch { text, found, .. } = &mut *self.scratch;
        let mut mentions = std::mem::take(&mut found.mentions);
        mention::resolve(&mut mentions, text.folded());
        let mut places = std::mem::take(&mut found.denied_places);
        mention::find_denied(&mentions, &mut places);
        if !places.is_empty() {
            found.forget_items(self.index.tables.items.len());
            self.scan_parts(&places);
        }
        let found = &mut self.scratch.found;
        found.denied_places = places;
        let strong = mentions.iter().filter(|mention| mention.reading.is_strong());
        found.explicit.extend(strong.map(|mention| mention.skill));
        sort_distinct(&mut found.explicit);
        for &Mention { start, end, skill, item, reading, .. } in &mentions {
            if reading.is_denied {
                found.denied.push(skill);
                continue;
            }
            if reading.is_about {
                found.about.push(skill);
            }
            if found.explicit.is_empty() {
                found.weak.push(skill);
            } else if !found.is_explicit(skill) {
                continue;
            }
            found.add(item, &(start as usize..end as usize));
        }
        sort_distinct(&mut found.weak);
        sort_distinct(&mut found.denied);
        let Found { explicit, weak, denied, about, .. } = found;
        let has = |skills: &[u32], skill| skills.binary_search(&skill).is_ok();
        // "something that x says is not its job: why is it not x"
        let is_both = |skill| has(denied, skill) && has(weak, skill) && !has(explicit, skill);
        about.extend(denied.iter().filter(|&&skill| is_both(skill)));
        if !about.is_empty() {
            let meant = mentions.iter().map(|mention| (mention.skill, mention.reading));
            let meant = meant.filter(|&(skill, reading)| {
                !reading.is_denied && !reading.is_about && !is_both(skill)
            });
            let mut meant: Vec<u32> = meant.map(|(skill, _)| skill).collect();
            sort_distinct(&mut meant);
            sort_distinct(about);
            about.retain(|&skill| !has(&meant, skill));
        }
        denied.retain(|&skill| !has(explicit, skill) && !has(weak, skill));
        found.mentions = mentions;
        self.settle_vetoes();
    }

    /// Keeps one exclude entry, the first, of each vetoed skill. Skills that the message names are not
    /// vetoed.
    fn settle_vetoes(&mut self) {
        let found = &mut self.scratch.found;
        let skill_of = |exclude: u32| self.index.tables.excludes[exclude as usize].0;
        // Exclude entries are numbered in the order of their skills.
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
