//! How often skills were visited in one search.

/// How many numbers a search has for how often a skill was visited.
const NUMBERS: u32 = 2;

/// Stamps of skills, kept from search to search: nothing has to be cleared.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// Which search this is, a multiple of [`NUMBERS`]; a skill stamped with it was visited once, one
    /// stamped with the next number more often.
    search: u32,
    stamps: Vec<u32>,
}

/// Visits of the skills of one search.
#[derive(Debug)]
pub(super) struct Visitor<'v> {
    search: u32,
    stamps: &'v mut [u32],
}

impl Visits {
    /// Starts a search, of so many skills.
    pub(super) fn start(&mut self, n_skills: usize) {
        self.search = self.search.wrapping_add(NUMBERS);
        if self.stamps.len() != n_skills || self.search == 0 {
            self.stamps.clear();
            self.stamps.resize(n_skills, 0);
            self.search = NUMBERS;
        }
    }

    /// Whether a skill was visited.
    pub(super) fn has(&self, skill: u32) -> bool {
        self.stamps[skill as usize] >= self.search
    }

    /// Whether a skill was visited once.
    pub(super) fn has_once(&self, skill: u32) -> bool {
        self.stamps[skill as usize] == self.search
    }

    /// What visits the skills of this search.
    pub(super) fn visitor(&mut self) -> Visitor<'_> {
        Visitor { search: self.search, stamps: &mut self.stamps }
    }
}

impl Visitor<'_> {
    /// Visits a skill, if it was not yet, and returns whether it did.
    pub(super) fn visit(&mut self, skill: u32) -> bool {
        let stamp = &mut self.stamps[skill as usize];
        let is_first = *stamp < self.search;
        if is_first {
            *stamp = self.search;
        }
        is_first
    }

    /// Visits a skill that was visited, and returns whether it was only once.
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
            let mut visits = Visits::default();
            visits.start(4);
            visits.search = search;
            for _ in 0..3 {
                visits.start(4);
                assert!((0..4).all(|skill| !visits.has(skill)), "{search}");
                let mut visitor = visits.visitor();
                assert_eq!(
                    [0, 1, 2, 1, 2].map(|of| visitor.visit(of)),
                    [true, true, true, false, false]
                );
                assert_eq!([1, 2, 2].map(|of| visitor.visit_again(of)), [true, true, false]);
                assert!(!visitor.visit(1));
                assert_eq!([0, 1, 2, 3].map(|of| visits.has(of)), [true, true, true, false]);
                assert_eq!([0, 1, 2, 3].map(|of| visits.has_once(of)), [true, false, false, false]);
            }
        }
    }
}
