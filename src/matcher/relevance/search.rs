//! Ranking the skills of an index for a message.

#![expect(clippy::cast_precision_loss, reason = "scores are estimates")]

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::fields::Field;
use super::index::{Counts, Indexed, Posting, Postings, RelevanceIndex, Worths, hash};
use super::terms::{Term, normalize, pairs, terms};
use super::{Relevant, Shared};
use crate::skill::SkillId;

/// How fast repetitions lose their worth (`k1` of BM25): a field value of this much is worth half
/// of endless repetition.
const SATURATION: f32 = 1.4;

/// What a stop word is worth, of a word as rare. Little tells apart what nothing else does.
const COMMON_WORTH: f32 = 0.2;

/// What two words in their order are worth, of a word as rare, besides the words.
const PAIR_WORTH: f32 = 0.4;

/// By how much a skill gains whose whole name is in the message.
const NAME_GAIN: f32 = 0.2;

/// So many of the best are looked at more closely. It moves skills within these only.
const N_REFINED: usize = 50;

/// A message, and what the index knows of its words.
struct Search<'a> {
    index: &'a RelevanceIndex,
    words: Vec<Word<'a>>,
    pairs: Vec<WordPair<'a>>,
    /// By place.
    worths: &'a [Worths],
}

/// A distinct term of the message that any skill has.
struct Word<'a> {
    term: &'a Term<'a>,
    weight: f32,
    postings: &'a Postings,
}

struct WordPair<'a> {
    terms: [&'a Term<'a>; 2],
    weight: f32,
    hash: u32,
}

/// A skill and its score.
#[derive(Debug, Clone, Copy)]
struct Scored {
    place: usize,
    score: f32,
}

impl RelevanceIndex {
    /// The best `limit` of the skills that share a word with `message`, best first; equals in the
    /// order of ids. Where all that they share is common, see [`Shared::is_common`], they are
    /// better than others, not good.
    pub fn rank(&self, message: &str, limit: usize) -> Vec<Relevant> {
        let message = normalize(message);
        let terms = terms(&message);
        let search = Search::new(self, &terms);
        let scored = search.best(limit.saturating_add(1));
        let rarest = self.rarity(0);
        let relevant = |(i, best): (usize, &Scored)| {
            let next = scored.get(i + 1).map_or(0.0, |next| next.score);
            Some(Relevant {
                id: self.skills[best.place].id.clone()?,
                score: best.score,
                margin: (best.score - next) / best.score,
                worth: best.score / rarest,
                lead: (best.score - next) / rarest,
                words: search.n_telling(best.place),
                terms: search.shared(best.place),
            })
        };
        scored.iter().take(limit).enumerate().filter_map(relevant).collect()
    }

    /// All skills that have to do with `message`, in the order of [`RelevanceIndex::rank`].
    pub fn order(&self, message: &str) -> Vec<SkillId> {
        let message = normalize(message);
        let scored = Search::new(self, &terms(&message)).best(usize::MAX);
        scored.iter().filter_map(|scored| self.skills[scored.place].id.clone()).collect()
    }

    /// The share of the skills that have `word`, from 0 to 1, and how many these are.
    pub(crate) fn spread(&self, word: &str) -> (f32, usize) {
        let word = normalize(word);
        let n_with = |term: &Term<'_>| {
            self.postings.get(term.text.as_str()).map_or(0, |postings| postings.list.len())
        };
        let n_with = terms(&word).iter().map(n_with).max().unwrap_or(0);
        (n_with as f32 / self.len().max(1) as f32, n_with)
    }

    /// What a term is worth that `n_with` skills have, by its rarity: near 0 where all have it,
    /// never below.
    fn rarity(&self, n_with: usize) -> f32 {
        let (n_all, n_with) = (self.len() as f32, n_with as f32);
        (1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln()
    }

    fn worths(&self) -> &[Worths] {
        self.worths.get_or_init(|| self.compute_worths())
    }

    /// What a term adds to the score of each skill that has it, but for its rarity.
    fn impacts<'p>(&self, postings: &'p Postings) -> &'p [f32] {
        postings.impacts.get_or_init(|| {
            let worths = self.worths();
            let impact =
                |posting: &Posting| saturated(posting.counts, &worths[posting.place as usize]);
            postings.list.iter().map(impact).collect()
        })
    }

    fn compute_worths(&self) -> Vec<Worths> {
        let n_skills = self.len().max(1) as f32;
        let usual = self.n_terms.map(|n_terms| n_terms as f32 / n_skills);
        let of_skill = |skill: &Indexed| -> Worths {
            std::array::from_fn(|n| Field::ALL[n].occurrence(skill.n_terms[n] as f32, usual[n]))
        };
        self.skills.iter().map(of_skill).collect()
    }
}

impl<'a> Search<'a> {
    fn new(index: &'a RelevanceIndex, terms: &'a [Term<'a>]) -> Search<'a> {
        let mut seen = BTreeSet::new();
        let new = terms.iter().filter(|term| seen.insert(term.text.as_str()));
        let words = new.filter_map(|term| {
            let postings = index.postings.get(term.text.as_str())?;
            let worth = if term.is_common { COMMON_WORTH } else { 1.0 };
            Some(Word { term, weight: worth * index.rarity(postings.list.len()), postings })
        });
        let words: Vec<Word<'_>> = words.collect();

        let mut seen = BTreeSet::new();
        let new = pairs(terms).into_iter().filter_map(|terms| {
            let hash = hash(terms);
            let n_with = *index.n_with_pair.get(&hash)?;
            let weight = PAIR_WORTH * index.rarity(n_with as usize);
            seen.insert(hash).then_some(WordPair { terms, weight, hash })
        });
        let pairs = new.collect();
        Search { index, words, pairs, worths: index.worths() }
    }

    /// The best `limit` skills, best first.
    fn best(&self, limit: usize) -> Vec<Scored> {
        let n_places = self.index.skills.len();
        let mut sums = vec![0.0; n_places];
        for Word { weight, postings, .. } in &self.words {
            for (posting, impact) in postings.list.iter().zip(self.index.impacts(postings)) {
                sums[posting.place as usize] += weight * impact;
            }
        }
        let relevant = (0..n_places).filter(|&place| sums[place] > 0.0);
        let mut ranked: Vec<Scored> =
            relevant.map(|place| Scored { place, score: sums[place] }).collect();
        let n_kept = limit.max(N_REFINED);
        if n_kept < ranked.len() {
            ranked.select_nth_unstable_by(n_kept, |a, b| self.compare(a, b));
            ranked.truncate(n_kept);
        }
        ranked.sort_unstable_by(|a, b| self.compare(a, b));
        let n_refined = ranked.len().min(N_REFINED);
        for best in &mut ranked[..n_refined] {
            best.score +=
                self.pairs.iter().map(|pair| self.pair_score(pair, best.place)).sum::<f32>();
            let share = self.share_of_name(best.place);
            best.score *= 1.0 + NAME_GAIN * share * share;
        }
        ranked[..n_refined].sort_unstable_by(|a, b| self.compare(a, b));
        ranked.truncate(limit);
        ranked
    }

    /// Better ones first, equals in the order of ids.
    fn compare(&self, a: &Scored, b: &Scored) -> Ordering {
        let id = |scored: &Scored| &self.index.skills[scored.place].id;
        b.score.total_cmp(&a.score).then_with(|| id(a).cmp(id(b)))
    }

    fn pair_score(&self, pair: &WordPair<'_>, place: usize) -> f32 {
        let counts = self.index.skills[place].pair(pair.hash);
        counts.map_or(0.0, |counts| pair.weight * saturated(counts, &self.worths[place]))
    }

    /// How much of the name the message has, from 0 to 1, by the rarity of its terms.
    fn share_of_name(&self, place: usize) -> f32 {
        let (mut said, mut all) = (0.0, 0.0);
        for term in &self.index.skills[place].name {
            let n_with = self.index.postings.get(term).map_or(0, |postings| postings.list.len());
            let rarity = self.index.rarity(n_with);
            all += rarity;
            if self.words.iter().any(|word| *word.term.text == **term) {
                said += rarity;
            }
        }
        if all > 0.0 { said / all } else { 0.0 }
    }

    /// Number of distinct words that a skill shares with the message, common ones not counted.
    fn n_telling(&self, place: usize) -> usize {
        let has = |word: &&Word<'_>| !word.term.is_common && word.postings.at(place).is_some();
        self.words.iter().filter(has).count()
    }

    /// What the message shares with a skill, weightiest first.
    fn shared(&self, place: usize) -> Vec<Shared> {
        let worths = &self.worths[place];
        let words = self.words.iter().filter_map(|Word { term, weight, postings }| {
            let counts = postings.at(place)?.counts;
            let score = weight * saturated(counts, worths);
            Some(shared(term.word.to_owned(), term.is_common, counts, score))
        });
        let pairs = self.pairs.iter().filter_map(|pair| {
            let counts = self.index.skills[place].pair(pair.hash)?;
            let [first, second] = pair.terms.map(|term| term.word);
            let score = self.pair_score(pair, place);
            Some(shared(format!("{first} {second}"), false, counts, score))
        });
        let mut shared: Vec<Shared> = words.chain(pairs).collect();
        shared.sort_by(|a, b| b.score.total_cmp(&a.score));
        shared
    }
}

fn shared(term: String, is_common: bool, counts: Counts, score: f32) -> Shared {
    let has = |field: &Field| counts[*field as usize] > 0;
    Shared { term, is_common, fields: Field::ALL.into_iter().filter(has).collect(), score }
}

/// The worth of all occurrences of a term together: from 0 to `SATURATION + 1`.
fn saturated(counts: Counts, worths: &Worths) -> f32 {
    let worth: f32 = counts.iter().zip(worths).map(|(&n, worth)| f32::from(n) * worth).sum();
    worth * (SATURATION + 1.0) / (worth + SATURATION)
}
