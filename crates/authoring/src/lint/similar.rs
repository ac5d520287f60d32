//! The rule for descriptions that are nearly the same. In a registry such skills cannot be told apart,
//! and relevance orders them by chance.
//!
//! The similarity of two descriptions is the share of their *shingles*, runs of three words, that both
//! have (Broder, *On the resemblance and containment of documents*, 1997). The search finds all pairs
//! above the limit, and compares hardly any others: if elements are ordered from rare to frequent, two
//! sets that share enough of them must share one of their first few (Bayardo et al., *Scaling up all
//! pairs similarity search*, 2007).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::{Findings, Linted, named};
use repertoire::diagnostic::Code;
use repertoire_text::boundary::is_word;
use repertoire_text::fold_trigger;

/// Descriptions that share at least this fraction of their shingles are similar.
const LEAST_SHARE: (usize, usize) = (4, 5);

/// Descriptions with fewer words are not compared: their problem is that they are vague, not that they
/// are similar.
const MIN_WORDS: usize = 5;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let shingles: Vec<Vec<u64>> =
        skills.iter().map(|skill| shingles(skill.entry.skill.description())).collect();
    let mut similar = vec![Vec::new(); skills.len()];
    for (a, b) in pairs(&by_rarity(shingles)) {
        similar[a].push(b);
        similar[b].push(a);
    }
    for (place, others) in similar.iter_mut().enumerate().filter(|(_, others)| !others.is_empty()) {
        others.sort_unstable();
        let manifest = skills[place].entry.skill.manifest();
        findings.add(
            place,
            Code::SimilarDescription,
            manifest.description.as_ref().map(|description| &description.span),
            format!("the description is nearly that of {}", named(skills, others)),
            "say first what this skill does that the others do not, or merge them",
        );
    }
}

/// The hashes of the runs of three words in a text, sorted and without repetitions.
fn shingles(description: &str) -> Vec<u64> {
    const WORDS: usize = 3;
    let folded = fold_trigger(description);
    let words = words(&folded);
    if words.len() < MIN_WORDS {
        return Vec::new();
    }
    let hash = |run: &[&str]| BuildHasherDefault::<DefaultHasher>::default().hash_one(run);
    let mut shingles: Vec<u64> = words.windows(WORDS).map(hash).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Splits a folded text into words. In scripts without spaces, each character is a word.
fn words(folded: &str) -> Vec<&str> {
    let is_single = |c: char| c >= '\u{2e80}';
    let mut words = Vec::new();
    for word in folded.split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
        if word.contains(is_single) {
            words.extend(word.split_inclusive(is_single));
        } else {
            words.push(word);
        }
    }
    words
}

/// Replaces the elements of the sets by numbers, the rarest element having the lowest, and sorts each
/// set.
fn by_rarity(sets: Vec<Vec<u64>>) -> Vec<Vec<u32>> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for element in sets.iter().flatten() {
        *counts.entry(*element).or_default() += 1;
    }
    let mut order: Vec<(u32, u64)> = counts.into_iter().map(|(element, n)| (n, element)).collect();
    order.sort_unstable();
    let number: HashMap<u64, u32> =
        order.iter().enumerate().map(|(place, (_, element))| (*element, place as u32)).collect();
    let numbered = |set: Vec<u64>| {
        let mut set: Vec<u32> = set.iter().map(|element| number[element]).collect();
        set.sort_unstable();
        set
    };
    sets.into_iter().map(numbered).collect()
}

/// Returns all pairs of sets that share at least [`LEAST_SHARE`] of their elements, in any order.
fn pairs(sets: &[Vec<u32>]) -> Vec<(usize, usize)> {
    let mut by_size: Vec<usize> = (0..sets.len()).filter(|&set| !sets[set].is_empty()).collect();
    by_size.sort_by_key(|&set| sets[set].len());
    let mut with: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for set in by_size {
        let elements = &sets[set];
        let least = (LEAST_SHARE.0 * elements.len()).div_ceil(LEAST_SHARE.1);
        let prefix = &elements[..=elements.len() - least];
        let mut candidates: Vec<usize> =
            prefix.iter().filter_map(|element| with.get(element)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|&other| are_similar(elements, &sets[other]));
        pairs.extend(candidates.into_iter().map(|other| (other, set)));
        for element in prefix {
            with.entry(*element).or_default().push(set);
        }
    }
    pairs
}

/// Tells whether two sorted sets share at least [`LEAST_SHARE`] of all their elements.
fn are_similar(a: &[u32], b: &[u32]) -> bool {
    let n_common = a.iter().filter(|element| b.binary_search(element).is_ok()).count();
    n_common * LEAST_SHARE.1 >= (a.len() + b.len() - n_common) * LEAST_SHARE.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pairs_found_are_all_there_are() {
        // Sets that overlap in many ways, from a small generator.
        let mut state = 7_u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut sets: Vec<Vec<u64>> = Vec::new();
        for i in 0..120 {
            let mut set: Vec<u64> = (0..20).map(|_| next(200)).collect();
            if i % 3 != 0 {
                set = sets[i - 1].clone();
                set.truncate(set.len() - next(3) as usize);
                set.push(200 + next(5));
            }
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
        let sets = by_rarity(sets);
        let mut found: Vec<(usize, usize)> =
            pairs(&sets).into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        found.sort_unstable();
        let all = (0..sets.len()).flat_map(|a| (a + 1..sets.len()).map(move |b| (a, b)));
        let expected: Vec<(usize, usize)> =
            all.filter(|&(a, b)| are_similar(&sets[a], &sets[b])).collect();
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(found, expected);
    }
}
