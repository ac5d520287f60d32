//! Folding: the terms of a skill with their impacts.
//!
//! Two adjacent words are a term of their own (a pair, `adjacent.rs`). A pair that occurs only once, in a
//! body, is left out: most pairs are like this, and they find nothing more.

use repertoire_meaning::Compact;
use repertoire_text::normalize;
use repertoire_text::words::hash::pair_hash;
use repertoire_text::words::identifiers::Part;
use repertoire_text::words::terms::{Term, Tokenizer};

use super::adjacent::Adjacent;
use super::fields::{Field, FieldTexts, MeanLengths};
use super::impact::{Impact, SATURATION};
use super::phrases;

/// The weight of the front matter, saturated on its own, when it is added.
const APART: f32 = 0.6;

/// The terms of a skill by their hashes, in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    pub(super) terms: Vec<(u64, Impact)>,
    /// The distinct terms of the skill's name, by their hashes.
    pub(super) name: Vec<u64>,
    /// The vector of its meaning, if there is a table.
    pub(super) vector: Option<Compact>,
}

/// A term by its hash, its field, and its relation to an identifier.
type Occurrence = (u64, Field, Part);

/// Folds the fields of a skill into impacts. Its buffers are reused from skill to skill.
#[derive(Debug, Default)]
pub(super) struct Folder {
    tokenizer: Tokenizer,
    words: Vec<Occurrence>,
    pairs: Vec<Occurrence>,
}

impl Folder {
    /// Folds a skill given by its fields.
    pub(super) fn fold(&mut self, texts: &FieldTexts<'_>, means: &MeanLengths) -> Folded {
        self.words.clear();
        self.pairs.clear();
        let mut folded = Folded::default();
        let languages = texts.languages(&mut self.tokenizer);
        for field in Field::ALL {
            let text = texts.get(field);
            let (words, pairs) = (&mut self.words, &mut self.pairs);
            let start = words.len();
            let mut adjacent = Adjacent::default();
            self.tokenizer.read(&normalize(text), languages, &mut |term: Term| {
                words.push((term.hash, field, term.part));
                let before = adjacent.before(term);
                pairs.extend(before.map(|of| (pair_hash(of.hash, term.hash), field, term.part)));
            });
            if field == Field::Name {
                folded.name = words[start..]
                    .iter()
                    .filter(|word| word.2 == Part::Whole)
                    .map(|word| word.0)
                    .collect();
                folded.name.sort_unstable();
                folded.name.dedup();
            }
        }
        let worths = Field::ALL.map(|field| field.occurrence(texts.length(field), means));
        self.words.sort_unstable();
        self.pairs.sort_unstable();
        for (occurrences, is_pair) in [(&self.words, false), (&self.pairs, true)] {
            for same in occurrences.chunk_by(|a, b| a.0 == b.0) {
                let is_once_in_body = same.len() == 1 && same[0].1 == Field::Body;
                if !(is_pair && is_once_in_body) {
                    folded.terms.push((same[0].0, impact(same, &worths)));
                }
            }
        }
        phrases::fold(texts, languages, &mut self.tokenizer, &mut folded.terms);
        folded.terms.sort_unstable_by_key(|(hash, impact)| (*hash, std::cmp::Reverse(impact.0)));
        folded.terms.dedup_by_key(|(hash, _)| *hash);
        folded
    }
}

/// The impact of all occurrences of a term together.
fn impact(occurrences: &[Occurrence], worths: &[f32; Field::COUNT]) -> Impact {
    let (mut all, mut apart) = (0.0, 0.0);
    for (_, field, _) in occurrences {
        let worth = worths[*field as usize];
        all += worth;
        if field.is_head() {
            apart += worth;
        }
    }
    let share = (saturated(all) + APART * saturated(apart)) / (1.0 + APART);
    let in_head =
        occurrences.iter().any(|(_, field, part)| field.is_head() && !part.is_of_identifier());
    let impact = Impact::new(share, in_head);
    // A term that occurs has an impact above 0.
    if impact.value() == 0 { Impact(2 | impact.0) } else { impact }
}

/// Saturates a sum to a value from 0 to 1.
fn saturated(worth: f32) -> f32 {
    worth / (worth + SATURATION)
}
