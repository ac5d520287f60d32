//! Epoch stamps: the skills visited in one search, with nothing to clear before the next.

/// The number of stamps of one search: visited once, and more often.
const NUMBERS: u32 = 2;

/// The stamps of all skills, kept from search to search.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// The epoch of this search, a multiple of [`NUMBERS`]; a skill stamped with it was visited once, one
    /// stamped with the next number more often.
    search: u32,
    stamps: Vec<u32>,
}

/// A view for visiting skills in one search.
#[derive(Debug)]
pub(super) struct Visitor<'v> {
    search: u32,
    stamps: &'v mut [u32],
}

impl Epochs {
    /// Starts a search over `n_skills` skills.
    pub(super) fn start(&mut self, n_skills: usize) {
        self.search = self.search.wrapping_add(NUMBERS);
        if self.stamps.len() != n_skills || self.search == 0 {
            self.stamps.clear();
            self.stamps.resize(n_skills, 0);
            self.search = NUMBERS;
        }
    }

    /// Tells whether a skill was visited.
    pub(super) fn has(&self, skill: u32) -> bool {
        self.stamps[skill as usize] >= self.search
    }

    /// Tells whether a skill was visited once.
    pub(super) fn has_once(&self, skill: u32) -> bool {
        self.stamps[skill as usize] == self.search
    }

    /// A view for visiting the skills of this search.
    pub(super) fn visitor(&mut self) -> Visitor<'_> {
        Visitor { search: self.search, stamps: &mut self.stamps }
    }
}

impl Visitor<'_> {
    /// Epochs a skill, if it was not yet, and returns whether it did.
    pub(super) fn visit(&mut self, skill: u32) -> bool {
        let stamp = &mut self.stamps[skill as usize];
        let is_first = *stamp < self.search;
        if is_first {
            *stamp = self.search;
        }
        is_first
    }

    /// Epochs a skill that was visited, and returns whether it was only once.
    pub(super) fn visit_again(&mut self, skill: u32) -> bool {
        let stamp = &mut self.stamps[skill as usize];
        std::mem::replace(stamp, self.search + 1) == self.search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_begins_with_no_visits_also_when_its_number_starts_anew() {
        for search in [0, 8, u32::MAX - 2 * NUMBERS + 1, u32::MAX - NUMBERS + 1] {
            let mut epochs = Epochs::default();
            epochs.start(4);
            epochs.search = search;
            for _ in 0..3 {
                epochs.start(4);
                assert!((0..4).all(|skill| !epochs.has(skill)), "{search}");
                let mut visitor = epochs.visitor();
                assert_eq!(
                    [0, 1, 2, 1, 2].map(|of| visitor.visit(of)),
                    [true, true, true, false, false]
                );
                assert_eq!([1, 2, 2].map(|of| visitor.visit_again(of)), [true, true, false]);
                assert!(!visitor.visit(1));
                assert_eq!([0, 1, 2, 3].map(|of| epochs.has(of)), [true, true, true, false]);
                assert_eq!([0, 1, 2, 3].map(|of| epochs.has_once(of)), [true, false, false, false]);
            }
        }
    }
}
