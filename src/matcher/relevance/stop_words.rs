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

const N_SLOTS: usize = 512;

/// A hash table with open addressing over [`STOP_WORDS`], made at compile time: a slot holds one more
/// than an index, or 0 if it is vacant. A binary search would take seven comparisons for each word of a
/// text.
const SLOTS: [u8; N_SLOTS] = {
    let mut slots = [0; N_SLOTS];
    let mut place = 0;
    while place < STOP_WORDS.len() {
        let mut slot = slot_of(STOP_WORDS[place].as_bytes());
        while slots[slot] != 0 {
            slot = (slot + 1) % N_SLOTS;
        }
        slots[slot] = place as u8 + 1;
        place += 1;
    }
    slots
};

const fn slot_of(word: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ word[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash >> 16) as usize % N_SLOTS
}

/// Tells whether a folded word is a stop word.
pub(super) fn is_stop_word(word: &[u8]) -> bool {
    const LONGEST: usize = 6;
    if word.len() > LONGEST {
        return false;
    }
    let mut slot = slot_of(word);
    while let Some(place) = SLOTS[slot].checked_sub(1) {
        if STOP_WORDS[place as usize].as_bytes() == word {
            return true;
        }
        slot = (slot + 1) % N_SLOTS;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_word_is_found_and_nothing_else() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word.as_bytes())));
        for other in ["", "deploy", "th", "thei", "theirs", "usersx", "使用"] {
            assert!(!is_stop_word(other.as_bytes()), "{other}");
        }
    }
}
