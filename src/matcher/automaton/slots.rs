//! The slots of the double array while states are placed.

use super::{MAX_SLOTS, N_SYMBOLS};

/// The most slots tried for a node with several children.
const MAX_TRIES: usize = 48;

/// The slots and bases that are taken.
pub(super) struct Slots {
    /// A bit for each slot, and for each base.
    taken: Vec<u64>,
    bases: Vec<u64>,
    /// No slot before this one is free, or worth a try.
    first: usize,
    /// The end of the last block that has a slot taken.
    end: usize,
}

fn has(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
}

fn set(bits: &mut Vec<u64>, at: usize) {
    if bits.len() <= at / 64 {
        bits.resize(at / 64 * 2 + 64, 0);
    }
    bits[at / 64] |= 1 << (at % 64);
}

impl Slots {
    /// All slots free, except the first block, whose first slot is the root's.
    pub(super) fn new() -> Slots {
        let taken = vec![u64::MAX; N_SYMBOLS / 64];
        Slots { taken, bases: Vec::new(), first: N_SYMBOLS, end: N_SYMBOLS }
    }

    /// The end of all slots that are taken.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Takes a base with free slots for children with these `labels`; `None` if there are too many states.
    pub(super) fn take_for(&mut self, labels: &[u8]) -> Option<u32> {
        let base = self.find(labels);
        self.take(base, labels);
        (self.end < MAX_SLOTS).then_some(base as u32)
    }

    /// Takes `base`, and its slots for `labels`.
    pub(super) fn take(&mut self, base: usize, labels: &[u8]) {
        set(&mut self.bases, base);
        for &label in labels {
            let slot = base ^ label as usize;
            set(&mut self.taken, slot);
            self.end = self.end.max((slot | (N_SYMBOLS - 1)) + 1);
        }
    }

    fn find(&mut self, labels: &[u8]) -> usize {
        let Some(&first) = labels.first() else { return self.end };
        let mut slot = self.free(self.first);
        self.first = slot;
        for _ in 0..MAX_TRIES {
            let base = slot ^ first as usize;
            let is_free = |&label: &u8| !has(&self.taken, base ^ label as usize);
            if base >= N_SYMBOLS && !has(&self.bases, base) && labels.iter().all(is_free) {
                return base;
            }
            slot = self.free(slot + 1);
        }
        if labels.len() > 1 {
            return self.end;
        }
        // After this many tries, the free slots passed are given up.
        self.first = slot;
        while has(&self.bases, slot ^ first as usize) {
            slot = self.free(slot + 1);
        }
        slot ^ first as usize
    }

    /// The first free slot from `at`.
    fn free(&self, mut at: usize) -> usize {
        loop {
            let Some(bits) = self.taken.get(at / 64) else { return at };
            let free = !bits >> (at % 64);
            if free != 0 {
                return at + free.trailing_zeros() as usize;
            }
            at = (at / 64 + 1) * 64;
        }
    }
}
