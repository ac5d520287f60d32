//! The snapshot: an engine's catalog and indexes at one moment.

use std::sync::{Arc, OnceLock};

use repertoire_text::request::Parts;

use crate::catalog::{Allowlist, Audience, Catalog, Entry, PlaceSet};
use crate::disclosure::{Listing, Reason, Rejection};
use crate::error::{Error, ErrorCode};
use crate::matcher::{
    Answer, Candidate, Index, IndexOptions, IndexedSkill, Levels, Match, MeaningModel, Query,
    Relevance, RelevanceIndex, Retrieval, Retriever, Selection,
};
use crate::progress::Reporter;
use crate::session::SessionState;
use crate::skill::{Skill, SkillId};

/// The maximum number of recently used skills that the ranking of matches considers.
const MAX_RECENT: usize = 64;

/// A catalog and everything derived from it. Immutable: a refresh makes a new snapshot, and each call
/// uses one snapshot from beginning to end.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) catalog: Arc<Catalog>,
    pub(super) listing: Arc<Listing>,
    /// The listing of the engine: the skills that are indexed, in the order in which they are.
    pub(super) whole: Arc<Listing>,
    /// The skills of `whole` that a view shows; `None` if all of them exist.
    shown: Option<Arc<Shown>>,
    pub(super) index: Arc<Index>,
    /// The index of skills that exist but cannot be matched, compiled for the first explanation.
    hidden: Arc<OnceLock<Option<Index>>>,
    relevance: Arc<OnceLock<Arc<RelevanceIndex>>>,
    /// The skills for which the host's retriever was prepared, once it was.
    retrieval: Arc<OnceLock<Result<Retrieval, (ErrorCode, String)>>>,
    /// The model by which the relevance index knows meanings.
    model: Option<Arc<MeaningModel>>,
}

/// The skills of an engine that a view shows.
#[derive(Debug)]
struct Shown {
    skills: PlaceSet,
    others: PlaceSet,
    /// The place in the listing of the view of each skill in that of the engine; 0 for those not shown.
    places: Vec<u32>,
}

impl Shown {
    /// The skills of `whole` that are in `listing`.
    fn of(listing: &Listing, whole: &Listing) -> Shown {
        let places: Vec<_> = whole.visible().map(|entry| listing.place(&entry.id)).collect();
        let set = |is_shown| PlaceSet::of(places.len(), |at| places[at].is_some() == is_shown);
        let (skills, others) = (set(true), set(false));
        let places = places.iter().map(|place| place.unwrap_or_default() as u32).collect();
        Shown { skills, others, places }
    }
}

impl Snapshot {
    /// Compiles the index of `catalog`. Fails if the triggers do not fit one index.
    pub(super) fn new(
        catalog: Catalog,
        options: &IndexOptions,
        model: Option<&Arc<MeaningModel>>,
        reporter: &Reporter,
    ) -> Result<Snapshot, Error> {
        let skills: Vec<_> = matched(&catalog).map(indexed).collect();
        let index = Index::compile(&skills, options, reporter)?;
        Ok(Snapshot::of(catalog, Arc::new(index), model))
    }

    /// Creates the snapshot of a catalog whose index is compiled already.
    pub(super) fn of(
        catalog: Catalog,
        index: Arc<Index>,
        model: Option<&Arc<MeaningModel>>,
    ) -> Snapshot {
        let catalog = Arc::new(catalog);
        let listing = Arc::new(Listing::new(Arc::clone(&catalog)));
        Snapshot {
            index,
            whole: Arc::clone(&listing),
            shown: None,
            listing,
            catalog,
            hidden: Arc::default(),
            relevance: Arc::default(),
            retrieval: Arc::default(),
            model: model.cloned(),
        }
    }

    /// The snapshot of a view: this one, of an engine, with only the skills that `allowlist` names. Shares
    /// the indexes, also those that are built later.
    pub(super) fn narrowed(&self, allowlist: &Allowlist) -> Snapshot {
        let catalog = Arc::new(self.catalog.narrowed(allowlist));
        let listing = Arc::new(Listing::new(Arc::clone(&catalog)));
        let shown = Some(Arc::new(Shown::of(&listing, &self.whole)));
        Snapshot { catalog, listing, shown, ..self.clone() }
    }

    /// The next snapshot, for the catalog that the same sources gave when loaded again. Compiles a new
    /// index only if names or triggers changed, and indexes only the texts that changed. This snapshot
    /// answers queries in the meantime.
    ///
    /// Fails as [`Snapshot::new`] does.
    pub(super) fn next(&self, catalog: Catalog, options: &IndexOptions) -> Result<Snapshot, Error> {
        let is_same = matched(&self.catalog).map(indexed).eq(matched(&catalog).map(indexed));
        let next = if is_same {
            Snapshot::of(catalog, Arc::clone(&self.index), self.model.as_ref())
        } else {
            Snapshot::new(catalog, options, self.model.as_ref(), &Reporter::default())?
        };
        if let Some(relevance) = self.relevance.get() {
            let is_same = |id: &SkillId, skill: &Skill| {
                let known = self.listing.get(id);
                known.is_some_and(|known| std::ptr::eq(&raw const *known.skill, skill))
            };
            let skills = next.listing.visible().map(|entry| (&entry.id, &*entry.skill));
            next.put_relevance(relevance.next(skills, is_same));
        }
        Ok(next)
    }

    /// Sets the relevance index, which must have been made from the same skills.
    pub(super) fn put_relevance(&self, relevance: RelevanceIndex) {
        // This cannot fail: no other code has this snapshot yet.
        let _ = self.relevance.set(Arc::new(relevance));
    }

    /// This snapshot with another relevance index of the same skills.
    pub(super) fn with_relevance(&self, relevance: RelevanceIndex) -> Snapshot {
        Snapshot { relevance: Arc::new(OnceLock::from(Arc::new(relevance))), ..self.clone() }
    }

    /// Ranks all matches, in a conversation with the history `state`.
    pub(super) fn search(&self, query: &Query<'_>, state: &SessionState, limit: usize) -> Answer {
        let recent = recent(state);
        self.index.search_in(query, &Parts::of(&query.text), self.among(), &recent, limit)
    }

    /// Ranks the skills that `selection` asks for, given the parts of the query's text, in a conversation with the
    /// history `state`.
    pub(super) fn select(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        state: &SessionState,
        selection: Selection<'_>,
    ) -> Answer {
        self.select_among(query, parts, state, selection, self.among())
    }

    /// Selects as [`Snapshot::select`] does, among these skills of the engine.
    pub(super) fn select_among(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        state: &SessionState,
        selection: Selection<'_>,
        among: Option<&PlaceSet>,
    ) -> Answer {
        let recent = recent(state);
        let selection = Selection { recent: &recent, ..selection };
        self.index.select_in(query, parts, among, &selection)
    }

    /// Selects as [`Snapshot::select`] does, and lists all matches: the best `limit` with their hits, the others by
    /// id.
    pub(super) fn select_of_all(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        state: &SessionState,
        selection: Selection<'_>,
        limit: usize,
    ) -> (Answer, Vec<Match>, Vec<SkillId>) {
        let recent = recent(state);
        let selection = Selection { recent: &recent, ..selection };
        self.index.select_of_all_in(query, parts, self.among(), &selection, limit)
    }

    /// The skills that are searched; `None` for all.
    pub(super) fn among(&self) -> Option<&PlaceSet> {
        self.shown.as_ref().map(|shown| &shown.skills)
    }

    /// Ranks skills by relevance as [`RelevanceIndex::rank_into`] does, each as its place in the listing, with
    /// the nearness of each candidate of the host's retriever, if there is one.
    pub(super) fn rank_into(
        &self,
        message: &str,
        nearness: Option<(&[f32], Levels)>,
        limit: usize,
        ranked: &mut Vec<(u32, Relevance)>,
    ) {
        self.relevance().rank_with(message, self.among(), nearness, limit, ranked);
        if let Some(shown) = &self.shown {
            for (place, _) in ranked.iter_mut() {
                *place = shown.places[*place as usize];
            }
        }
    }

    /// Tells whether a trigger or a name of some skill stands in a text.
    pub(super) fn decides(&self, text: &str) -> bool {
        let (query, parts) = (Query::from(text), Parts::of(text));
        let selection = Selection { limit: 1, ..Selection::default() };
        let answer = self.index.select_in(&query, &parts, self.among(), &selection);
        answer.n_matches > answer.weak.len()
    }

    /// The lexical index of the skills that the model may use, by their places in the listing of the engine.
    /// It is built on first use.
    pub(super) fn relevance(&self) -> &Arc<RelevanceIndex> {
        self.index_relevance(&Reporter::default())
    }

    /// The index of [`Snapshot::relevance`]; building it reports progress.
    pub(super) fn index_relevance(&self, reporter: &Reporter) -> &Arc<RelevanceIndex> {
        self.relevance.get_or_init(|| {
            let skills = self.whole.visible().map(|entry| (&entry.id, &*entry.skill));
            Arc::new(RelevanceIndex::build(skills, self.model.as_ref(), reporter))
        })
    }

    /// The skills for which the host's retriever was prepared. The first call prepares it, which may take long.
    pub(super) fn retrieval(&self, retriever: &dyn Retriever) -> Result<&Retrieval, Error> {
        let prepared = self.retrieval.get_or_init(|| {
            let skills = self.whole.visible();
            let candidates = skills.map(|entry| Candidate::new(&entry.id, &entry.skill)).collect();
            let prepared = Retrieval::prepare(retriever, candidates);
            prepared.map_err(|error| (error.code(), error.message().to_owned()))
        });
        let help = "mend what it reports, and refresh the engine to prepare the retriever again";
        prepared.as_ref().map_err(|(code, message)| Error::new(*code, message, help))
    }

    /// The skills that `query` would match if they could be matched, each with the reason why it cannot.
    pub(super) fn out_of_reach(&self, query: &Query<'_>, options: &IndexOptions) -> Vec<Rejection> {
        let parts = Parts::of(&query.text);
        let find = |index: &Index, among: Option<&PlaceSet>| {
            index.search_in(query, &parts, among, &[], usize::MAX).matches
        };
        let hidden = self.hidden.get_or_init(|| self.index_hidden(options));
        let mut found = hidden.as_ref().map_or_else(Vec::new, |hidden| find(hidden, None));
        if let Some(shown) = &self.shown {
            found.extend(find(&self.index, Some(&shown.others)));
        }
        let reject = |found: Match| Rejection::new(&found.id, self.why_hidden(&found.id));
        found.into_iter().map(reject).collect()
    }

    /// Compiles the index of the skills that exist but cannot be matched for the model.
    fn index_hidden(&self, options: &IndexOptions) -> Option<Index> {
        let catalog = self.whole.catalog();
        let unmatched =
            catalog.entries().filter(|entry| !entry.is_shadowed() && !is_matched(entry));
        let skills: Vec<_> = unmatched.chain(catalog.filtered()).map(indexed).collect();
        if skills.is_empty() {
            return None;
        }
        Index::new(&skills, options)
            .inspect_err(|error| tracing::warn!(%error, "cannot explain skills out of reach"))
            .ok()
    }

    fn why_hidden(&self, id: &SkillId) -> Reason {
        self.catalog.get(id.as_str()).and_then(Reason::of).unwrap_or(Reason::Filtered)
    }
}

/// The skills that a conversation used recently, as far as the ranking of matches considers them.
fn recent(state: &SessionState) -> Vec<SkillId> {
    state.recent().take(MAX_RECENT).cloned().collect()
}

/// The skills that are matched for the model.
fn matched(catalog: &Catalog) -> impl Iterator<Item = &Entry> {
    catalog.entries().filter(|entry| is_matched(entry))
}

fn is_matched(entry: &Entry) -> bool {
    entry.is_available() && entry.is_matched(Audience::Model)
}

fn indexed(entry: &Entry) -> IndexedSkill<'_> {
    IndexedSkill { id: &entry.id, name: entry.skill.name(), triggers: entry.skill.triggers() }
}
