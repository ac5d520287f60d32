//! Texts to vectors by a table: the sum of the rows of their pieces.

use crate::compact::dot;
use crate::layout::MAX_DIMENSIONS;
use crate::pieces::{UNKNOWN, pieces};
use crate::scratch::Scratch;
use crate::table::Table;
use crate::vector::{Contribution, Vector, bounded, shares, unit};

impl Table {
    /// Returns the vector of the first [`MAX_TEXT`](crate::MAX_TEXT) bytes of a text: the sum of the rows of its pieces,
    /// brought to length 1.
    pub fn vector(&self, text: &str, scratch: &mut Scratch) -> Vector {
        let mut sum = [0.0; MAX_DIMENSIONS];
        pieces(self.vocabulary(), bounded(text), &mut scratch.pieces, |piece| {
            self.add(piece.row, &mut sum);
        });
        Vector::new(&unit(sum), self.dimensions())
    }

    /// Returns the words of a text with what each adds to the cosine of its vector and `other`, the
    /// largest share first. Parts of a word count as the word; a word that occurs twice is in the list
    /// twice.
    pub fn contributions(
        &self,
        text: &str,
        other: &Vector,
        scratch: &mut Scratch,
    ) -> Vec<Contribution> {
        let mut sum = [0.0; MAX_DIMENSIONS];
        let mut words = Vec::new();
        pieces(self.vocabulary(), bounded(text), &mut scratch.pieces, |piece| {
            let mut row = [0.0; MAX_DIMENSIONS];
            self.add(piece.row, &mut row);
            for (sum, row) in sum.iter_mut().zip(&row) {
                *sum += row;
            }
            let share = dot(&row, other.values());
            if piece.row == UNKNOWN {
                return;
            }
            words.push(Contribution { range: piece.range, share });
        });
        shares(words, &sum)
    }

    /// Adds a row, in units of its scale.
    fn add(&self, row: u32, sum: &mut [f32; MAX_DIMENSIONS]) {
        let Some((scale, values)) = self.row(row) else { return };
        if self.header().bits == 8 {
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += scale * f32::from(value.cast_signed());
            }
            return;
        }
        // Byte i holds dimension i and dimension i of the second half, so that both halves are read in
        // order.
        let (low, high) = sum.split_at_mut(values.len());
        for ((low, high), value) in low.iter_mut().zip(high).zip(values) {
            *low += scale * (f32::from(value & 15) - 8.0);
            *high += scale * (f32::from(value >> 4) - 8.0);
        }
    }
}
