//! The relevance index as flat bytes: a hash dictionary and postings, used as they are in a snapshot.
//!
//! All numbers are little-endian. After the header of eight `u32` come
//!
//! - the buckets: for each value of a hash's first bits, the position of its first term;
//! - the remainders of the hashes, three bytes per term, in the order of hashes;
//! - the values, one `u32` per term: the posting itself if one skill has the term, otherwise where its
//!   list starts;
//! - for each skill, the positions of the terms of its name;
//! - the lists: *short* (delta and impact of each posting), *ranged* (postings by ranges of 256
//!   skills, a byte each for skill and impact) or *dense* (an impact for every skill), whichever
//!   is smallest.
//!
//! A snapshot may be damaged: every access is checked, and an invalid reference reads as empty.

use std::sync::Arc;

use repertoire_text::words::hash::HASH_BITS;

use super::fold::Folded;
use super::impact::Impact;
use super::postings::{List, Posting, SKILL_BITS, put, read_u32, write_list};

/// The maximum number of skills in an index: the number of a skill has 20 bits.
pub(super) const MAX_SKILLS: usize = 1 << SKILL_BITS;

const HEADER: usize = 8 * 4;
const MAGIC: u32 = 0x3152_4c52; // "RLR1"

/// The flat bytes of an index, and the offsets of their parts.
#[derive(Debug, Clone)]
pub(super) struct Flat {
    bytes: Arc<[u8]>,
    n_skills: usize,
    n_terms: usize,
    bucket_bits: u32,
    remainders: usize,
    values: usize,
    name_starts: usize,
    names: usize,
    lists: usize,
}

impl Flat {
    /// Makes the bytes of an index. A skill's number is its position in `skills`.
    pub(super) fn new(skills: &[Folded]) -> Flat {
        let mut postings = Vec::with_capacity(skills.iter().map(|skill| skill.terms.len()).sum());
        for (skill, folded) in skills.iter().enumerate() {
            let posting =
                |(hash, impact): &(u64, Impact)| Posting::new(*hash, skill as u32, *impact);
            postings.extend(folded.terms.iter().map(posting));
        }
        let names: Vec<&[u64]> = skills.iter().map(|skill| &skill.name[..]).collect();
        Flat::of_postings(postings, &names)
    }

    /// Makes the bytes of an index from postings, in any order, and the hashes of the terms in each
    /// skill's name.
    pub(super) fn of_postings(mut postings: Vec<Posting>, names: &[&[u64]]) -> Flat {
        // Stable, as it merges runs: an updated index has one long run, and the terms of few skills.
        postings.sort();
        let n_skills = names.len();
        let (mut hashes, mut values, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for same in postings.chunk_by(|a, b| a.hash() == b.hash()) {
            hashes.push(same[0].hash());
            if let [one] = same {
                values.push(1 << 31 | one.skill() << 8 | u32::from(one.impact()));
            } else {
                values.push(lists.len() as u32);
                write_list(same, n_skills, &mut lists);
            }
        }
        let bucket_bits = bucket_bits(hashes.len());
        let mut bytes = Vec::new();
        let header = [MAGIC, n_skills as u32, hashes.len() as u32, bucket_bits];
        for number in header.iter().chain(&[0; 4]) {
            put(&mut bytes, *number);
        }
        let mut place = 0;
        for bucket in 0..=1_u64 << bucket_bits {
            place +=
                hashes[place..].partition_point(|hash| hash >> (HASH_BITS - bucket_bits) < bucket);
            put(&mut bytes, place as u32);
        }
        for hash in &hashes {
            let [a, b, c, _] = ((hash & remainder_mask(bucket_bits)) as u32).to_le_bytes();
            bytes.extend([a, b, c]);
        }
        for value in &values {
            put(&mut bytes, *value);
        }
        let mut start = 0;
        for name in names {
            put(&mut bytes, start);
            start += name.len() as u32;
        }
        put(&mut bytes, start);
        for hash in names.iter().flat_map(|name| name.iter()) {
            put(&mut bytes, hashes.binary_search(hash).unwrap_or_default() as u32);
        }
        bytes.extend(lists);
        Flat::read(bytes.into()).unwrap_or_else(Flat::empty)
    }

    /// An index of nothing.
    pub(super) fn empty() -> Flat {
        Flat {
            bytes: Arc::default(),
            n_skills: 0,
            n_terms: 0,
            bucket_bits: bucket_bits(0),
            remainders: 0,
            values: 0,
            name_starts: 0,
            names: 0,
            lists: 0,
        }
    }

    /// Reads bytes as they were written; `None` if they cannot be an index.
    pub(super) fn read(bytes: Arc<[u8]>) -> Option<Flat> {
        let header: Vec<u32> = (0..4).map(|at| read_u32(&bytes, at * 4)).collect();
        let [MAGIC, n_skills, n_terms, bits] = header[..] else { return None };
        let (n_skills, n_terms) = (n_skills as usize, n_terms as usize);
        if bits != bucket_bits(n_terms) || n_skills > MAX_SKILLS {
            return None;
        }
        let remainders = HEADER + ((1 << bits) + 1) * 4;
        let values = remainders + n_terms * 3;
        let name_starts = values + n_terms * 4;
        let names = name_starts + (n_skills + 1) * 4;
        let lists = names + read_u32(&bytes, names - 4) as usize * 4;
        let flat = Flat {
            n_skills,
            n_terms,
            bucket_bits: bits,
            remainders,
            values,
            name_starts,
            names,
            lists,
            bytes,
        };
        (lists <= flat.bytes.len() && flat.has_buckets_in_order()).then_some(flat)
    }

    /// Tells whether the buckets partition the terms, so that none is read twice.
    fn has_buckets_in_order(&self) -> bool {
        let buckets = self.bytes[HEADER..self.remainders].chunks_exact(4);
        let mut ends = buckets.map(|bucket| read_u32(bucket, 0));
        ends.clone().is_sorted() && ends.next_back() == Some(self.n_terms as u32)
    }

    /// The bytes, to be written.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn n_skills(&self) -> usize {
        self.n_skills
    }

    /// Returns the position of the term with this hash, in the order of hashes.
    pub(super) fn find(&self, hash: u64) -> Option<u32> {
        let bucket = HEADER + (hash >> (HASH_BITS - self.bucket_bits)) as usize * 4;
        let (start, end) = (read_u32(&self.bytes, bucket), read_u32(&self.bytes, bucket + 4));
        let remainders = self.remainders + start as usize * 3..self.remainders + end as usize * 3;
        let wanted = (hash & remainder_mask(self.bucket_bits)) as u32;
        let (remainders, _) = self.bytes.get(remainders)?.as_chunks();
        let at =
            remainders.iter().position(|&[a, b, c]| u32::from_le_bytes([a, b, c, 0]) == wanted)?;
        Some(start + at as u32)
    }

    /// Returns the postings of the term with this hash.
    #[cfg(test)]
    fn list(&self, hash: u64) -> Option<List<'_>> {
        self.list_at(self.find(hash)?)
    }

    /// Returns the postings of the term at this position in the order of hashes.
    pub(super) fn list_at(&self, term: u32) -> Option<List<'_>> {
        let value = read_u32(&self.bytes, self.values + term as usize * 4);
        if value >> 31 == 1 {
            return Some(List::one(value >> 8 & ((1 << SKILL_BITS) - 1), value as u8));
        }
        List::read(self.bytes.get(self.lists + value as usize..)?, self.n_skills)
    }

    /// Returns the terms of a skill's name, by their positions.
    pub(super) fn name_terms(&self, skill: u32) -> impl Iterator<Item = u32> {
        let at = self.name_starts + skill as usize * 4;
        let (start, end) = (read_u32(&self.bytes, at), read_u32(&self.bytes, at + 4));
        let terms = self.bytes.get(self.names + start as usize * 4..self.names + end as usize * 4);
        terms.unwrap_or_default().chunks_exact(4).map(|term| read_u32(term, 0))
    }

    /// The terms of a skill's name, each with its postings.
    pub(super) fn name(&self, skill: u32) -> impl Iterator<Item = (u32, List<'_>)> {
        self.name_terms(skill).filter_map(|term| Some((term, self.list_at(term)?)))
    }

    /// Number of distinct terms.
    pub(super) fn n_terms(&self) -> usize {
        self.n_terms
    }

    /// Returns every posting of the skills for which `place` returns a new number, with that number.
    pub(super) fn postings(&self, place: impl Fn(u32) -> Option<u32>) -> Vec<Posting> {
        let mut postings = Vec::new();
        let mut term = 0_u32;
        for bucket in 0..1_u64 << self.bucket_bits {
            let end = read_u32(&self.bytes, HEADER + (bucket as usize + 1) * 4);
            for term in term..end {
                let hash = self.hash_at(bucket, term);
                let Some(list) = self.list_at(term) else { continue };
                list.each(|skill, impact| {
                    let moved = place(skill).map(|skill| Posting::new(hash, skill, impact));
                    postings.extend(moved);
                });
            }
            term = end;
        }
        postings
    }

    /// The hashes of the terms of a skill's name.
    pub(super) fn name_hashes(&self, skill: u32) -> Vec<u64> {
        let bucket_of = |term: u32| {
            let (ends, _) = self.bytes[HEADER + 4..self.remainders].as_chunks::<4>();
            ends.partition_point(|end| u32::from_le_bytes(*end) <= term) as u64
        };
        self.name_terms(skill).map(|term| self.hash_at(bucket_of(term), term)).collect()
    }

    fn hash_at(&self, bucket: u64, term: u32) -> u64 {
        let at = self.remainders + term as usize * 3;
        let bytes = self.bytes.get(at..at + 3);
        let remainder = bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], 0]));
        bucket << (HASH_BITS - self.bucket_bits) | u64::from(remainder)
    }
}

/// The number of bits that select a bucket, for two to four terms per bucket. With the 24 bits of a
/// remainder, they are at least as many bits as a hash has.
fn bucket_bits(n_terms: usize) -> u32 {
    (n_terms / 2).max(1).ilog2().clamp(HASH_BITS - 24, 20)
}

fn remainder_mask(bucket_bits: u32) -> u64 {
    (1 << (HASH_BITS - bucket_bits)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVISORS: [u32; 9] = [1, 2, 3, 5, 40, 97, 1_000, 5_000, 15_000];

    fn hash(divisor: u32) -> u64 {
        u64::from(divisor) << 20
    }

    fn impact(divisor: u32) -> Impact {
        Impact(((divisor % 100) as u8 + 1) << 1 | 1)
    }

    /// An index of skills, each with the terms that its place is a multiple of.
    fn flat(n_skills: u32) -> Flat {
        let folded = |skill: u32| {
            let divisors = DIVISORS.into_iter().filter(|divisor| skill.is_multiple_of(*divisor));
            let terms = divisors.map(|divisor| (hash(divisor), impact(divisor))).collect();
            Folded { terms, name: vec![hash(1)], ..Folded::default() }
        };
        Flat::new(&(0..n_skills).map(folded).collect::<Vec<_>>())
    }

    #[test]
    fn every_kind_of_list_gives_back_its_postings() {
        for (n_skills, n_expected) in [(1, 1), (3, 2), (255, 2), (256, 2), (20_000, 3), (70_000, 3)]
        {
            let flat = flat(n_skills);
            let mut n_kinds = [0; 4];
            for divisor in DIVISORS {
                let list = flat.list(hash(divisor)).unwrap();
                n_kinds[list.kind_number()] += 1;
                let mut found = Vec::new();
                list.each(|skill, impact| found.push((skill, impact)));
                let with = (0..n_skills).step_by(divisor as usize);
                let expected: Vec<_> = with.map(|skill| (skill, impact(divisor))).collect();
                assert_eq!(found, expected, "{divisor} of {n_skills}");
                let mut sums = vec![0; n_skills as usize];
                list.add_to(&mut sums, 1 << 8);
                for skill in (0..n_skills).step_by(25) {
                    let is_in = skill.is_multiple_of(divisor);
                    let impact = if is_in { impact(divisor) } else { Impact(0) };
                    assert_eq!(list.impact(skill), impact);
                    assert_eq!(sums[skill as usize], u16::from(impact.value()) << 1, "{skill}");
                }
            }
            assert!(flat.list(3).is_none() && flat.name_hashes(0) == [hash(1)]);
            let n_there = n_kinds.iter().filter(|n| **n > 0).count();
            assert!(n_there >= n_expected, "{n_skills}: {n_kinds:?}");
        }
    }

    #[test]
    fn postings_laid_out_again_are_the_same_bytes() {
        let flat = flat(1_000);
        let names: Vec<Vec<u64>> = (0..1_000).map(|skill| flat.name_hashes(skill)).collect();
        let names: Vec<&[u64]> = names.iter().map(Vec::as_slice).collect();
        assert_eq!(Flat::of_postings(flat.postings(Some), &names).bytes(), flat.bytes());
    }

    #[test]
    fn damaged_bytes_are_refused_or_lead_nowhere() {
        let whole = flat(600);
        for len in 0..whole.bytes().len() {
            if let Some(cut) = Flat::read(whole.bytes()[..len].into()) {
                (1..=40)
                    .for_each(|d| assert!(cut.list(d << 20).is_none_or(|list| list.n_skills > 0)));
            }
        }
        for at in (0..whole.bytes().len()).step_by(7) {
            let mut bytes = whole.bytes().to_vec();
            bytes[at] ^= 0xff;
            let Some(damaged) = Flat::read(bytes.into()) else { continue };
            let mut sums = vec![0; 600];
            for divisor in DIVISORS {
                let Some(list) = damaged.list(hash(divisor)) else { continue };
                list.add_to(&mut sums, 9);
                list.impact(300);
            }
            drop(damaged.postings(Some));
        }
    }
}
