//! Meaning: how near the skills of a catalog are to a message, by a table of word pieces (the crate
//! `repertoire-meaning`). It finds skills for people who do not know their words.
//!
//! A skill has a vector for what it says of itself and a few for its body (`parts.rs`). Its nearness is the
//! mean of the cosines of the first and of the best of the others. What a nearness is worth depends on the
//! table and on the catalog, so its levels are measured when a catalog is compiled (`levels.rs`).

mod levels;
mod parts;

use std::convert::Infallible;
use std::sync::Arc;

use repertoire_meaning::{Compact, Scratch, Table};
#[cfg(feature = "snapshot")]
use serde::{Deserialize, Serialize};

pub use levels::Levels;
pub(super) use parts::vectors;

/// The vectors of a catalog's skills, and the levels of their nearness.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    table: Arc<Table>,
    vectors: Vectors,
    levels: Levels,
}

/// Vectors of skills.
#[derive(Debug, Clone, Default, PartialEq)]
struct Vectors {
    /// The number of the first vector of each skill, and the number of all.
    starts: Vec<u32>,
    /// The vectors of all skills, one after the other.
    bytes: Arc<[u8]>,
}

/// The meaning of a catalog as a snapshot holds it.
#[cfg(feature = "snapshot")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written<'b> {
    fingerprint: u64,
    levels: Levels,
    starts: Vec<u32>,
    #[serde(serialize_with = "super::index::as_bytes")]
    bytes: &'b [u8],
}

impl Meaning {
    /// The meaning of skills with these vectors, each skill's in the order of [`vectors`].
    pub(super) fn new(table: &Arc<Table>, skills: &[Vec<Compact>]) -> Meaning {
        let vectors = Vectors::new(skills);
        let meaning = Meaning { table: Arc::clone(table), vectors, levels: Levels::default() };
        let mut scratch = Scratch::default();
        let levels = Levels::measured(1, |message, nearness| {
            meaning.measure(message, &mut scratch, nearness);
            Ok::<(), Infallible>(())
        });
        Meaning { levels: levels.unwrap_or_default(), ..meaning }
    }

    /// The meaning of the same skills, one of them with other vectors. The levels stay as they are.
    pub(super) fn with_skill(&self, skill: u32, vectors: &[Compact]) -> Meaning {
        let mut skills: Vec<Vec<Compact>> =
            (0..self.vectors.n_skills()).map(|skill| self.of_skill(skill)).collect();
        if let Some(changed) = skills.get_mut(skill as usize) {
            *changed = vectors.to_vec();
        }
        Meaning { vectors: Vectors::new(&skills), ..self.clone() }
    }

    /// Returns the vectors of a skill.
    pub(super) fn of_skill(&self, skill: u32) -> Vec<Compact> {
        let vectors = self.vectors.of(skill, self.table.dimensions());
        vectors.filter_map(Compact::from_bytes).collect()
    }

    pub(super) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    pub(super) fn levels(&self) -> Levels {
        self.levels
    }

    /// Replaces `nearness` with how near each skill is to a message, from -1 to 1.
    pub(super) fn measure(&self, message: &str, scratch: &mut Scratch, nearness: &mut Vec<f32>) {
        nearness.clear();
        let vector = self.table.vector(message, scratch);
        let query = vector.query();
        let dimensions = self.table.dimensions();
        for skill in 0..self.vectors.n_skills() {
            let mut cosines = self.vectors.of(skill, dimensions).map(|bytes| query.cosine(bytes));
            let head = cosines.next().unwrap_or_default();
            let body = cosines.reduce(f32::max);
            nearness.push(body.map_or(head, |body| f32::midpoint(head, body)));
        }
    }

    #[cfg(feature = "snapshot")]
    pub(super) fn written(&self) -> Written<'_> {
        let Meaning { table, vectors: Vectors { starts, bytes }, levels } = self;
        let fingerprint = table.fingerprint();
        Written { fingerprint, levels: *levels, starts: starts.clone(), bytes }
    }

    /// Reads the meaning of `n_skills` skills that [`Meaning::written`] wrote; `None` if it was made with
    /// another table, or the data cannot be that.
    #[cfg(feature = "snapshot")]
    pub(super) fn read(
        written: Written<'_>,
        table: &Arc<Table>,
        n_skills: usize,
    ) -> Option<Meaning> {
        let Written { fingerprint, levels, starts, bytes } = written;
        let is_sound = fingerprint == table.fingerprint()
            && starts.len() == n_skills + 1
            && starts.is_sorted();
        let vectors = Vectors { starts, bytes: bytes.into() };
        is_sound.then(|| Meaning { table: Arc::clone(table), vectors, levels })
    }
}

impl Vectors {
    fn new(skills: &[Vec<Compact>]) -> Vectors {
        let mut starts = vec![0];
        let mut bytes = Vec::new();
        for skill in skills {
            starts.push(starts.last().copied().unwrap_or_default() + skill.len() as u32);
            bytes.extend(skill.iter().flat_map(Compact::as_bytes));
        }
        Vectors { starts, bytes: bytes.into() }
    }

    fn n_skills(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// Returns the vectors of a skill.
    fn of(&self, skill: u32, dimensions: usize) -> impl Iterator<Item = &[u8]> {
        let place = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize * dimensions);
        let range = place(skill as usize)..place(skill as usize + 1);
        self.bytes.get(range).unwrap_or_default().chunks_exact(dimensions.max(1))
    }
}
