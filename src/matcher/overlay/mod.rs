//! A catalog that changes: one compiled index, and small ones over it for what changed since.
//!
//! Compiling all triggers anew takes seconds for 100,000 skills, so a change leaves the index as it
//! is, notes which of its skills are gone, and compiles the changed ones into a layer of their own.
//! A query is put to every layer, and the rankings are merged. A skill's place depends on other
//! skills in one way only: by how many each of its triggers is declared. Those counts are kept for
//! the catalog as a whole, so that the answers are those of a single index.

mod changes;
mod declared;
mod drift;
mod layer;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) use changes::Changes;
use declared::{Declared, OwnedSkill, declared};
use drift::Drift;
use layer::Layer;

use super::passed::{Passed, quoted_only, resolve_together};
use super::rank::RankKey;
use super::{Answer, Index, IndexOptions, IndexedSkill, Match, Query, RankedSkill};
use crate::error::Error;
use crate::skill::SkillId;

/// The newest layer is compiled again with each change while it has no more skills than this.
const MAX_NEWEST: usize = 16;

/// With more layers than this over the first, a merge is due: each is one more pass over a query.
const MAX_LAYERS: usize = 4;

/// A merge puts the newest layers together, and the one below them as long as that has fewer than so
/// many times their skills: small layers are compiled again often, large ones seldom.
const LARGER: usize = 4;

/// When the layers over the first have more than one in so many of its skills, a merge compiles
/// everything anew.
const FULL_MERGE_SHARE: usize = 8;

/// An [`Index`] that follows changes of single skills at once.
///
/// It is a value that never changes itself: [`LayeredIndex::with_changes`] makes the next one,
/// which shares nearly all memory with it, while readers go on with the one they have.
///
/// ```
/// use std::sync::Arc;
///
/// use repertoire::matcher::{Index, IndexOptions, IndexedSkill, LayeredIndex, Query};
/// use repertoire::{Skill, SkillId};
///
/// let options = IndexOptions::default();
/// let index = LayeredIndex::new(Arc::new(Index::new(&[], &options)?), &options);
///
/// let skill: Skill = "---\nname: git\ndescription: d\ntriggers: [rebase]\n---\n".parse()?;
/// let id = SkillId::new("git");
/// let changed = IndexedSkill { id: &id, name: skill.name(), triggers: skill.triggers() };
/// let next = index.with_changes(&[changed], &[])?;
/// assert_eq!(next.best(&Query::new("rebase it"), &[], 3)[0].id, id);
/// assert!(index.is_empty(), "who still has the old one sees no change");
///
/// let next = next.with_changes(&[], &[id])?;
/// assert_eq!(next.count_matching(&Query::new("rebase it")), 0);
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LayeredIndex {
    /// What was compiled as a whole.
    base: Layer,
    /// What changed since, the newest last.
    over: Vec<Layer>,
    /// By how many skills more, or fewer, each thing is declared than when the base was compiled.
    drift: Drift,
    options: Arc<IndexOptions>,
}

impl LayeredIndex {
    /// An index to which nothing happened yet; `options` are those that it was compiled with.
    pub fn new(base: Arc<Index>, options: &IndexOptions) -> LayeredIndex {
        LayeredIndex {
            base: Layer::new(base),
            over: Vec::new(),
            drift: Drift::default(),
            options: Arc::new(options.clone()),
        }
    }

    /// The same with `changed` skills put in place of those with the same ids, or added, and those
    /// of the ids `removed` left out. Ids that are not there are passed over.
    ///
    /// Takes time for what is changed, and for up to 16 skills changed before.
    ///
    /// # Errors
    ///
    /// Those of [`Index::new`].
    pub fn with_changes(
        &self,
        changed: &[IndexedSkill<'_>],
        removed: &[SkillId],
    ) -> Result<LayeredIndex, Error> {
        let mut next = self.clone();
        let mut put: BTreeMap<&SkillId, IndexedSkill<'_>> = BTreeMap::new();
        for skill in changed {
            put.entry(skill.id).or_insert(*skill);
        }
        let mut touched = BTreeSet::new();
        let out: BTreeSet<&SkillId> = removed.iter().chain(put.keys().copied()).collect();
        for id in out {
            next.take_out(id, &mut touched);
        }
        for skill in put.values() {
            next.drift_by(1, declared(skill, self.options.inflect), &mut touched);
        }

        let mut kept: Vec<OwnedSkill> = Vec::new();
        let has_room = |newest: &mut Layer| newest.n_skills() + put.len() <= MAX_NEWEST;
        if let Some(newest) = next.over.pop_if(has_room) {
            kept.extend(newest.skills());
        }
        let skills = kept.iter().map(OwnedSkill::as_indexed).chain(put.into_values());
        next.push_layer(&skills.collect::<Vec<_>>())?;
        next.count(&touched);
        Ok(next)
    }

    /// Whether so much has changed that [`LayeredIndex::merged`] pays.
    pub fn needs_merge(&self) -> bool {
        self.over.len() > MAX_LAYERS || (!self.over.is_empty() && self.is_full_merge_due())
    }

    /// The same catalog in fewer layers: in one, if a good part of it has changed since it was
    /// compiled as a whole.
    ///
    /// This may take as long as compiling everything did, so it is for a thread of its own. Changes
    /// made meanwhile are made to the result again before it takes the place of this.
    ///
    /// # Errors
    ///
    /// Those of [`Index::new`].
    pub fn merged(&self) -> Result<LayeredIndex, Error> {
        if self.is_full_merge_due() {
            let skills: Vec<OwnedSkill> = self.layers().flat_map(Layer::skills).collect();
            let skills: Vec<_> = skills.iter().map(OwnedSkill::as_indexed).collect();
            let base = Index::new(&skills, &self.options)?;
            return Ok(LayeredIndex::new(Arc::new(base), &self.options));
        }
        let (kept, newest) = self.over.split_at(self.first_to_merge());
        let skills: Vec<OwnedSkill> = newest.iter().flat_map(Layer::skills).collect();
        let mut merged = LayeredIndex { over: kept.to_vec(), ..self.clone() };
        merged.drift.merge();
        merged.push_layer(&skills.iter().map(OwnedSkill::as_indexed).collect::<Vec<_>>())?;
        Ok(merged)
    }

    /// Of the layers that are put together, the first.
    fn first_to_merge(&self) -> usize {
        let mut first = self.over.len();
        let mut n_skills = 0;
        while let Some(below) = first.checked_sub(1) {
            let of_layer = self.over[below].n_skills();
            if first < MAX_LAYERS && of_layer > n_skills * LARGER {
                break;
            }
            n_skills += of_layer;
            first = below;
        }
        first
    }

    fn is_full_merge_due(&self) -> bool {
        let n_over: usize = self.over.iter().map(Layer::n_skills).sum();
        (n_over + self.base.n_gone()) * FULL_MERGE_SHARE > self.base.index.len()
    }

    fn take_out(&mut self, id: &SkillId, touched: &mut BTreeSet<Declared>) {
        let layers = std::iter::once(&mut self.base).chain(&mut self.over);
        for layer in layers {
            if let Some(skill) = layer.find(id) {
                let declared = declared(&layer.skill(skill).as_indexed(), self.options.inflect);
                layer.changes_mut().remove(skill);
                self.drift_by(-1, declared, touched);
                return;
            }
        }
    }

    /// Counts what one skill declares in, or out.
    fn drift_by(&mut self, by: i32, of: BTreeSet<Declared>, touched: &mut BTreeSet<Declared>) {
        self.drift.add(by, &of);
        touched.extend(of);
    }

    /// Puts a layer of `skills` over the others.
    fn push_layer(&mut self, skills: &[IndexedSkill<'_>]) -> Result<(), Error> {
        if skills.is_empty() {
            return Ok(());
        }
        let mut layer = Layer::new(Arc::new(Index::new(skills, &self.options)?));
        let n_declaring = |of: &Declared| self.n_declaring(of);
        for declared in layer.declared(self.options.inflect) {
            layer.count(&declared, &n_declaring);
        }
        self.over.push(layer);
        Ok(())
    }

    /// Tells every layer how many skills declare what was `touched`.
    fn count(&mut self, touched: &BTreeSet<Declared>) {
        let mut layers = std::mem::take(&mut self.over);
        let mut base = self.base.clone();
        for layer in std::iter::once(&mut base).chain(&mut layers) {
            for declared in touched {
                layer.count(declared, &|of| self.n_declaring(of));
            }
        }
        self.base = base;
        self.over = layers;
    }

    /// By how many skills of the catalog something is declared.
    fn n_declaring(&self, of: &Declared) -> u32 {
        self.base.n_declaring(of).saturating_add_signed(self.drift.of(of))
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.base).chain(&self.over)
    }

    /// What was compiled as a whole, without what changed since.
    #[cfg(feature = "snapshot")]
    pub(crate) fn base(&self) -> &Index {
        &self.base.index
    }

    /// The skills that came, changed or went since it was compiled as a whole.
    #[cfg(feature = "snapshot")]
    pub(crate) fn changed_since_base(&self) -> BTreeSet<SkillId> {
        let came = self.over.iter().flat_map(Layer::ids);
        came.chain(self.base.gone()).cloned().collect()
    }

    /// Whether nothing changed since it was compiled as a whole.
    fn is_unchanged(&self) -> bool {
        self.over.is_empty() && self.base.is_unchanged()
    }

    /// The number of skills.
    pub fn len(&self) -> usize {
        self.layers().map(Layer::n_skills).sum()
    }

    /// Whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Heap memory in bytes, about; compiled patterns and working memory aside, and much of it
    /// shared with the indexes before and after this one.
    pub fn memory_usage(&self) -> usize {
        self.layers().map(Layer::memory_usage).sum()
    }

    /// As [`Index::search`].
    pub fn search(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Answer {
        if self.is_unchanged() {
            return self.base.index.search(query, recent, limit);
        }
        let mut passed = self.passed(query);
        let mut matches: Vec<std::vec::IntoIter<Match>> = Vec::new();
        let mut answers = Vec::new();
        let ranked = ranked(&mut passed, |passed| {
            let mut answer = passed.answer(query, recent, limit);
            matches.push(std::mem::take(&mut answer.matches).into_iter());
            answers.push(answer);
        });
        // The first of all are the first of their layers.
        let (best, beyond) = ranked.split_at(limit.min(ranked.len()));
        let best = best.iter().filter_map(|ranked| matches[ranked.layer].next());
        let mut whole = Answer {
            matches: best.collect(),
            beyond: beyond.iter().map(|ranked| ranked.id.clone()).collect(),
            ..Answer::default()
        };
        for answer in answers {
            whole.vetoed.extend(answer.vetoed);
            whole.excluded.extend(answer.excluded);
            whole.untried.extend(answer.untried);
            whole.weak.extend(answer.weak);
            whole.denied.extend(answer.denied);
            whole.meta = answer.meta;
        }
        whole.vetoed.sort_unstable();
        whole.excluded.sort_unstable();
        whole.untried.sort_unstable();
        whole.weak.sort_unstable();
        whole.denied.sort_unstable();
        whole.quoted = quoted_only(&mut passed, query, &whole);
        whole
    }

    /// As [`Index::best`].
    pub fn best(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Vec<Match> {
        if self.is_unchanged() {
            return self.base.index.best(query, recent, limit);
        }
        let mut matches: Vec<std::vec::IntoIter<Match>> = Vec::new();
        let ranked = ranked(&mut self.passed(query), |passed| {
            matches.push(passed.best(query, recent, limit).into_iter());
        });
        ranked.iter().take(limit).filter_map(|ranked| matches[ranked.layer].next()).collect()
    }

    /// As [`Index::matches_into`], but it allocates while there is more than one layer.
    pub fn matches_into<'i>(
        &'i self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
        best: &mut Vec<RankedSkill<'i>>,
    ) {
        if self.is_unchanged() {
            self.base.index.matches_into(query, recent, limit, best);
            return;
        }
        let ranked = ranked(&mut self.passed(query), |Passed { index, text, scratch }| {
            index.rank_best(recent, limit, text, scratch);
        });
        best.clear();
        best.extend(
            ranked.iter().take(limit).map(|ranked| RankedSkill::new(ranked.id, ranked.key)),
        );
    }

    /// As [`Index::count_matching`].
    pub fn count_matching(&self, query: &Query<'_>) -> usize {
        let mut passed = self.passed(query);
        let count =
            |Passed { index, text, scratch }: &mut Passed<'_, '_>| index.count_all(text, scratch);
        passed.iter_mut().map(count).sum()
    }

    /// Passes over `query` in all layers. A name of one layer may stand inside a longer one of another,
    /// or be silenced by it, so which mentions count is decided for all of them together.
    fn passed<'i, 'q>(&'i self, query: &'q Query<'_>) -> Vec<Passed<'i, 'q>> {
        let mut passed: Vec<_> = self.layers().map(|layer| layer.passed(query)).collect();
        resolve_together(&mut passed);
        passed
    }
}

/// The rankings of all layers in one; `rank` makes that of a layer.
fn ranked<'i>(
    passed: &mut [Passed<'i, '_>],
    mut rank: impl FnMut(&mut Passed<'i, '_>),
) -> Vec<Ranked<'i>> {
    let mut ranked = Vec::new();
    for (layer, passed) in passed.iter_mut().enumerate() {
        rank(passed);
        let index = passed.index;
        let keys = passed.scratch.ranking.best.iter();
        ranked.extend(keys.map(|&key| Ranked { key, id: index.id(key.skill), layer }));
    }
    // Sorted runs one after the other, which this sort merges.
    ranked.sort_by(Ranked::order);
    ranked
}

/// A match of one layer.
struct Ranked<'i> {
    key: RankKey,
    id: &'i SkillId,
    layer: usize,
}

impl Ranked<'_> {
    /// As within one index, where a skill's number stands for its id.
    fn order(&self, other: &Self) -> Ordering {
        let key = |of: &Self| RankKey { skill: 0, ..of.key };
        key(self).cmp(&key(other)).then_with(|| self.id.cmp(other.id))
    }
}
