//! What is commonly run instead, and the limits of what could be run.

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use regex::{Regex, RegexSet, RegexSetBuilder};
use repertoire::Skill;

/// Every trigger of a skill as a regular expression, the name among them.
fn regexes(skill: &Skill) -> impl Iterator<Item = String> {
    let triggers = skill.triggers();
    let literals = triggers.keywords.iter().chain(&triggers.verbs).map(|t| t.value.clone());
    let literals = literals.map(|text| {
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let left = if word(text.chars().next()) { r"\b" } else { r"(?:^|\W)" };
        let right = if word(text.chars().next_back()) { r"\b" } else { r"(?:\W|$)" };
        format!("(?i){left}{}{right}", regex::escape(&text).replace(' ', r"\s+"))
    });
    let name = format!(r"(?i)\b{}\b", skill.name().replace('-', r"(?:-|\s+)"));
    let patterns = triggers.patterns.iter().map(|t| format!("(?i){}", t.value));
    literals.chain([name]).chain(patterns)
}

/// One compiled regular expression for each trigger, tried skill by skill.
pub(crate) struct RegexLoop(Vec<Vec<Regex>>);

impl RegexLoop {
    pub(crate) fn new(skills: &[Skill]) -> RegexLoop {
        let compile = |skill| regexes(skill).map(|r| Regex::new(&r).unwrap()).collect();
        RegexLoop(skills.iter().map(compile).collect())
    }

    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let matches = |skill: &&Vec<Regex>| skill.iter().any(|regex| regex.is_match(query));
        let places = self.0.iter().enumerate().filter(|(_, skill)| matches(skill));
        places.map(|(place, _)| place).collect()
    }
}

/// One set of all triggers.
pub(crate) struct OneSet {
    set: RegexSet,
    skills: Vec<usize>,
}

impl OneSet {
    pub(crate) fn new(skills: &[Skill]) -> OneSet {
        let all = || skills.iter().enumerate().flat_map(|(i, s)| regexes(s).map(move |r| (i, r)));
        let set = RegexSetBuilder::new(all().map(|(_, r)| r)).size_limit(1 << 30).build().unwrap();
        OneSet { set, skills: all().map(|(skill, _)| skill).collect() }
    }

    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.set.matches(query).into_iter().map(|r| self.skills[r]).collect();
        found.dedup();
        found
    }
}

/// The crate `regex-filtered`.
pub(crate) struct Filtered {
    set: regex_filtered::Regexes,
    skills: Vec<usize>,
}

impl Filtered {
    pub(crate) fn new(skills: &[Skill]) -> Filtered {
        let all = || skills.iter().enumerate().flat_map(|(i, s)| regexes(s).map(move |r| (i, r)));
        let mut set = regex_filtered::Builder::new();
        for (_, regex) in all() {
            set = set.push(&regex).unwrap();
        }
        Filtered { set: set.build().unwrap(), skills: all().map(|(skill, _)| skill).collect() }
    }

    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.set.matching(query).map(|(place, _)| self.skills[place]).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Every keyword looked for in the lower-cased message: finds parts of words and runs no patterns.
pub(crate) struct Contains(Vec<Vec<String>>);

impl Contains {
    pub(crate) fn new(skills: &[Skill]) -> Contains {
        let literals = |skill: &Skill| {
            let triggers = skill.triggers();
            triggers
                .keywords
                .iter()
                .chain(&triggers.verbs)
                .map(|t| t.value.to_lowercase())
                .collect()
        };
        Contains(skills.iter().map(literals).collect())
    }

    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let text = query.to_lowercase();
        let matches = |skill: &&Vec<String>| skill.iter().any(|literal| text.contains(literal));
        let places = self.0.iter().enumerate().filter(|(_, skill)| matches(skill));
        places.map(|(place, _)| place).collect()
    }
}

/// The limit of the design: one contiguous automaton over the keywords, verbs, names and literal
/// parts of patterns, walked with its hits counted and nothing else.
pub(crate) struct BareScan(NFA);

impl BareScan {
    pub(crate) fn new(skills: &[Skill]) -> BareScan {
        let mut literals: Vec<String> = skills.iter().flat_map(literals).collect();
        literals.sort_unstable();
        literals.dedup();
        let nfa = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(&literals);
        BareScan(nfa.unwrap())
    }

    /// Folds `query`, which must be ASCII where capitals matter, and counts the hits.
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

    /// The same count, by the crate's own search.
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

/// Folding alone: one pass that copies in lower case.
pub(crate) fn fold(query: &str, folded: &mut Vec<u8>) {
    folded.clear();
    folded.extend(query.bytes().map(|byte| byte.to_ascii_lowercase()));
}

fn literals(skill: &Skill) -> Vec<String> {
    let triggers = skill.triggers();
    let declared = triggers.keywords.iter().chain(&triggers.verbs).map(|t| t.value.to_lowercase());
    // The words in a pattern stand for its required literals.
    let of_patterns = triggers.patterns.iter().flat_map(|t| {
        let words = t.value.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| w.len() > 3);
        words.map(str::to_lowercase).collect::<Vec<_>>()
    });
    declared
        .chain([skill.name().replace('-', " "), skill.name().to_owned()])
        .chain(of_patterns)
        .collect()
}
