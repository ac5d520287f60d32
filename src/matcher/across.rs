//! Where in a text literals may start that are not all letters, digits and `_` of ASCII.
//!
//! Such a literal has a *pivot*, its first byte that is in no run (`split.rs`): the `.` of `data.csv`, the
//! first byte of `部署`. It starts there, or in the run that ends there. So only what stands between
//! runs is looked at, and a run only if its last two bytes and the pivot may be those of a literal.

use serde::{Deserialize, Serialize};

use super::keys::{Filter, Keys, key};
use super::split::{Split, in_run};

/// Literals by their pivots and first bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Across {
    /// A bit for each byte that is a pivot; empty if there are no literals.
    pivots: Vec<u64>,
    /// The pivots of those that start in a run, with one byte before it or two.
    heads: Filter,
    pub(super) keys: Keys,
}

/// The place of the first byte of a literal that is in no run.
pub(super) fn pivot(literal: &str) -> Option<usize> {
    literal.bytes().position(|byte| !in_run(byte))
}

impl Across {
    /// Takes in sorted, distinct `literals` with pivots, the first of which has the place `first`.
    pub(super) fn new(literals: &[&str], first: usize) -> Across {
        if literals.is_empty() {
            return Across::default();
        }
        let mut pivots = vec![0; 4];
        let mut heads = Vec::new();
        for literal in literals {
            let Some(pivot) = pivot(literal) else { continue };
            let byte = usize::from(literal.as_bytes()[pivot]);
            pivots[byte / 64] |= 1_u64 << (byte % 64);
            if pivot > 0 {
                heads.push(key(&literal.as_bytes()[pivot.saturating_sub(2)..=pivot]));
            }
        }
        let heads = Filter::new(heads.len(), heads.iter().copied());
        Across { pivots, heads, keys: Keys::new(literals, first) }
    }

    /// Calls `look` with each place of `text` where one of the literals may start, in order.
    pub(super) fn scan(&self, text: &[u8], runs: &Split, mut look: impl FnMut(usize)) {
        if self.pivots.is_empty() {
            return;
        }
        let mut run = 0..0;
        for next in runs.after(0).chain(std::iter::once(text.len()..text.len())) {
            for at in run.end..next.start {
                let byte = usize::from(text[at]);
                if self.pivots.get(byte / 64).is_none_or(|word| word >> (byte % 64) & 1 == 0) {
                    continue;
                }
                if at == run.end
                    && [1, 2].into_iter().any(|n_before| {
                        n_before <= run.len() && self.heads.has(key(&text[at - n_before..=at]))
                    })
                {
                    run.clone().for_each(&mut look);
                }
                look(at);
            }
            run = next;
        }
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.pivots) + self.heads.memory_usage() + self.keys.memory_usage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_looked_for_wherever_it_stands() {
        let literals = ["a.b", "c++", "data.csv", "é", "ab-c", "-", "x y", "caf\u{e9}", "部署"];
        for literal in literals {
            let across = Across::new(&[literal], 0);
            for text in [
                literal.to_owned(),
                format!("z{literal}"),
                format!("{literal}z"),
                format!("é{literal}é"),
                format!("{}{literal} and {literal}", "word, ".repeat(30)),
                format!("{literal}{literal}"),
            ] {
                let mut runs = Split::default();
                runs.set(&text);
                let mut looks = Vec::new();
                across.scan(text.as_bytes(), &runs, |at| looks.push(at));
                assert!(looks.is_sorted_by(|a, b| a < b), "{looks:?}");
                for (at, _) in text.match_indices(literal) {
                    assert!(looks.contains(&at), "{literal} at {at} of {text}");
                }
            }
        }
    }

    #[test]
    fn little_is_looked_at_where_no_pivot_stands() {
        let across = Across::new(&["c++", "data.csv"], 0);
        let mut runs = Split::default();
        let text = "write data, then run the c. program; data.csv";
        runs.set(text);
        let mut looks = Vec::new();
        across.scan(text.as_bytes(), &runs, |at| looks.push(at));
        assert_eq!(looks, [26, 37, 38, 39, 40, 41]);
    }
}
