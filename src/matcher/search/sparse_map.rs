//! A sparse map of few numbers out of very many: the items, or the literals, that one text contains. A
//! presence filter of 4,096 entries, small enough to stay in the L1 cache, is consulted before the
//! entries of the map.

/// The number of low bits of a number that give its place in the filter.
pub(in crate::matcher) const PLACE_BITS: u32 = 12;

/// The number of places in the filter.
pub(in crate::matcher) const N_PLACES: usize = 1 << PLACE_BITS;

/// The length of the filter's table: every `u16` is an index into it, so that places read from a
/// snapshot need no check.
const N_NUMBERS: usize = 1 << 16;

/// A filter of the numbers that were added, by their low bits. It may give false positives, never false
/// negatives.
#[derive(Debug)]
pub(in crate::matcher) struct PresenceFilter(Box<[bool; N_NUMBERS]>);

/// Returns the place of a number in the filter, which all numbers with the same low bits share.
#[inline]
pub(in crate::matcher) fn place(number: u32) -> u16 {
    (number as usize % N_PLACES) as u16
}

impl Default for PresenceFilter {
    #[expect(clippy::large_stack_arrays, reason = "never made: the slice is as long")]
    fn default() -> PresenceFilter {
        // Zeroed memory costs nothing until it is touched, and most of this never is.
        let zeros = vec![false; N_NUMBERS].into_boxed_slice().try_into();
        PresenceFilter(zeros.unwrap_or_else(|_| Box::new([false; N_NUMBERS])))
    }
}

impl PresenceFilter {
    pub(in crate::matcher) fn add(&mut self, number: u32) {
        self.0[usize::from(place(number))] = true;
    }

    /// Removes a number, and with it all numbers with the same place. Only for removing all numbers.
    pub(in crate::matcher) fn remove(&mut self, number: u32) {
        self.0[usize::from(place(number))] = false;
    }

    /// Tells whether `number`, or another number with the same place, was added.
    #[inline]
    pub(in crate::matcher) fn may_have(&self, number: u32) -> bool {
        self.has_place(place(number))
    }

    /// Tells whether a number of `place` was added.
    #[inline]
    pub(in crate::matcher) fn has_place(&self, place: u16) -> bool {
        self.0[usize::from(place)]
    }
}

/// A map from numbers to values, in the order in which they were added. A [`PresenceFilter`] answers
/// most look-ups of missing numbers. Memory grows with the entries of the map, not with the items of the
/// index, so that the entries stay in the L1 cache.
#[derive(Debug)]
pub(in crate::matcher) struct SparseMap<T> {
    filter: PresenceFilter,
    /// For each place in the filter that has a number, one more than the index of its last entry in
    /// `entries`.
    last: Box<[u32; N_PLACES]>,
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    number: u32,
    /// One more than the index of the previous entry with the same place; 0 if there is none.
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

    pub(in crate::matcher) fn len(&self) -> usize {
        self.entries.len()
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

    /// The filter of the numbers: it may give false positives, never false negatives.
    pub(in crate::matcher) fn filter(&self) -> &PresenceFilter {
        &self.filter
    }

    /// The value of a number.
    #[inline]
    pub(in crate::matcher) fn get(&self, number: u32) -> Option<&T> {
        let nth = if self.filter.may_have(number) { self.find(number) } else { None };
        nth.map(|nth| &self.entries[nth].known)
    }

    /// Adds a number with its value and returns `None`. If the number is there already, returns its
    /// value instead.
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

    /// Adds a number with its value, or replaces the value of the number.
    pub(in crate::matcher) fn set(&mut self, number: u32, known: T)
    where
        T: Copy,
    {
        if let Some(before) = self.note(number, known) {
            *before = known;
        }
    }

    #[inline(never)] // nearly all numbers are new
    fn find_noted(&self, number: u32) -> Option<usize> {
        self.find(number)
    }

    /// Returns the index of the entry of a number for which [`SparseMap::filter`] is true.
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

/// The literals that occur in a text.
pub(crate) type Occurrences = SparseMap<Occurrence>;

/// The occurrences of a literal in a text, summarised.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Occurrence {
    pub(in crate::matcher) first_end: u32,
    pub(in crate::matcher) last_end: u32,
    /// True if the literal occurs where a word may end.
    pub(in crate::matcher) closed: bool,
    /// True if the literal also occurs at places that were not recorded, each at the end of a longer
    /// literal that had occurred before.
    pub(in crate::matcher) skipped: bool,
}

impl Occurrence {
    /// The summary of one occurrence.
    pub(in crate::matcher) fn new(end: usize, closed: bool) -> Occurrence {
        let end = end as u32;
        Occurrence { first_end: end, last_end: end, closed, skipped: false }
    }

    /// Adds a later occurrence.
    #[inline]
    pub(in crate::matcher) fn add(&mut self, end: usize, closed: bool) {
        self.last_end = end as u32;
        self.closed |= closed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_never_missed_and_most_else_is() {
        let added = [0, 63, 64, 4_095, 70_001, u32::MAX];
        let mut near = PresenceFilter::default();
        for &number in &added {
            near.add(number);
        }
        assert!(added.iter().all(|&number| near.may_have(number)));
        assert!(near.has_place(place(70_001)) && !near.has_place(u16::MAX));
        assert_eq!((0..4_096).filter(|&number| near.may_have(number)).count(), 5);
        for number in added {
            near.remove(number);
        }
        assert!(!(0..4_096).any(|number| near.may_have(number)));
    }

    #[test]
    fn each_number_is_known_once_also_where_many_share_a_place() {
        let mut few = SparseMap::default();
        for n_places in [3, 1, 40] {
            few.clear();
            assert_eq!(few.len(), 0);
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
            assert!(few.entries().map(|(number, _)| number).eq(numbers));
        }
    }
}
