//! Postings: the skills that have a term, each with its impact.

use std::ops::Range;

use super::impact::Impact;

/// The number of bits of a skill's number.
pub(super) const SKILL_BITS: u32 = 20;

/// The number of skills in a range of a *ranged* list: as many as a byte can number.
const RANGE: usize = 256;

const SHORT: u32 = 0;
const RANGED: u32 = 1;
const DENSE: u32 = 2;

/// The impact, in a dense list, of a skill that does not have the term.
const ABSENT: u8 = 0;

/// A hash, a skill and an impact packed into one number, so that sorting numbers sorts postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting(u64);

impl Posting {
    pub(super) fn new(hash: u64, skill: u32, impact: Impact) -> Posting {
        Posting(hash << (SKILL_BITS + 8) | u64::from(skill) << 8 | u64::from(impact.0))
    }

    pub(super) fn hash(self) -> u64 {
        self.0 >> (SKILL_BITS + 8)
    }

    pub(super) fn skill(self) -> u32 {
        (self.0 >> 8) as u32 & ((1 << SKILL_BITS) - 1)
    }

    pub(super) fn impact(self) -> u8 {
        self.0 as u8
    }
}

/// The postings of a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'f> {
    /// Number of skills that have the term.
    pub(super) n_skills: u32,
    kind: Kind<'f>,
}

#[derive(Debug, Clone, Copy)]
enum Kind<'f> {
    One { skill: u32, impact: u8 },
    Short(&'f [u8]),
    Ranged { starts: &'f [u8], is_wide: bool, postings: &'f [u8] },
    Dense(&'f [u8]),
}

impl<'f> List<'f> {
    /// Makes the list of a term that one skill has.
    pub(super) fn one(skill: u32, impact: u8) -> List<'f> {
        List { n_skills: 1, kind: Kind::One { skill, impact } }
    }

    /// Reads the list at the start of `bytes`, in an index of `n_skills`.
    pub(super) fn read(mut bytes: &'f [u8], n_skills: usize) -> Option<List<'f>> {
        let head = take_varint(&mut bytes)?;
        let n = head >> 2;
        let kind = match head & 3 {
            SHORT => Kind::Short(bytes),
            RANGED => {
                let is_wide = n > u32::from(u16::MAX);
                let width = if is_wide { 4 } else { 2 };
                let (starts, postings) =
                    bytes.split_at_checked((n_skills.div_ceil(RANGE) + 1) * width)?;
                Kind::Ranged { starts, is_wide, postings: postings.get(..n as usize * 2)? }
            }
            _ => Kind::Dense(bytes.get(..n_skills)?),
        };
        Some(List { n_skills: n, kind })
    }

    /// Adds the weighted impact of the term in each skill to `sums`, which has one number per skill; see
    /// [`weighted`].
    pub(super) fn add_to(&self, sums: &mut [u16], weight: u16) {
        match self.kind {
            Kind::Dense(impacts) => {
                for (sum, impact) in sums.iter_mut().zip(impacts) {
                    *sum = sum.wrapping_add(weighted(weight, *impact));
                }
            }
            Kind::Ranged { postings, .. } => {
                for (range, sums) in sums.chunks_mut(RANGE).enumerate() {
                    let Some(postings) = postings.get(self.range(range)) else { return };
                    for posting in postings.chunks_exact(2) {
                        if let Some(sum) = sums.get_mut(posting[0] as usize) {
                            *sum = sum.wrapping_add(weighted(weight, posting[1]));
                        }
                    }
                }
            }
            Kind::One { .. } | Kind::Short(_) => self.each(|skill, impact| {
                if let Some(sum) = sums.get_mut(skill as usize) {
                    *sum = sum.wrapping_add(weighted(weight, impact.0));
                }
            }),
        }
    }

    /// Returns the impact of the term in a skill; 0 if the skill does not have it.
    pub(super) fn impact(&self, skill: u32) -> Impact {
        match self.kind {
            Kind::Dense(impacts) => Impact(impacts.get(skill as usize).copied().unwrap_or(0)),
            Kind::Ranged { postings, .. } => {
                let postings = postings.get(self.range(skill as usize / RANGE)).unwrap_or_default();
                let (postings, _) = postings.as_chunks::<2>();
                let found = postings.binary_search_by_key(&(skill as u8), |posting| posting[0]);
                Impact(found.map_or(0, |place| postings[place][1]))
            }
            Kind::One { skill: other, impact } => Impact(if other == skill { impact } else { 0 }),
            Kind::Short(mut rest) => {
                let mut other = 0;
                for _ in 0..self.n_skills {
                    let Some((next, impact)) = take_posting(&mut rest, other) else { break };
                    other = next;
                    if other >= skill {
                        return if other == skill { impact } else { Impact(0) };
                    }
                }
                Impact(0)
            }
        }
    }

    /// Calls `each` with every skill that has the term, in the order of their numbers.
    pub(super) fn each(&self, mut each: impl FnMut(u32, Impact)) {
        match self.kind {
            Kind::One { skill, impact } => each(skill, Impact(impact)),
            Kind::Short(mut rest) => {
                let mut skill = 0;
                for _ in 0..self.n_skills {
                    let Some((next, impact)) = take_posting(&mut rest, skill) else { return };
                    skill = next;
                    each(skill, impact);
                }
            }
            Kind::Ranged { postings, starts, is_wide } => {
                for range in 0..starts.len() / if is_wide { 4 } else { 2 } {
                    for posting in
                        postings.get(self.range(range)).unwrap_or_default().chunks_exact(2)
                    {
                        each((range * RANGE) as u32 + u32::from(posting[0]), Impact(posting[1]));
                    }
                }
            }
            Kind::Dense(impacts) => {
                let there = impacts.iter().enumerate().filter(|(_, impact)| **impact != ABSENT);
                there.for_each(|(skill, impact)| each(skill as u32, Impact(*impact)));
            }
        }
    }

    /// Returns a number for the kind of the list, for tests.
    #[cfg(test)]
    pub(super) fn kind_number(&self) -> usize {
        match self.kind {
            Kind::One { .. } => 0,
            Kind::Short(_) => 1,
            Kind::Ranged { .. } => 2,
            Kind::Dense(_) => 3,
        }
    }

    /// Returns the bytes of the postings of a range of skills.
    fn range(&self, range: usize) -> Range<usize> {
        let Kind::Ranged { starts, is_wide, .. } = self.kind else { return 0..0 };
        let start = |range: usize| {
            if is_wide {
                read_u32(starts, range * 4) as usize
            } else {
                let bytes = starts.get(range * 2..range * 2 + 2);
                bytes.map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]) as usize)
            }
        };
        let (start, end) = (start(range), start(range + 1));
        start * 2..end.max(start) * 2
    }
}

/// Takes the next posting of a short list, after that of the skill `before`.
fn take_posting(rest: &mut &[u8], before: u32) -> Option<(u32, Impact)> {
    let delta = take_varint(rest)?;
    let (impact, after) = rest.split_first()?;
    *rest = after;
    Some((delta.wrapping_add(before), Impact(*impact)))
}

/// Returns `weight` times the impact's share of 256.
fn weighted(weight: u16, impact: u8) -> u16 {
    ((u32::from(weight) * u32::from(u16::from(impact & !1) << 8)) >> 16) as u16
}

pub(super) fn write_list(postings: &[Posting], n_skills: usize, out: &mut Vec<u8>) {
    let n_ranges = n_skills.div_ceil(RANGE);
    let n = postings.len();
    let is_wide = n > usize::from(u16::MAX);
    let ranged = (n_ranges + 1) * if is_wide { 4 } else { 2 } + n * 2;
    let mut short = Vec::with_capacity(n * 2);
    let mut before = 0;
    for posting in postings {
        put_varint(&mut short, posting.skill() - before);
        short.push(posting.impact());
        before = posting.skill();
    }
    // Dense lists are summed up several skills at a time, so they pay off before they are the
    // smallest.
    let (kind, dense) = if n * 4 >= n_skills {
        (DENSE, n_skills)
    } else if ranged <= short.len() + short.len() / 4 {
        (RANGED, 0)
    } else {
        (SHORT, 0)
    };
    put_varint(out, (n as u32) << 2 | kind);
    match kind {
        DENSE => {
            let start = out.len();
            out.resize(start + dense, ABSENT);
            for posting in postings {
                out[start + posting.skill() as usize] = posting.impact();
            }
        }
        RANGED => {
            for range in 0..=n_ranges {
                let start = postings.partition_point(|p| (p.skill() as usize) < range * RANGE);
                if is_wide {
                    put(out, start as u32);
                } else {
                    out.extend((start as u16).to_le_bytes());
                }
            }
            out.extend(postings.iter().flat_map(|p| [p.skill() as u8, p.impact()]));
        }
        _ => out.extend(short),
    }
}

pub(super) fn put(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

pub(super) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 127).checked_shl(shift)?;
        if *byte < 128 {
            return Some(number);
        }
        shift += 7;
    }
}
