//! Meaning: how near the skills of a catalog are to a message, by a table of word pieces or a sentence transformer (the
//! crate `repertoire-meaning`). It finds skills for people who do not know their words.
//!
//! A skill has one vector, midway between that of what it says of itself and that of the start of its body
//! (`parts.rs`). What a cosine means depends on the model and on the catalog, so its levels are measured when a
//! catalog is compiled (`levels.rs`).

mod levels;
mod parts;

use std::convert::Infallible;
use std::sync::Arc;

use repertoire_meaning::{Compact, Model, Query, Scratch, Vector, Vectors};
#[cfg(feature = "snapshot")]
use serde::{Deserialize, Serialize};

use crate::matcher::parallel::in_parallel;
pub use levels::Levels;
pub(super) use parts::{vector, vectors};

/// The minimum number of skills that are ranked by their meaning, too. Fewer fit into the lines, and one of them is
/// near to most messages.
pub(super) const MIN_SKILLS: usize = 6;

/// The minimum number of skills whose nearness is part of their worth. One of fewer is near to many messages, so there
/// nearness only brings lines.
pub(super) const MIN_SUMMED: usize = 12;

/// Returns the model by which a catalog of `n_skills` skills is ranked, if there are enough of them.
pub(super) fn model_for(model: Option<&Arc<Model>>, n_skills: usize) -> Option<&Arc<Model>> {
    model.filter(|_| n_skills >= MIN_SKILLS)
}

/// The number of skills up to which all cosines are exact. In a larger catalog, the others are estimated.
const EXACT: usize = 1_000;

/// The number of the nearest skills of a larger catalog, by estimate, whose cosines are made exact.
const MADE_EXACT: usize = 200;

/// The vectors of a catalog's skills, and the levels of their cosines.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    model: Arc<Model>,
    /// The vectors as [`Vectors`] packs them, in the order of the skills.
    packed: Arc<[u8]>,
    levels: Levels,
    /// The vectors of the messages by which levels are measured, if the model is slow, as `packed` has those of skills.
    foreign: Arc<[u8]>,
}

/// The nearness of the skills to one message, and the working memory to measure it.
#[derive(Debug, Default)]
pub(super) struct Nearness {
    /// The nearness of each skill, in the order of ids.
    pub(super) values: Vec<f32>,
    best: Vec<f32>,
    pub(super) scratch: Scratch,
}

/// The meaning of a catalog as a snapshot holds it.
#[cfg(feature = "snapshot")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written<'b> {
    fingerprint: u64,
    levels: Levels,
    #[serde(serialize_with = "crate::matcher::relevance::bytes::as_bytes")]
    packed: &'b [u8],
    #[serde(serialize_with = "crate::matcher::relevance::bytes::as_bytes")]
    foreign: &'b [u8],
}

impl Meaning {
    /// The meaning of skills with these vectors, of the same model as those `before`. Measures the levels.
    pub(super) fn new(model: &Arc<Model>, skills: &[Compact], before: Option<&Meaning>) -> Meaning {
        let packed = Vectors::pack(skills).into();
        let levels = Levels::default();
        let foreign = match before {
            Some(before) => Arc::clone(&before.foreign),
            None if model.is_slow() => foreign_vectors(model).into(),
            None => Arc::default(),
        };
        let meaning = Meaning { model: Arc::clone(model), packed, levels, foreign };
        let known = Vectors::new(&meaning.foreign, model.dimensions());
        let mut known = (0..).map_while(|message| known?.get(message));
        let mut nearness = Nearness::default();
        let levels = Levels::measured(1, |message, scores| {
            let known = known.next().map(|vector| Vector::from_compact(vector.as_bytes()).query());
            let query = known.unwrap_or_else(|| meaning.query(message, &mut nearness.scratch));
            meaning.measure_query(&query, &mut nearness);
            scores.clone_from(&nearness.values);
            Ok::<(), Infallible>(())
        });
        Meaning { levels: levels.unwrap_or_default(), ..meaning }
    }

    fn query(&self, message: &str, scratch: &mut Scratch) -> Query {
        self.model.query_vector(message, scratch).query()
    }

    /// The meaning of the same skills, one of them with another vector. The levels stay as they are.
    pub(super) fn with_skill(&self, skill: u32, vector: &Compact) -> Meaning {
        let others = (0..self.n_skills()).map(|other| self.of_skill(other as u32));
        let mut skills: Vec<Compact> = others.flatten().collect();
        if let Some(changed) = skills.get_mut(skill as usize) {
            *changed = *vector;
        }
        Meaning { packed: Vectors::pack(&skills).into(), ..self.clone() }
    }

    fn vectors(&self) -> Option<Vectors<'_>> {
        Vectors::new(&self.packed, self.model.dimensions())
    }

    fn n_skills(&self) -> usize {
        self.vectors().map_or(0, |vectors| vectors.len())
    }

    /// Returns the vector of a skill.
    pub(super) fn of_skill(&self, skill: u32) -> Option<Compact> {
        self.vectors()?.get(skill as usize)
    }

    pub(super) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub(super) fn levels(&self) -> Levels {
        self.levels
    }

    /// Measures how near each skill is to a message: its cosine, from -1 to 1.
    pub(super) fn measure(&self, message: &str, nearness: &mut Nearness) {
        let query = self.query(message, &mut nearness.scratch);
        self.measure_query(&query, nearness);
    }

    fn measure_query(&self, query: &Query, nearness: &mut Nearness) {
        let Nearness { values, best, .. } = nearness;
        values.clear();
        let Some(vectors) = self.vectors() else { return };
        if vectors.len() <= EXACT || !self.model.has_ordered_dimensions() {
            values.extend((0..vectors.len()).map(|skill| vectors.cosine(query, skill)));
            return;
        }
        vectors.estimates(query, values);
        best.clone_from(values);
        let (_, least, _) = best.select_nth_unstable_by(MADE_EXACT, |a, b| b.total_cmp(a));
        for (skill, value) in values.iter_mut().enumerate().filter(|(_, of)| **of > *least) {
            *value = vectors.cosine(query, skill);
        }
    }

    #[cfg(feature = "snapshot")]
    pub(super) fn written(&self) -> Written<'_> {
        let Meaning { model, packed, levels, foreign } = self;
        Written { fingerprint: model.fingerprint(), levels: *levels, packed, foreign }
    }

    /// Reads the meaning of `n_skills` skills that [`Meaning::written`] wrote; `None` if it was made with
    /// another model, or the data cannot be that.
    #[cfg(feature = "snapshot")]
    pub(super) fn read(
        written: &Written<'_>,
        model: &Arc<Model>,
        n_skills: usize,
    ) -> Option<Meaning> {
        let Written { fingerprint, levels, packed, foreign } = *written;
        let (packed, foreign) = (packed.into(), foreign.into());
        let meaning = Meaning { model: Arc::clone(model), packed, levels, foreign };
        let is_sound = fingerprint == model.fingerprint() && meaning.n_skills() == n_skills;
        is_sound.then_some(meaning)
    }
}

/// Returns the vectors of the messages for no skill, packed in their order.
fn foreign_vectors(model: &Model) -> Vec<u8> {
    let messages: Vec<&str> = levels::foreign().flatten().collect();
    let vectors = in_parallel(&messages, 1, |messages| {
        let mut scratch = Scratch::default();
        let vector = |message: &&str| model.query_vector(message, &mut scratch).compact();
        messages.iter().map(vector).collect()
    });
    Vectors::pack(&vectors)
}
