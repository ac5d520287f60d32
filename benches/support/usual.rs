//! The usual alternatives: the matchers that are commonly used in place of this library.

use regex::{Regex, RegexSet, RegexSetBuilder};
use repertoire::Skill;

/// Returns every trigger of a skill, and its name, as regular expressions.
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

/// One compiled regular expression for each trigger, tried one skill after the other.
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

/// One `RegexSet` of all triggers.
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

/// A substring search for every keyword in the lower-cased message. It also finds parts of words, and
/// runs no patterns.
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
