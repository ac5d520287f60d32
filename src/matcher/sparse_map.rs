//! A sparse map (Briggs and Torczon, *An efficient representation for sparse sets*, 1993).

/// A map of few numbers out of many: the literals, items or skills that one text contains. Emptying it
/// takes constant time. Reused from query to query.
#[derive(Debug)]
pub(in crate::matcher) struct SparseMap<T> {
    /// For each number that is in the map, the index of its entry; anything for the others.
    indices: Vec<u32>,
    entries: Vec<(u32, T)>,
}

impl<T> Default for SparseMap<T> {
    fn default() -> SparseMap<T> {
        SparseMap { indices: Vec::new(), entries: Vec::new() }
    }
}

impl<T> SparseMap<T> {
    /// Empties the map, and makes room for the numbers below `n_numbers`.
    pub(in crate::matcher) fn start(&mut self, n_numbers: usize) {
        self.entries.clear();
        if self.indices.len() < n_numbers {
            // Zeroed memory costs nothing until it is used, and a hook process uses little of it.
            self.indices = vec![0; n_numbers];
        }
    }

    #[inline]
    fn index(&self, number: u32) -> Option<usize> {
        let index = self.indices[number as usize] as usize;
        self.entries.get(index).is_some_and(|entry| entry.0 == number).then_some(index)
    }

    /// Returns the value of a number.
    #[inline]
    pub(in crate::matcher) fn get(&self, number: u32) -> Option<&T> {
        self.index(number).map(|index| &self.entries[index].1)
    }

    /// Returns the value of a number, to change it.
    pub(in crate::matcher) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.index(number).map(|index| &mut self.entries[index].1)
    }

    /// Adds a number with its value and returns `None`. If the number is there already, returns its
    /// value instead.
    #[inline]
    pub(in crate::matcher) fn add(&mut self, number: u32, value: T) -> Option<&mut T> {
        if let Some(index) = self.index(number) {
            return Some(&mut self.entries[index].1);
        }
        self.indices[number as usize] = self.entries.len() as u32;
        self.entries.push((number, value));
        None
    }

    /// The numbers with their values, in the order in which they were added.
    pub(in crate::matcher) fn entries(&self) -> &[(u32, T)] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_one_text_is_in_the_next() {
        let mut map = SparseMap::default();
        for n_numbers in [8, 3, 20] {
            map.start(n_numbers);
            let numbers = (0..n_numbers as u32).rev().step_by(2);
            assert!((0..n_numbers as u32).all(|number| map.get(number).is_none()));
            for number in numbers.clone() {
                assert_eq!(map.add(number, 1), None);
                *map.add(number, 1).unwrap() += number;
                *map.get_mut(number).unwrap() += 1;
            }
            assert!(map.entries().iter().copied().eq(numbers.map(|number| (number, number + 2))));
        }
        assert_eq!((map.get(19), map.get(18)), (Some(&21), None));
    }
}
