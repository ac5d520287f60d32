//! A set of entries, with a bit for each of their places.

/// A set of the places of entries, or of skills in the order of ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlaceSet {
    words: Vec<u64>,
}

impl PlaceSet {
    /// The set of the places below `n_places` that `has` selects.
    pub(crate) fn of(n_places: usize, has: impl Fn(usize) -> bool) -> PlaceSet {
        let mut words = vec![0; n_places.div_ceil(64)];
        for place in (0..n_places).filter(|place| has(*place)) {
            words[place / 64] |= 1 << (place % 64);
        }
        PlaceSet { words }
    }

    /// Tells whether a place is in the set.
    pub(crate) fn has(&self, place: usize) -> bool {
        let word = self.words.get(place / 64);
        word.is_some_and(|word| word >> (place % 64) & 1 != 0)
    }
}
