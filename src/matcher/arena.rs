//! Arenas: many texts or many lists in flat buffers, fast to write, to read back and to iterate.

use repertoire_text::rows::Row;
use serde::{Deserialize, Serialize};

/// An arena of texts, stored one after the other.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::matcher) struct Texts {
    text: String,
    /// The start of each text, and the end of the last; empty if there are no texts.
    #[serde(with = "repertoire_text::rows")]
    offsets: Vec<u32>,
}

impl Texts {
    pub(in crate::matcher) fn push(&mut self, text: &str) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.text.push_str(text);
        self.offsets.push(self.text.len() as u32);
    }

    pub(in crate::matcher) fn get(&self, place: u32) -> &str {
        let place = place as usize;
        &self.text[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    pub(in crate::matcher) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Tells whether the deserialised offsets delimit valid texts.
    pub(in crate::matcher) fn is_sound(&self) -> bool {
        self.offsets.is_sorted()
            && self.offsets.iter().all(|&at| self.text.is_char_boundary(at as usize))
    }
}

/// An arena of lists, one for each place from 0 on, stored one after the other.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Row + Serialize", deserialize = "T: Row + Deserialize<'de>"))]
pub(in crate::matcher) struct Lists<T> {
    #[serde(with = "repertoire_text::rows")]
    offsets: Vec<u32>,
    #[serde(with = "repertoire_text::rows")]
    entries: Vec<T>,
}

impl<T: Ord> Lists<T> {
    /// Makes `n_places` lists, each sorted and without duplicates, from entries in any order, each given
    /// with its place.
    pub(in crate::matcher) fn new(mut entries: Vec<(u32, T)>, n_places: usize) -> Lists<T> {
        entries.sort_unstable();
        entries.dedup();
        let mut offsets = vec![0; n_places + 1];
        for &(place, _) in &entries {
            offsets[place as usize + 1] += 1;
        }
        for place in 0..n_places {
            offsets[place + 1] += offsets[place];
        }
        Lists { offsets, entries: entries.into_iter().map(|(_, entry)| entry).collect() }
    }
}

impl<T> Lists<T> {
    pub(in crate::matcher) fn of(&self, place: u32) -> &[T] {
        let place = place as usize;
        &self.entries[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// Tells whether there is a list for each of `n_places`, and all entries are `valid`.
    pub(in crate::matcher) fn is_sound(&self, n_places: usize, valid: impl Fn(&T) -> bool) -> bool {
        self.offsets.len() == n_places + 1
            && self.offsets.is_sorted()
            && self.offsets.last().is_some_and(|&end| end as usize == self.entries.len())
            && self.entries.iter().all(valid)
    }
}
