//! What became of the skills of a compiled index since: which are gone, and by how many skills of
//! the whole catalog each of its items is declared now.

use std::sync::Arc;

use super::super::index::Index;

/// Rarities are copied so many at a time, when one of them changes: at 100,000 skills a copy of all
/// of them takes longer than all else that a change needs.
const CHUNK: usize = 1024;

/// Changes to an index that stays as it is.
#[derive(Debug, Clone)]
pub(crate) struct Changes {
    /// A bit for each skill.
    gone: Vec<u64>,
    n_gone: usize,
    /// For each item, in chunks that are shared with the changes before and after.
    rarities: Vec<Arc<[u32]>>,
}

impl Changes {
    /// None, as yet.
    pub(super) fn new(index: &Index) -> Changes {
        let items = index.tables.items.chunks(CHUNK);
        Changes {
            gone: vec![0; index.len().div_ceil(64)],
            n_gone: 0,
            rarities: items.map(|items| items.iter().map(|item| item.rarity).collect()).collect(),
        }
    }

    /// How many skills are gone.
    pub(super) fn n_gone(&self) -> usize {
        self.n_gone
    }

    /// Whether a skill is gone.
    pub(crate) fn is_gone(&self, skill: u32) -> bool {
        self.gone[skill as usize / 64] >> (skill % 64) & 1 != 0
    }

    /// Takes the skills that are gone out of a set of skills, which has a bit for each.
    pub(crate) fn take_gone(&self, skills: &mut [u64]) {
        skills.iter_mut().zip(&self.gone).for_each(|(skills, gone)| *skills &= !gone);
    }

    /// How many skills declare an item.
    pub(crate) fn rarity(&self, item: u32) -> u32 {
        self.rarities[item as usize / CHUNK][item as usize % CHUNK]
    }

    /// Takes out a skill that is not gone yet.
    pub(super) fn remove(&mut self, skill: u32) {
        self.gone[skill as usize / 64] |= 1 << (skill % 64);
        self.n_gone += 1;
    }

    pub(super) fn set_rarity(&mut self, item: u32, rarity: u32) {
        if self.rarity(item) != rarity {
            Arc::make_mut(&mut self.rarities[item as usize / CHUNK])[item as usize % CHUNK] =
                rarity;
        }
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let rarities: usize = self.rarities.iter().map(|chunk| size_of_val(&**chunk)).sum();
        self.gone.len() * size_of::<u64>() + rarities
    }
}
