//! What became of the skills of a compiled index since: which are gone, and by how many skills of
//! the whole catalog each of its items is declared now.

use super::super::index::Index;

/// Changes to an index that stays as it is.
#[derive(Debug, Clone)]
pub(crate) struct Changes {
    /// A bit for each skill.
    gone: Vec<u64>,
    n_gone: usize,
    /// For each item.
    rarities: Vec<u32>,
}

impl Changes {
    /// None, as yet.
    pub(super) fn new(index: &Index) -> Changes {
        Changes {
            gone: vec![0; index.len().div_ceil(64)],
            n_gone: 0,
            rarities: index.tables.items.iter().map(|item| item.rarity).collect(),
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
        self.rarities[item as usize]
    }

    /// Takes out a skill that is not gone yet.
    pub(super) fn remove(&mut self, skill: u32) {
        self.gone[skill as usize / 64] |= 1 << (skill % 64);
        self.n_gone += 1;
    }

    pub(super) fn set_rarity(&mut self, item: u32, rarity: u32) {
        self.rarities[item as usize] = rarity;
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        self.gone.len() * size_of::<u64>() + self.rarities.len() * size_of::<u32>()
    }
}
