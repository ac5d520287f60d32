//! Stop words, which say little about the subject of a message.

/// English words that say little about the subject of a message, and words with which people address an
/// agent. Sorted.
pub(crate) const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "being", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "each",
    "else", "few", "for", "from", "get", "got", "had", "has", "have", "having", "he", "help",
    "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like",
    "make", "may", "me", "might", "mine", "more", "most", "must", "my", "need", "no", "nor", "not",
    "of", "on", "once", "only", "onto", "or", "other", "our", "own", "please", "same", "shall",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "us", "use", "used", "user", "users", "using",
    "very", "want", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose",
    "why", "will", "with", "would", "you", "your", "yours",
];
