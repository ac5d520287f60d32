//! The lower bounds: a bare scan for the literals of a catalog, and case folding alone.

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use repertoire::Skill;

/// The lower bound for this design: one contiguous automaton over the keywords, verbs, names and
/// literal parts of patterns, which is walked to count the hits and nothing else.
pub(crate) struct BareScan(NFA);

impl BareScan {
    pub(crate) fn new(skills: &[Skill]) -> BareScan {
        let mut literals: Vec<String> = skills.iter().flat_map(literals).collect();
        literals.sort_unstable();
        literals.dedup();
        let nfa = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(&literals);
        BareScan(nfa.unwrap())
    }

    /// Folds `query`, in which only ASCII letters may be upper case, and counts the hits.
    pub(crate) fn count(&self, query: &str, folded: &mut Vec<u8>) -> usize {
        fold(query, folded);
        let Ok(mut state) = self.0.start_state(Anchored::No) else { return 0 };
        let mut count = 0;
        for &byte in &*folded {
            state = self.0.next_state(Anchored::No, state, byte);
            if self.0.is_special(state) && self.0.is_match(state) {
                count += self.0.match_len(state);
            }
        }
        count
    }

    /// Returns the same count, computed by aho-corasick's own search.
    pub(crate) fn expected_count(&self, query: &str) -> usize {
        let mut folded = Vec::new();
        fold(query, &mut folded);
        let mut state = aho_corasick::automaton::OverlappingState::start();
        let input = aho_corasick::Input::new(&folded);
        let mut count = 0;
        loop {
            self.0.try_find_overlapping(&input, &mut state).unwrap();
            if state.get_match().is_none() {
                return count;
            }
            count += 1;
        }
    }
}

/// Folds only: one pass that copies the query in lower case.
pub(crate) fn fold(query: &str, folded: &mut Vec<u8>) {
    folded.clear();
    folded.extend(query.bytes().map(|byte| byte.to_ascii_lowercase()));
}

fn literals(skill: &Skill) -> Vec<String> {
    let triggers = skill.triggers();
    let declared = triggers.keywords.iter().chain(&triggers.verbs).map(|t| t.value.to_lowercase());
    // The words in a pattern stand in for its required literals.
    let of_patterns = triggers.patterns.iter().flat_map(|t| {
        let words = t.value.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| w.len() > 3);
        words.map(str::to_lowercase).collect::<Vec<_>>()
    });
    declared
        .chain([skill.name().replace('-', " "), skill.name().to_owned()])
        .chain(of_patterns)
        .collect()
}
