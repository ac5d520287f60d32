//! A sparse map of few numbers out of very many: the items, or the literals, that one text holds.

use super::presence_filter::{N_PLACES, PresenceFilter, place};

/// Numbers with their values, in the order in which they came. A look-up of a number that is not there is
/// answered by a [`PresenceFilter`]; the entries take as much memory as the map holds, not as the index has
/// items, so they stay in the first-level cache.
#[derive(Debug)]
pub(in crate::matcher) struct SparseMap<T> {
    filter: PresenceFilter,
    /// For each place in the filter that has a number, one more than the index of its last entry.
    last: Box<[u32; N_PLACES]>,
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    number: u32,
    /// One more than the place of the entry before with the same place; 0 if there is none.
    before: u32,
    known: T,
}

impl<T> Default for SparseMap<T> {
    fn default() -> SparseMap<T> {
        SparseMap {
            filter: PresenceFilter::default(),
            last: Box::new([0; N_PLACES]),
            entries: Vec::new(),
        }
    }
}

impl<T> SparseMap<T> {
    pub(in crate::matcher) fn clear(&mut self) {
        for entry in &self.entries {
            self.filter.remove(entry.number);
        }
        self.entries.clear();
    }

    pub(in crate::matcher) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(in crate::matcher) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The numbers in the order in which they came.
    pub(in crate::matcher) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.number)
    }

    /// The numbers with their values, in the order in which they were added.
    pub(in crate::matcher) fn entries(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|entry| (entry.number, &entry.known))
    }

    /// The number that was added as the `nth`, from 0, with its value.
    pub(in crate::matcher) fn entry(&self, nth: usize) -> (u32, &T) {
        let Entry { number, known, .. } = &self.entries[nth];
        (*number, known)
    }

    /// The numbers, and perhaps others.
    pub(in crate::matcher) fn filter(&self) -> &PresenceFilter {
        &self.filter
    }

    /// The value of a number.
    pub(in crate::matcher) fn get(&self, number: u32) -> Option<&T> {
        if self.filter.may_have(number) { self.get_present(number) } else { None }
    }

    /// The same of a number that [`SparseMap::filter`] may have.
    pub(in crate::matcher) fn get_present(&self, number: u32) -> Option<&T> {
        self.find(number).map(|nth| &self.entries[nth].known)
    }

    /// Adds a number with its value, if it is not there yet; if it is, returns its value.
    #[inline]
    pub(in crate::matcher) fn note(&mut self, number: u32, known: T) -> Option<&mut T> {
        let mut before = 0;
        if self.filter.may_have(number) {
            if let Some(nth) = self.find_noted(number) {
                return Some(&mut self.entries[nth].known);
            }
            before = self.last[usize::from(place(number))];
        }
        self.filter.add(number);
        self.entries.push(Entry { number, before, known });
        self.last[usize::from(place(number))] = self.entries.len() as u32;
        None
    }

    /// Adds a number with its value, in place of any other.
    pub(in crate::matcher) fn set(&mut self, number: u32, known: T)
    where
        T: Copy,
    {
        if let Some(before) = self.note(number, known) {
            *before = known;
        }
    }

    #[inline(never)] // nearly all that is noted is new
    fn find_noted(&self, number: u32) -> Option<usize> {
        self.find(number)
    }

    /// The index of the entry of a number that [`SparseMap::filter`] may have.
    #[inline]
    fn find(&self, number: u32) -> Option<usize> {
        let mut next = self.last[usize::from(place(number))];
        while let Some(nth) = next.checked_sub(1) {
            let entry = &self.entries[nth as usize];
            if entry.number == number {
                return Some(nth as usize);
            }
            next = entry.before;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_known_once_also_where_many_share_a_place() {
        let mut few = SparseMap::default();
        for n_places in [3, 1, 40] {
            few.clear();
            assert!(few.is_empty());
            let numbers: Vec<u32> =
                (0..120).map(|i| i % n_places * 7 + i / n_places * N_PLACES as u32).collect();
            for &number in &numbers {
                assert_eq!(few.get(number), None, "of {n_places}");
                assert_eq!(few.note(number, 1), None);
            }
            for &number in &numbers {
                *few.note(number, 1).unwrap() += 1;
                few.set(number, few.get(number).unwrap() + number);
            }
            assert!(numbers.iter().all(|&number| few.get(number) == Some(&(2 + number))));
            assert!((few.len(), few.entry(5).0) == (120, numbers[5]));
            assert!(few.numbers().eq(numbers));
        }
    }
}
