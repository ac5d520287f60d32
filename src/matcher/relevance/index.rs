//! Where every term stands, and what follows from it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use super::fields::{self, Field};
use super::terms::{Term, normalize, pairs, terms};
use crate::skill::{Skill, SkillId};

pub(super) const N_FIELDS: usize = Field::ALL.len();

/// A lexical index of skills: ranks them by what their texts share with a message.
///
/// Bodies are read when a skill is added, and not kept; one that cannot be read counts as empty.
/// The index of published skills takes about 25 kB a skill (`docs/routing.md`). Skills
/// come and go one by one; the answer depends on the skills there are, not on how they came.
///
/// ```
/// use repertoire::matcher::RelevanceIndex;
/// use repertoire::{Skill, SkillId};
///
/// let skill: Skill = "---\nname: release-notes\ndescription: Summarises merged changes.\n---\n".parse()?;
/// let index = RelevanceIndex::new([(&SkillId::new("release-notes"), &skill)]);
///
/// let found = index.rank("summarise what changed", 3);
/// assert_eq!(found[0].id, "release-notes");
/// assert_eq!(found[0].terms[0].fields, [repertoire::matcher::Field::Description]);
/// assert!(index.rank("what is the capital of France?", 3).is_empty());
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RelevanceIndex {
    /// By place. A place is free where there is no id.
    pub(super) skills: Vec<Indexed>,
    places: HashMap<SkillId, u32>,
    /// By the text of the term, in the order of places.
    pub(super) postings: HashMap<Box<str>, Postings>,
    /// How many skills have a pair of terms, by its hash.
    pub(super) n_with_pair: HashMap<u32, u32>,
    /// Number of terms of all skills, by field.
    pub(super) n_terms: [u64; N_FIELDS],
    /// What an occurrence is worth, by place; computed when it is first needed after a change.
    pub(super) worths: OnceLock<Vec<Worths>>,
}

/// What an occurrence is worth, by field, in one skill.
pub(super) type Worths = [f32; N_FIELDS];

/// Where a term occurs.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    /// In the order of places.
    pub(super) list: Vec<Posting>,
    /// What the term adds to the score of each, but for its rarity. It depends on the lengths of
    /// all skills, and is computed when it is first needed after a change.
    pub(super) impacts: OnceLock<Box<[f32]>>,
}

impl Postings {
    pub(super) fn at(&self, place: usize) -> Option<Posting> {
        let at = self.list.binary_search_by_key(&place, |posting| posting.place as usize).ok()?;
        Some(self.list[at])
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Indexed {
    pub(super) id: Option<SkillId>,
    /// Number of terms by field.
    pub(super) n_terms: [u32; N_FIELDS],
    /// The distinct terms of its name.
    pub(super) name: Vec<Box<str>>,
    /// Its pairs of terms, in the order of their hashes.
    pairs: Box<[Pair]>,
}

/// That a term occurs in a skill.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) place: u32,
    pub(super) counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Of the two terms; a collision in one skill is too rare to matter.
    hash: u32,
    counts: Counts,
}

/// How often a term occurs, by field; 255 is the most that is counted.
pub(super) type Counts = [u8; N_FIELDS];

impl RelevanceIndex {
    /// Indexes `skills`.
    pub fn new<'a>(skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>) -> RelevanceIndex {
        let mut index = RelevanceIndex::default();
        for (id, skill) in skills {
            index.add(id, skill);
        }
        tracing::debug!(
            skills = index.len(),
            terms = index.postings.len(),
            bytes = index.memory_usage(),
            "indexed the skills for relevance"
        );
        index
    }

    /// Indexes what `skills` say of themselves, without their bodies. No file is read, and it is
    /// made some twenty times faster.
    pub fn of_descriptions<'a>(
        skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>,
    ) -> RelevanceIndex {
        let mut index = RelevanceIndex::default();
        for (id, skill) in skills {
            index.add_with(id, skill, "");
        }
        index
    }

    /// Adds a skill, in place of the one with this id, if any.
    pub fn add(&mut self, id: &SkillId, skill: &Skill) {
        // A clone reads the body for itself: the skill need not keep it for the index.
        let body = skill.clone();
        self.add_with(id, skill, body.body().unwrap_or_default());
    }

    fn add_with(&mut self, id: &SkillId, skill: &Skill, body: &str) {
        self.remove(id);
        self.forget_lengths();
        let free = self.skills.iter().position(|indexed| indexed.id.is_none());
        let place = free.unwrap_or_else(|| {
            self.skills.push(Indexed::default());
            self.skills.len() - 1
        });
        self.places.insert(id.clone(), place as u32);

        let mut indexed = Indexed { id: Some(id.clone()), ..Indexed::default() };
        let mut counts: HashMap<String, Counts> = HashMap::new();
        let mut pair_counts: HashMap<u32, Counts> = HashMap::new();
        for (n, field) in Field::ALL.into_iter().enumerate() {
            let text = fields::text(field, id, skill, body);
            let text = normalize(&text);
            let terms = terms(&text);
            indexed.n_terms[n] = terms.len() as u32;
            self.n_terms[n] += terms.len() as u64;
            for pair in pairs(&terms) {
                let count = &mut pair_counts.entry(hash(pair)).or_default()[n];
                *count = count.saturating_add(1);
            }
            if field == Field::Name {
                let distinct: BTreeSet<&str> = terms.iter().map(|term| &*term.text).collect();
                indexed.name = distinct.into_iter().map(Box::from).collect();
            }
            for term in terms {
                let count = &mut counts.entry(term.text).or_default()[n];
                *count = count.saturating_add(1);
            }
        }
        let mut pairs: Vec<Pair> =
            pair_counts.into_iter().map(|(hash, counts)| Pair { hash, counts }).collect();
        pairs.sort_unstable_by_key(|pair| pair.hash);
        for pair in &pairs {
            *self.n_with_pair.entry(pair.hash).or_default() += 1;
        }
        indexed.pairs = pairs.into();
        self.skills[place] = indexed;
        for (term, counts) in counts {
            let postings = &mut self.postings.entry(term.into()).or_default().list;
            let at = postings.partition_point(|posting| (posting.place as usize) < place);
            postings.insert(at, Posting { place: place as u32, counts });
        }
    }

    /// Removes a skill; whether there was one. It costs a look at every term of the index.
    pub fn remove(&mut self, id: &SkillId) -> bool {
        let Some(place) = self.places.remove(id) else { return false };
        self.forget_lengths();
        let gone = std::mem::take(&mut self.skills[place as usize]);
        for (all, one) in self.n_terms.iter_mut().zip(gone.n_terms) {
            *all -= u64::from(one);
        }
        for pair in &gone.pairs {
            if let Entry::Occupied(mut n_with) = self.n_with_pair.entry(pair.hash) {
                *n_with.get_mut() -= 1;
                if *n_with.get() == 0 {
                    n_with.remove();
                }
            }
        }
        self.postings.retain(|_, Postings { list: postings, .. }| {
            if let Ok(at) = postings.binary_search_by_key(&place, |posting| posting.place) {
                postings.remove(at);
            }
            !postings.is_empty()
        });
        true
    }

    /// Forgets what depends on the lengths of all skills.
    fn forget_lengths(&mut self) {
        if self.worths.take().is_some() {
            self.postings.values_mut().for_each(|postings| drop(postings.impacts.take()));
        }
    }

    /// Number of skills.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// About how many bytes it takes.
    pub fn memory_usage(&self) -> usize {
        let of_terms = self.postings.iter().map(|(term, postings)| {
            let impacts = postings.impacts.get().map_or(0, |impacts| size_of_val(&impacts[..]));
            let list = size_of_val(&postings.list[..]);
            term.len() + size_of::<(Box<str>, Postings)>() + list + impacts
        });
        let of_skills =
            self.skills.iter().map(|skill| size_of::<Indexed>() + size_of_val(&skill.pairs[..]));
        let of_pairs = self.n_with_pair.capacity() * size_of::<(u32, u32)>();
        of_terms.sum::<usize>() + of_skills.sum::<usize>() + of_pairs
    }
}

impl Indexed {
    /// How often the skill has the terms of a pair one after the other.
    pub(super) fn pair(&self, hash: u32) -> Option<Counts> {
        let at = self.pairs.binary_search_by_key(&hash, |pair| pair.hash).ok()?;
        Some(self.pairs[at].counts)
    }
}

/// What a pair of terms is found by.
pub(super) fn hash(pair: [&Term<'_>; 2]) -> u32 {
    let mut hasher = DefaultHasher::new();
    pair.map(|term| term.text.as_str()).hash(&mut hasher);
    hasher.finish() as u32
}
