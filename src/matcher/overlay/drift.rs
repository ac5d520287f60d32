//! By how many skills more, or fewer, things are declared than when the base was compiled.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::declared::Declared;

/// A part with more things than this is left as it is: each change copies the newest part, and must
/// not take longer the more has changed before.
const MAX_NEWEST: usize = 512;

/// Counts of what skills declare, shared with the indexes before and after but for a small part.
#[derive(Debug, Clone, Default)]
pub(super) struct Drift {
    /// What it is counts together, the newest part last.
    parts: Vec<Arc<HashMap<Declared, i32>>>,
}

impl Drift {
    /// Counts what one skill declares in, or out.
    pub(super) fn add(&mut self, by: i32, of: &BTreeSet<Declared>) {
        let has_room = |newest: &Arc<HashMap<_, _>>| {
            // What nobody else has is not copied.
            newest.len() < MAX_NEWEST || Arc::strong_count(newest) == 1
        };
        let has_room = self.parts.last().is_some_and(has_room);
        if !has_room {
            self.parts.push(Arc::default());
        }
        let Some(newest) = self.parts.last_mut() else { return };
        let newest = Arc::make_mut(newest);
        for declared in of {
            *newest.entry(declared.clone()).or_default() += by;
        }
    }

    /// By how many skills more something is declared; fewer, if it is negative.
    pub(super) fn of(&self, declared: &Declared) -> i32 {
        self.parts.iter().filter_map(|part| part.get(declared)).sum()
    }

    /// Puts all parts together, which takes time for all that changed.
    pub(super) fn merge(&mut self) {
        let mut merged = HashMap::new();
        for (declared, by) in self.parts.iter().flat_map(|part| part.iter()) {
            *merged.entry(declared.clone()).or_default() += by;
        }
        merged.retain(|_, by| *by != 0);
        self.parts = vec![Arc::new(merged)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_same_in_many_parts_and_merged() {
        let thing = |i: usize| Declared::Literal(format!("word{i}"));
        let mut drift = Drift::default();
        let mut before = Vec::new();
        for i in 0..1_000 {
            before.push(drift.clone());
            drift.add(1, &(i..i + 3).map(thing).collect());
            drift.add(-1, &[thing(i)].into());
        }
        assert!((2..20).contains(&drift.parts.len()), "{}", drift.parts.len());
        let parts = drift.parts.iter();
        assert!(parts.clone().all(|part| part.len() < MAX_NEWEST + 3), "each change copies little");
        let counts = |drift: &Drift| (0..1_003).map(|i| drift.of(&thing(i))).collect::<Vec<_>>();
        let expected = counts(&drift);
        assert_eq!([expected[0], expected[1], expected[500], expected[1_001]], [0, 1, 2, 1]);
        drift.merge();
        assert_eq!((counts(&drift), drift.parts.len()), (expected, 1));
        assert_eq!(before[500].of(&thing(600)), 0, "who has the old counts sees no change");
    }

    #[test]
    fn what_nobody_else_has_stays_one_part() {
        let mut drift = Drift::default();
        for i in 0..3 * MAX_NEWEST {
            drift.add(1, &[Declared::Pattern(i.to_string())].into());
        }
        assert_eq!(drift.parts.len(), 1);
    }
}
