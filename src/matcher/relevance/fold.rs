//! Folding: the terms of a skill with their impacts.
//!
//! Two adjacent words are a term of their own (a pair). Stop words are skipped: the words around them
//! are a pair, too. A pair that occurs only once, in a body, is left out: most pairs are like this, and
//! they find nothing more.

use super::fields::{Field, FieldTexts, MeanLengths};
use super::impact::{Impact, SATURATION};
use super::phrases;
use super::terms::{Term, Tokenizer, normalize, pair_hash};

/// The weight of the front matter, saturated on its own, when it is added.
const APART: f32 = 0.6;

/// The terms of a skill by their hashes, in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    pub(super) terms: Vec<(u64, Impact)>,
    /// The distinct terms of the skill's name, by their hashes.
    pub(super) name: Vec<u64>,
}

/// Folds the fields of a skill into impacts. Its buffers are reused from skill to skill.
#[derive(Debug, Default)]
pub(super) struct Folder {
    tokenizer: Tokenizer,
    /// Hash and field of each occurrence.
    words: Vec<(u64, Field)>,
    pairs: Vec<(u64, Field)>,
}

impl Folder {
    /// Folds a skill given by its fields.
    pub(super) fn fold(&mut self, texts: &FieldTexts<'_>, means: &MeanLengths) -> Folded {
        self.words.clear();
        self.pairs.clear();
        let mut folded = Folded::default();
        for field in Field::ALL {
            let text = texts.get(field);
            let (words, pairs) = (&mut self.words, &mut self.pairs);
            let start = words.len();
            let mut before = None;
            self.tokenizer.read(&normalize(text), &mut |term: Term| {
                words.push((term.hash, field));
                if !term.is_common {
                    pairs.extend(before.map(|before| (pair_hash(before, term.hash), field)));
                    before = Some(term.hash);
                }
            });
            if field == Field::Name {
                folded.name = words[start..].iter().map(|(hash, _)| *hash).collect();
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
        phrases::fold(texts, &mut self.tokenizer, &mut folded.terms);
        folded.terms.sort_unstable_by_key(|(hash, impact)| (*hash, std::cmp::Reverse(impact.0)));
        folded.terms.dedup_by_key(|(hash, _)| *hash);
        folded
    }
}

/// The impact of all occurrences of a term together.
fn impact(occurrences: &[(u64, Field)], worths: &[f32; Field::COUNT]) -> Impact {
    let (mut all, mut apart) = (0.0, 0.0);
    for (_, field) in occurrences {
        let worth = worths[*field as usize];
        all += worth;
        if field.is_head() {
            apart += worth;
        }
    }
    let share = (saturated(all) + APART * saturated(apart)) / (1.0 + APART);
    let in_head = occurrences.iter().any(|(_, field)| field.is_head());
    let impact = Impact::new(share, in_head);
    // A term that occurs has an impact above 0.
    if impact.value() == 0 { Impact(2 | impact.0) } else { impact }
}

/// Saturates a sum to a value from 0 to 1.
fn saturated(worth: f32) -> f32 {
    worth / (worth + SATURATION)
}
