//! Stop words, which say little about the subject of a message.

/// English words that say little about the subject of a message, and words with which people address an
/// agent. Sorted.
pub const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "although", "am", "among", "an", "and", "any", "anyway",
    "are", "as", "at", "be", "because", "been", "being", "besides", "both", "but", "by", "can",
    "could", "despite", "did", "do", "does", "doing", "during", "each", "either", "else", "except",
    "few", "for", "from", "get", "got", "had", "has", "have", "having", "he", "help", "hence",
    "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if", "in",
    "into", "is", "it", "its", "itself", "just", "let", "like", "make", "may", "me", "might",
    "mine", "more", "most", "must", "my", "myself", "need", "neither", "no", "nor", "not", "of",
    "on", "once", "only", "onto", "or", "other", "our", "ours", "own", "please", "same", "shall",
    "she", "should", "since", "so", "some", "such", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "therefore", "these", "they", "this", "those", "though",
    "throughout", "thus", "to", "too", "unlike", "until", "upon", "us", "use", "used", "user",
    "users", "using", "very", "want", "was", "we", "were", "what", "when", "where", "whether",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "would",
    "yet", "you", "your", "yours", "yourself",
];
