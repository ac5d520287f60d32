//! The relevance index of a catalog: built from its skills, or from the previous index and the
//! changes.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use repertoire_meaning::{Compact, Model};

use repertoire_text::words::languages::Languages;
use repertoire_text::words::terms::word_hash;
use thread_local::ThreadLocal;

use super::fields::{Field, FieldTexts, MeanLengths, lengths};
use super::flat::{Flat, MAX_SKILLS};
use super::fold::{Folded, Folder};
use super::meaning::{self, Meaning};
use super::postings::Posting;
use super::scratch::Scratch;
use crate::matcher::parallel::in_parallel;
use crate::progress::{Phase, Reporter, Steps};
use crate::skill::{Skill, SkillId};

/// A lexical index of skills: ranks them by what their texts share with a message.
///
/// An index is flat data of about 2.5 kB for a published skill. A snapshot stores it, and another
/// process uses it without decoding. Bodies are read while the index is made, and not kept. A body that
/// cannot be read counts as empty.
///
/// ```
/// use repertoire::matcher::RelevanceIndex;
/// use repertoire::{Skill, SkillId};
///
/// let skill: Skill = "---\nname: release-notes\ndescription: Summarises merged changes.\n---\n".parse()?;
/// let index = RelevanceIndex::new([(&SkillId::new("release-notes"), &skill)]);
///
/// assert_eq!(index.rank("summarise what changed", 3)[0].id, "release-notes");
/// assert!(index.rank("what is the capital of France?", 3).is_empty());
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct RelevanceIndex {
    /// The sorted ids; the position of an id is the number of its skill.
    pub(super) ids: Vec<SkillId>,
    pub(super) flat: Flat,
    means: MeanLengths,
    /// The languages in which most skills are written.
    pub(super) languages: Languages,
    /// The model by which the host ranks by meaning, if it does.
    model: Option<Arc<Model>>,
    /// The meaning of the skills by this model, unless they are too few.
    pub(super) meaning: Option<Meaning>,
    /// The working memory of each thread.
    pub(super) scratch: ThreadLocal<RefCell<Scratch>>,
}

/// Prints a summary, as the postings would fill megabytes.
impl fmt::Debug for RelevanceIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelevanceIndex").field("skills", &self.ids.len()).finish_non_exhaustive()
    }
}

/// An index as a snapshot holds it.
#[cfg(feature = "snapshot")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Written<'b> {
    means: MeanLengths,
    #[serde(borrow)]
    meaning: Option<meaning::Written<'b>>,
    #[serde(serialize_with = "super::bytes::as_bytes")]
    bytes: &'b [u8],
}

impl RelevanceIndex {
    /// Indexes `skills`. An index holds about a million (2^20) skills; further ones, in the order of
    /// ids, are left out.
    pub fn new<'a>(skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>) -> RelevanceIndex {
        RelevanceIndex::build(skills, None, &Reporter::default())
    }

    /// Indexes `skills` as [`RelevanceIndex::new`] does, with their meaning by `model`, and reports progress.
    pub(crate) fn build<'a>(
        skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>,
        model: Option<&Arc<Model>>,
        reporter: &Reporter,
    ) -> RelevanceIndex {
        let skills = sorted(skills);
        let means = mean_lengths(&skills);
        let unknown: Vec<_> = skills.iter().map(|skill| (*skill, None)).collect();
        RelevanceIndex::fold(&unknown, means, model, None, reporter)
    }

    /// Indexes sorted skills, whose meaning may be known from `before`.
    fn fold(
        skills: &[Indexed<'_>],
        means: MeanLengths,
        model: Option<&Arc<Model>>,
        before: Option<&Meaning>,
        reporter: &Reporter,
    ) -> RelevanceIndex {
        let used = meaning::model_for(model, skills.len());
        let folded = fold_all(skills, &means, used, reporter);
        let vectors: Vec<Compact> = folded.iter().filter_map(|folded| folded.vector).collect();
        let meaning = used.map(|model| Meaning::new(model, &vectors, before));
        RelevanceIndex::put_together(skills, means, Flat::new(&folded), model.cloned(), meaning)
    }

    /// Returns the index of `skills`, reusing this index for the skills for which `is_same` is true. The
    /// result is the same as a new index. Unchanged skills are not read again, unless the mean lengths
    /// of fields, on which all impacts depend, changed by more than a fifth.
    pub(crate) fn next<'a>(
        &self,
        skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>,
        is_same: impl Fn(&SkillId, &Skill) -> bool,
    ) -> RelevanceIndex {
        let skills = sorted(skills);
        let means = mean_lengths(&skills);
        let model = meaning::model_for(self.model.as_ref(), skills.len());
        // The number of each unchanged skill in this index, and what is known of its meaning.
        let before = |(id, skill): &(&SkillId, &Skill)| {
            self.ids.binary_search(id).ok().filter(|_| is_same(id, skill))
        };
        let before: Vec<Option<usize>> = skills.iter().map(before).collect();
        let vector = |number: usize| self.meaning.as_ref()?.of_skill(number as u32);
        let skills: Vec<Indexed<'_>> = skills
            .into_iter()
            .zip(&before)
            .map(|(skill, before)| (skill, before.and_then(vector)))
            .collect();
        // Means are rounded to steps, so they seldom differ.
        let are_same_means = means.map(f32::to_bits) == self.means.map(f32::to_bits);
        if !are_same_means || model.is_some() != self.meaning.is_some() {
            let (model, meaning) = (self.model.as_ref(), self.meaning.as_ref());
            return RelevanceIndex::fold(&skills, means, model, meaning, &Reporter::default());
        }
        // The new number of each unchanged skill, by its number in this index.
        let mut moved: Vec<Option<u32>> = vec![None; self.ids.len()];
        let mut changed = Vec::new();
        let mut names: Vec<Vec<u64>> = vec![Vec::new(); skills.len()];
        let mut vectors: Vec<Option<Compact>> = skills.iter().map(|(_, known)| *known).collect();
        for (number, before) in before.into_iter().enumerate() {
            match before {
                Some(before) => {
                    moved[before] = Some(number as u32);
                    names[number] = self.flat.name_hashes(before as u32);
                }
                None => changed.push(number),
            }
        }
        let mut postings = self.flat.postings(|skill| *moved.get(skill as usize)?);
        let texts: Vec<_> = changed.iter().map(|number| skills[*number]).collect();
        let folded = fold_all(&texts, &means, model, &Reporter::default());
        for (number, of) in changed.into_iter().zip(folded) {
            let Folded { terms, name, vector } = of;
            names[number] = name;
            vectors[number] = vector;
            let posting = |(hash, impact)| Posting::new(hash, number as u32, impact);
            postings.extend(terms.into_iter().map(posting));
        }
        let names: Vec<&[u64]> = names.iter().map(Vec::as_slice).collect();
        let vectors: Vec<Compact> = vectors.into_iter().flatten().collect();
        let meaning = model.map(|model| Meaning::new(model, &vectors, self.meaning.as_ref()));
        let flat = Flat::of_postings(postings, &names);
        RelevanceIndex::put_together(&skills, means, flat, self.model.clone(), meaning)
    }

    /// Returns this index with the terms of `skill` as those of the skill `id`; `None` if it does not have
    /// that skill. The mean lengths of fields stay as they are.
    pub(crate) fn with_skill(&self, id: &SkillId, skill: &Skill) -> Option<RelevanceIndex> {
        let number = self.ids.binary_search(id).ok()? as u32;
        let mut postings = self.flat.postings(|other| (other != number).then_some(other));
        let model = self.meaning.as_ref().map(Meaning::model);
        let folded = fold_all(&[((id, skill), None)], &self.means, model, &Reporter::default());
        let vector = folded.first().and_then(|folded| folded.vector);
        let meaning = self.meaning.as_ref().zip(vector);
        let meaning = meaning.map(|(known, vector)| known.with_skill(number, &vector));
        let terms = folded.iter().flat_map(|folded| &folded.terms);
        postings.extend(terms.map(|(hash, impact)| Posting::new(*hash, number, *impact)));
        let n_skills = self.ids.len() as u32;
        let names: Vec<Vec<u64>> =
            (0..n_skills).map(|skill| self.flat.name_hashes(skill)).collect();
        let names: Vec<&[u64]> = names.iter().map(Vec::as_slice).collect();
        Some(RelevanceIndex {
            ids: self.ids.clone(),
            flat: Flat::of_postings(postings, &names),
            means: self.means,
            languages: self.languages,
            model: self.model.clone(),
            meaning,
            scratch: ThreadLocal::new(),
        })
    }

    /// Reads the index that [`RelevanceIndex::written`] wrote, of skills with these ids in this order;
    /// `None` if the data cannot be that, or is of another model.
    #[cfg(feature = "snapshot")]
    pub(crate) fn read(
        written: Written<'_>,
        ids: Vec<SkillId>,
        model: Option<&Arc<Model>>,
    ) -> Option<RelevanceIndex> {
        let Written { means, bytes, meaning } = written;
        let flat = Flat::read(bytes.into()).filter(|flat| flat.n_skills() == ids.len())?;
        let languages = languages_of(&flat);
        let meaning = match (meaning, meaning::model_for(model, ids.len())) {
            (None, None) => None,
            (Some(meaning), Some(model)) => Some(Meaning::read(&meaning, model, ids.len())?),
            _ => return None,
        };
        let (model, scratch) = (model.cloned(), ThreadLocal::new());
        Some(RelevanceIndex { ids, flat, means, languages, model, meaning, scratch })
    }

    /// The parts that a snapshot holds.
    #[cfg(feature = "snapshot")]
    pub(crate) fn written(&self) -> Written<'_> {
        let meaning = self.meaning.as_ref().map(Meaning::written);
        Written { means: self.means, bytes: self.flat.bytes(), meaning }
    }

    fn put_together(
        skills: &[Indexed<'_>],
        means: MeanLengths,
        flat: Flat,
        model: Option<Arc<Model>>,
        meaning: Option<Meaning>,
    ) -> RelevanceIndex {
        let ids: Vec<SkillId> = skills.iter().map(|((id, _), _)| (*id).clone()).collect();
        tracing::debug!(
            skills = ids.len(),
            terms = flat.n_terms(),
            bytes = flat.bytes().len(),
            "indexed the skills for relevance"
        );
        let languages = languages_of(&flat);
        let scratch = ThreadLocal::new();
        RelevanceIndex { ids, flat, means, languages, model, meaning, scratch }
    }

    /// Number of skills.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// Returns the languages in which most skills of an index are written.
fn languages_of(flat: &Flat) -> Languages {
    let n_with = |word: &str| {
        let list = flat.find(word_hash(word)).and_then(|place| flat.list_at(place));
        list.map_or(0, |list| list.n_skills)
    };
    Languages::of_catalog(flat.n_skills(), n_with)
}

/// Sorts skills by id, removes duplicates, and leaves out those beyond [`MAX_SKILLS`].
fn sorted<'a>(
    skills: impl IntoIterator<Item = (&'a SkillId, &'a Skill)>,
) -> Vec<(&'a SkillId, &'a Skill)> {
    let mut skills: Vec<_> = skills.into_iter().collect();
    skills.sort_by_key(|(id, _)| *id);
    skills.dedup_by_key(|(id, _)| *id);
    if skills.len() > MAX_SKILLS {
        tracing::warn!(skills = skills.len(), limit = MAX_SKILLS, "too many skills for relevance");
        skills.truncate(MAX_SKILLS);
    }
    skills
}

/// Returns the mean length of each field, rounded to one of four steps between powers of two. All
/// impacts depend on the means. As they are rounded, adding or removing a skill seldom changes them, and
/// the updated index is still the same as a new one.
#[expect(clippy::cast_precision_loss, reason = "lengths are estimates")]
fn mean_lengths(skills: &[(&SkillId, &Skill)]) -> MeanLengths {
    const STEPS: f32 = 4.0;
    let mut sums = [0_u64; Field::COUNT];
    for (id, skill) in skills {
        for (sum, length) in sums.iter_mut().zip(lengths(id, skill)) {
            *sum += u64::from(length);
        }
    }
    sums.map(|sum| {
        let mean = sum as f32 / skills.len().max(1) as f32;
        if mean > 0.0 { ((mean.log2() * STEPS).round() / STEPS).exp2() } else { 0.0 }
    })
}

/// A skill to be indexed, and the vector of its meaning, if it is known from before.
type Indexed<'a> = ((&'a SkillId, &'a Skill), Option<Compact>);

/// Folds skills on all cores, as each body is read from a file.
fn fold_all(
    skills: &[Indexed<'_>],
    means: &MeanLengths,
    model: Option<&Arc<Model>>,
    reporter: &Reporter,
) -> Vec<Folded> {
    const SKILLS_A_THREAD: usize = 32;
    let steps = reporter.begin(Phase::Indexing, skills.len());
    let least = if model.is_some_and(|model| model.is_slow()) { 1 } else { SKILLS_A_THREAD };
    let folded = in_parallel(skills, least, |part| fold_part(part, means, model, &steps));
    steps.end();
    folded
}

fn fold_part(
    skills: &[Indexed<'_>],
    means: &MeanLengths,
    model: Option<&Arc<Model>>,
    steps: &Steps<'_>,
) -> Vec<Folded> {
    let mut folder = Folder::default();
    let mut scratch = repertoire_meaning::Scratch::default();
    let mut fold = |((id, skill), known): &Indexed<'_>| {
        // A clone reads the body, so that the skill itself does not keep it in memory.
        let body = Skill::clone(skill);
        let texts = FieldTexts::new(id, skill, body.body().unwrap_or_default());
        steps.add();
        let vector = || model.map(|model| meaning::vector(model, &texts, &mut scratch));
        let vector = known.or_else(vector);
        Folded { vector, ..folder.fold(&texts, means) }
    };
    skills.iter().map(&mut fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_can_be_shared_between_threads() {
        fn assert_shared<T: Send + Sync>() {}
        assert_shared::<RelevanceIndex>();
    }

    #[cfg(feature = "meaning")]
    #[test]
    fn meaning_begins_and_ends_with_the_number_of_skills() {
        let skill = |n: usize| -> (SkillId, Skill) {
            let text =
                format!("---\nname: s{n:02}\ndescription: Feeds animal number {n}.\n---\nB\n");
            (SkillId::new(&format!("s{n:02}")), text.parse().unwrap())
        };
        let skills: Vec<(SkillId, Skill)> = (0..meaning::MIN_SKILLS).map(skill).collect();
        let of = |n: usize| skills[..n].iter().map(|(id, skill)| (id, skill));
        let model = Arc::new(Model::bundled());
        let build = |n| RelevanceIndex::build(of(n), Some(&model), &Reporter::default());
        let levels = |index: &RelevanceIndex| index.meaning.as_ref().map(Meaning::levels);
        let (few, many) = (build(skills.len() - 1), build(skills.len()));
        assert!(levels(&few).is_none() && levels(&many).is_some());
        assert_eq!(levels(&few.next(of(skills.len()), |_, _| true)), levels(&many));
        assert_eq!(levels(&many.next(of(skills.len()), |id, _| *id != "s03")), levels(&many));
        assert!(levels(&many.next(of(skills.len() - 1), |_, _| true)).is_none());
    }

    #[test]
    fn an_index_with_another_text_of_a_skill_is_that_of_the_other_text() {
        let skill = |name: &str, examples: &str| -> (SkillId, Skill) {
            let text =
                format!("---\nname: {name}\ndescription: Grows {name}\n{examples}---\nBody\n");
            (SkillId::new(name), text.parse().unwrap())
        };
        let with = skill("basil", "examples: {should: [water the herbs, harvest early]}\n");
        let without = skill("basil", "examples: {should: [harvest early]}\n");
        let others = [skill("zucchini", ""), skill("apple", "examples: {should: [water trees]}\n")];
        let beside_others = |own| {
            let all = others.iter().chain([own]);
            all.map(|(id, skill): &(SkillId, Skill)| (id, skill)).collect::<Vec<_>>()
        };
        let known = RelevanceIndex::new(beside_others(&with));
        let changed =
            known.with_skill(&without.0, &with.1.without_example("water the herbs")).unwrap();
        // The mean lengths of the fields stay those of the known index.
        let skills = sorted(beside_others(&without)).into_iter().map(|skill| (skill, None));
        let skills: Vec<Indexed<'_>> = skills.collect();
        let folded = fold_all(&skills, &known.means, None, &Reporter::default());
        assert_eq!(changed.flat.bytes(), Flat::new(&folded).bytes());
        assert_ne!(changed.flat.bytes(), known.flat.bytes());
        assert_eq!(known.rank("water the herbs", 1)[0].id, "basil");
        assert!(changed.rank("herbs", 1).is_empty());
        assert!(known.with_skill(&SkillId::new("plum"), &with.1).is_none());
    }
}
