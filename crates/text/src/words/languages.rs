//! The languages of a text, told by its function words, and the words that say little in each of them.
//!
//! A word such as `die` or `pour` says nothing in one language and much in another, so the list of a
//! language applies only to a text in that language. Stop words and everyday words of English apply to
//! all texts (`stop_words.rs`, `everyday.rs`). The lists are our own: on a German team's catalog, messages for
//! no skill get 1.8 lines in place of 4.1, with the right skill in view more often.

use super::stop_words::STOP_WORDS;

/// The lists, each of function words and, after `--`, of everyday words, all of them folded.
const LISTS: [&str; N_LANGUAGES] = [
    include_str!("word_lists/dutch.txt"),
    include_str!("word_lists/french.txt"),
    include_str!("word_lists/german.txt"),
    include_str!("word_lists/italian.txt"),
    include_str!("word_lists/polish.txt"),
    include_str!("word_lists/portuguese.txt"),
    include_str!("word_lists/russian.txt"),
    include_str!("word_lists/spanish.txt"),
    include_str!("word_lists/turkish.txt"),
];

/// Function words that most texts of a language contain and few texts of another, in the order of
/// [`LISTS`].
const MARKERS: [[&str; N_MARKERS]; N_LANGUAGES] = [
    ["het", "een", "van", "voor", "niet", "zijn"],
    ["les", "des", "une", "pour", "dans", "est"],
    ["und", "für", "mit", "oder", "nicht", "der"],
    ["il", "della", "gli", "nella", "per", "che"],
    ["się", "nie", "jest", "dla", "oraz", "lub"],
    ["não", "uma", "dos", "das", "ou", "em"],
    ["и", "в", "не", "для", "на", "с"],
    ["el", "los", "las", "una", "del", "con"],
    ["ve", "bir", "için", "ile", "bu", "veya"],
];

/// The minimum share of skills that have the markers of a catalog's language, as a mean over the markers.
const MARKED_PERCENT: usize = 40;

/// The minimum number of function words by which a text tells its language.
const LEAST_WORDS: u16 = 2;

const N_LANGUAGES: usize = 9;
/// The number of English, the language of [`STOP_WORDS`], after those of [`LISTS`].
const ENGLISH: usize = N_LANGUAGES;
const N_MARKERS: usize = 6;

/// A set of languages other than English.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Languages(u16);

impl Languages {
    /// Returns the languages of a catalog of `n_skills` skills, given the number of skills that have a
    /// word.
    pub fn of_catalog(n_skills: usize, n_with: impl Fn(&str) -> u32) -> Languages {
        let mut languages = Languages::default();
        for (language, markers) in MARKERS.iter().enumerate() {
            let n_marked: usize = markers.iter().map(|word| n_with(word) as usize).sum();
            let is_own = n_marked * 100 >= N_MARKERS * n_skills * MARKED_PERCENT;
            languages.0 |= u16::from(is_own && n_skills > 0) << language;
        }
        languages
    }

    /// Tells whether it is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, language: usize) -> bool {
        self.0 >> language & 1 != 0
    }
}

/// The languages in which a word says little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Class {
    function: u16,
    everyday: u16,
}

impl Class {
    /// Tells whether the word is a stop word of English.
    pub fn is_stop_word(self) -> bool {
        self.function >> ENGLISH & 1 != 0
    }

    /// Tells whether the word is a function word of any language.
    pub fn is_function_word(self) -> bool {
        self.function != 0
    }

    /// Tells whether the word is a function word of one of these languages.
    pub fn is_function_in(self, languages: Languages) -> bool {
        self.function & languages.0 != 0
    }

    /// Tells whether the word is an everyday word of one of these languages.
    pub fn is_everyday_in(self, languages: Languages) -> bool {
        self.everyday & languages.0 != 0
    }
}

/// Counts the function words of a text, by language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Census {
    n_english: u16,
    n_words: [u16; N_LANGUAGES],
}

impl Census {
    /// Counts a stop word of English.
    pub fn add_english(&mut self) {
        self.n_english = self.n_english.saturating_add(1);
    }

    /// Counts another word.
    pub fn add(&mut self, class: Class) {
        let mut left = class.function;
        while left != 0 {
            let n_words = &mut self.n_words[left.trailing_zeros() as usize];
            *n_words = n_words.saturating_add(1);
            left &= left - 1;
        }
    }

    /// Returns the language of the text: the one of which it has the most function words, and more than
    /// of English. A language of its catalog, `own`, needs only as many as English.
    pub fn languages(&self, own: Languages) -> Languages {
        let most = self.n_words.iter().copied().max().unwrap_or_default();
        let is_told = most >= LEAST_WORDS && most > self.n_english;
        let mut languages = Languages::default();
        for (language, n_words) in self.n_words.iter().enumerate() {
            let applies =
                is_told && *n_words == most || own.has(language) && *n_words >= self.n_english;
            languages.0 |= u16::from(applies) << language;
        }
        languages
    }
}

/// Returns the class of a folded word.
pub fn class_of(word: &[u8]) -> Class {
    let mut slot = slot_of(word);
    while let Some(place) = TABLE.slots[slot].checked_sub(1) {
        let entry = TABLE.entries[place as usize];
        if entry.word() == word {
            return entry.class;
        }
        slot = (slot + 1) % N_SLOTS;
    }
    Class::default()
}

const N_SLOTS: usize = 8_192;
const MAX_ENTRIES: usize = 4_096;

/// A listed word, by its place in the lists: text that is not copied needs no relocation. That of a stop word
/// is its place in [`STOP_WORDS`].
#[derive(Clone, Copy)]
struct Entry {
    list: u8,
    len: u8,
    start: u16,
    class: Class,
}

impl Entry {
    const fn word(self) -> &'static [u8] {
        if self.list as usize == ENGLISH {
            return STOP_WORDS[self.start as usize].as_bytes();
        }
        let (_, rest) = LISTS[self.list as usize].as_bytes().split_at(self.start as usize);
        rest.split_at(self.len as usize).0
    }
}

/// A hash table with open addressing over the words of all lists: a slot holds one more than an index,
/// or 0 if it is vacant.
struct Table {
    slots: [u16; N_SLOTS],
    entries: [Entry; MAX_ENTRIES],
    len: usize,
}

/// Made at compile time, so that a process that answers one message does not wait for it.
static TABLE: Table = {
    let vacant = Entry { list: 0, len: 0, start: 0, class: Class { function: 0, everyday: 0 } };
    let mut table = Table { slots: [0; N_SLOTS], entries: [vacant; MAX_ENTRIES], len: 0 };
    let mut list = 0;
    while list < N_LANGUAGES {
        table = with_list(table, list);
        list += 1;
    }
    with_stop_words(table)
};

const fn with_stop_words(mut table: Table) -> Table {
    let class = Class { function: 1 << ENGLISH, everyday: 0 };
    let mut place = 0;
    while place < STOP_WORDS.len() {
        let len = STOP_WORDS[place].len() as u8;
        table = with_word(table, Entry { list: ENGLISH as u8, len, start: place as u16, class });
        place += 1;
    }
    table
}

/// Adds the words of a list, which are separated by single white space.
const fn with_list(mut table: Table, list: usize) -> Table {
    let bytes = LISTS[list].as_bytes();
    let (mut start, mut at, mut is_everyday) = (0, 0, false);
    while at < bytes.len() {
        if bytes[at] != b' ' && bytes[at] != b'\n' {
            at += 1;
            continue;
        }
        if bytes[start] == b'-' {
            is_everyday = true;
        } else {
            let language = 1 << list;
            let class = if is_everyday {
                Class { function: 0, everyday: language }
            } else {
                Class { function: language, everyday: 0 }
            };
            let len = (at - start) as u8;
            table = with_word(table, Entry { list: list as u8, len, start: start as u16, class });
        }
        at += 1;
        start = at;
    }
    table
}

/// Adds a word, or its class if another list has the word.
const fn with_word(mut table: Table, added: Entry) -> Table {
    let word = added.word();
    let mut slot = slot_of(word);
    while table.slots[slot] != 0 {
        let known = &mut table.entries[table.slots[slot] as usize - 1];
        if is_equal(known.word(), word) {
            known.class.function |= added.class.function;
            known.class.everyday |= added.class.everyday;
            return table;
        }
        slot = (slot + 1) % N_SLOTS;
    }
    table.entries[table.len] = added;
    table.len += 1;
    table.slots[slot] = table.len as u16;
    table
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Hashes the length and both ends of a word, which takes the same few steps for words of all lengths.
const fn slot_of(word: &[u8]) -> usize {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let n = word.len();
    let ends = if n >= 4 {
        let last = [word[n - 4], word[n - 3], word[n - 2], word[n - 1]];
        let first = [word[0], word[1], word[2], word[3]];
        (u32::from_le_bytes(first) as u64) << 32 | u32::from_le_bytes(last) as u64
    } else if n > 0 {
        (word[0] as u64) << 16 | (word[n / 2] as u64) << 8 | word[n - 1] as u64
    } else {
        0
    };
    ((ends ^ n as u64).wrapping_mul(MIX) >> (64 - N_SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push_folded;

    const GERMAN: usize = 2;
    const FRENCH: usize = 1;
    const SPANISH: usize = 7;

    fn sections(list: &str) -> [Vec<&str>; 2] {
        let (function, everyday) = list.split_once("\n--\n").unwrap();
        [function, everyday].map(|section| section.split_whitespace().collect())
    }

    fn languages_of(text: &str, own: Languages) -> Languages {
        let mut census = Census::default();
        for word in text.split(' ') {
            let mut folded = String::new();
            word.chars().for_each(|c| push_folded(c, &mut folded));
            if STOP_WORDS.binary_search(&&*folded).is_ok() {
                census.add_english();
            } else {
                census.add(class_of(folded.as_bytes()));
            }
        }
        census.languages(own)
    }

    #[test]
    fn every_listed_word_is_found_in_its_language() {
        for (language, list) in LISTS.iter().enumerate() {
            let only = Languages(1 << language);
            let [function, everyday] = sections(list);
            assert!((100..300).contains(&function.len()) && everyday.len() >= 60, "{language}");
            for word in &function {
                assert!(class_of(word.as_bytes()).is_function_in(only), "{word}");
                assert!(STOP_WORDS.binary_search(word).is_err(), "{word} is an English stop word");
            }
            for word in &everyday {
                let class = class_of(word.as_bytes());
                assert!(class.is_everyday_in(only) && !class.is_function_in(only), "{word}");
            }
            for word in function.iter().chain(&everyday) {
                let mut folded = String::new();
                word.chars().for_each(|c| push_folded(c, &mut folded));
                assert_eq!(folded, *word);
            }
            assert!(MARKERS[language].iter().all(|word| function.contains(word)), "{language}");
        }
        for other in ["", "terraform", "rechnung", "derx", "de\u{0}", "部署"] {
            assert_eq!(class_of(other.as_bytes()), Class::default(), "{other}");
        }
    }

    #[test]
    fn every_stop_word_is_found_and_nothing_else() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(STOP_WORDS.iter().all(|word| class_of(word.as_bytes()).is_stop_word()));
        for other in ["", "deploy", "th", "thei", "theirsx", "usersx", "使用"] {
            assert!(!class_of(other.as_bytes()).is_stop_word(), "{other}");
        }
    }

    #[test]
    fn a_text_tells_its_language_by_its_function_words() {
        for (text, expected) in [
            ("Wie lösche ich eine Datei aus dem Index", Some(GERMAN)),
            ("comment supprimer un fichier dans la branche", Some(FRENCH)),
            ("cómo borro los archivos que sobran", Some(SPANISH)),
            // English, also with words that another language has.
            ("will the hat of the man die in the war", None),
            ("on tour pour over coffee with my son", None),
            ("deploy staging", None),
            ("und", None),
            // English words inside do not hide the language.
            ("warum ist the build failed und wer hat das gemerged", Some(GERMAN)),
        ] {
            let expected = expected.map_or(0, |language| 1 << language);
            assert_eq!(languages_of(text, Languages::default()), Languages(expected), "{text}");
        }
        // In a German catalog, one word is enough, but not against English.
        let german = Languages(1 << GERMAN);
        for (text, expected) in [("wer zahlt", german), ("who would die for it", Languages(0))] {
            assert_eq!(languages_of(text, german), expected, "{text}");
        }
    }

    #[test]
    fn a_catalog_has_the_language_of_most_of_its_skills() {
        let german = |word: &str| u32::from(MARKERS[GERMAN].contains(&word)) * 5;
        assert_eq!(Languages::of_catalog(10, german), Languages(1 << GERMAN));
        // Some skills in German, and none at all.
        assert_eq!(Languages::of_catalog(20, german), Languages(0));
        assert_eq!(Languages::of_catalog(0, |_| 0), Languages(0));
    }
}
