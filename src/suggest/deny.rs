//! Denials: the parts of a description that say what the skill is not for.

/// Phrases with which descriptions deny a use, folded.
const DENIALS: [&str; 20] = [
    "do not use",
    "don't use",
    "do not trigger",
    "don't trigger",
    "do not invoke",
    "not for",
    "never use",
    "avoid",
    "instead of",
    "rather than",
    "skip if",
    "skip when",
    "skip for",
    "not when",
    "not intended",
    "not needed",
    "out of scope",
    "unlike",
    "不要",
    "不适用",
];

/// The sentences of a folded text that hold no denial.
pub(super) fn affirmed(folded: &str) -> impl Iterator<Item = &str> {
    let sentences = folded.split_inclusive(['.', ';', '!', '?', '\n', '。', '；']);
    sentences.filter(|sentence| !DENIALS.iter().any(|denial| sentence.contains(denial)))
}
