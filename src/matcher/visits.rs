//! How often skills were visited in one search.

/// How many numbers a search has for how often a skill was visited.
const NUMBERS: u32 = 4;

/// Stamps of skills, kept from search to search: nothing has to be cleared.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// Which search this is, a multiple of [`NUMBERS`]; a skill stamped with it was visited, one
    /// stamped with the next number more than once, and one with the number after that is done.
    search: u32,
    stamps: Vec<u32>,
}

/// How often a skill was visited while all were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visited {
    Once,
    More,
    Done,
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

    pub(super) fn has(&self, skill: u32) -> bool {
        self.stamps[skill as usize] >= self.search
    }

    pub(super) fn add(&mut self, skill: u32) {
        let stamp = &mut self.stamps[skill as usize];
        *stamp = (*stamp).max(self.search);
    }

    /// Visits each of `skills` once more.
    pub(super) fn add_again(&mut self, skills: &[u32]) {
        for &skill in skills {
            let stamp = &mut self.stamps[skill as usize];
            let is_second = *stamp == self.search;
            *stamp = (*stamp).max(self.search) + u32::from(is_second);
        }
    }

    /// Has a skill visited more than once, whatever comes.
    pub(super) fn add_twice(&mut self, skill: u32) {
        let stamp = &mut self.stamps[skill as usize];
        *stamp = (*stamp).max(self.search + 1);
    }

    /// Tells of a skill that was visited how often it was; with more than one visit it is done then.
    pub(super) fn taking(&mut self) -> impl FnMut(u32) -> Visited {
        let (search, stamps) = (self.search, self.stamps.as_mut_slice());
        move |skill| {
            let stamp = &mut stamps[skill as usize];
            match *stamp - search {
                0 => Visited::Once,
                1 => {
                    *stamp += 1;
                    Visited::More
                }
                _ => Visited::Done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_begins_with_no_visits_also_when_its_number_starts_anew() {
        let mut visits = Visits::default();
        for search in [0, 8, u32::MAX - 2 * NUMBERS + 1, u32::MAX - NUMBERS + 1] {
            visits.search = search;
            for _ in 0..3 {
                visits.start(5);
                assert!((0..5).all(|skill| !visits.has(skill)), "{search}");
                visits.add(0);
                visits.add_again(&[0, 1, 2, 1, 2, 2, 3]);
                visits.add_twice(3);
                visits.add_twice(4);
                let mut take = visits.taking();
                assert_eq!([0, 1, 2, 3, 4].map(&mut take), [Visited::More; 5]);
                assert_eq!([0, 4].map(&mut take), [Visited::Done; 2]);
                drop(take);
                visits.start(5);
                visits.add_again(&[2]);
                assert!(visits.has(2) && !visits.has(0));
                assert_eq!(visits.taking()(2), Visited::Once);
            }
        }
    }
}
