//! Scripts without spaces between words, and Hangul, whose particles follow without one: texts in them
//! are read as pairs of adjacent characters.
//!
//! A pair says something about a subject only if it lies inside a word. So that fewer of them lie
//! across the limit of two words, a run of characters is cut by lists of our own, each time at the longest
//! word that is listed: function words, everyday words, and words that only look as if they contained a
//! function word (`在线`). A pair that touches a function word, or a listed word and something else, is
//! common.

use std::ops::Range;
use std::sync::LazyLock;

/// The weight of a pair as evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// It tells a subject.
    Much,
    /// It is part of a word that stands in messages of all kinds.
    Little,
    /// It is part of a function word, or lies across the limit of words.
    Nothing,
}

/// The kind of a listed word, in the order of the sections of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    Everyday,
    /// Contains what elsewhere is a function word.
    Subject,
}

/// A list of words in one language.
struct List {
    /// In the order of their bytes.
    words: Vec<(&'static str, Kind)>,
    /// A filter of the first characters of words: most characters begin no listed word.
    starts: [u64; 64],
    longest: usize,
}

static CHINESE: LazyLock<List> =
    LazyLock::new(|| List::new(include_str!("word_lists/chinese.txt")));
static JAPANESE: LazyLock<List> =
    LazyLock::new(|| List::new(include_str!("word_lists/japanese.txt")));
static KOREAN: LazyLock<List> = LazyLock::new(|| List::new(include_str!("word_lists/korean.txt")));
static THAI: LazyLock<List> = LazyLock::new(|| List::new(include_str!("word_lists/thai.txt")));

impl List {
    fn new(text: &'static str) -> List {
        let kinds = [Kind::Function, Kind::Everyday, Kind::Subject];
        let sections = text.split("\n--\n").zip(kinds);
        let mut words: Vec<(&str, Kind)> = sections
            .flat_map(|(section, kind)| section.split_whitespace().map(move |word| (word, kind)))
            .collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        let mut starts = [0; 64];
        let mut longest = 0;
        for (word, _) in &words {
            longest = longest.max(word.chars().count());
            if let Some(c) = word.chars().next() {
                starts[c as usize / 64 % 64] |= 1 << (c as u32 % 64);
            }
        }
        List { words, starts, longest }
    }

    fn kind(&self, word: &str) -> Option<Kind> {
        let place = self.words.binary_search_by_key(&word, |(word, _)| *word).ok()?;
        Some(self.words[place].1)
    }

    /// Returns the length in bytes and the kind of the longest listed word at the start of `text`.
    fn longest(&self, text: &str) -> Option<(usize, Kind)> {
        let first = text.chars().next()?;
        if self.starts[first as usize / 64 % 64] >> (first as u32 % 64) & 1 == 0 {
            return None;
        }
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).take(self.longest);
        let found = ends.filter_map(|end| Some((end, self.kind(&text[..end])?)));
        found.last()
    }
}

/// Calls `each` with every two adjacent characters of a run, or its only one, and what they tell.
pub(super) fn read_pairs(
    text: &str,
    run: Range<usize>,
    each: &mut impl FnMut(Range<usize>, Telling),
) {
    let mut words = Words::new(text, run.clone());
    let mut chars = text[run.clone()].char_indices().map(|(at, c)| (run.start + at, c));
    let Some((mut start, mut first)) = chars.next() else { return };
    let mut word = words.at(start);
    let mut before = None;
    let mut is_alone = true;
    for (at, second) in chars {
        let next = words.at(at);
        let telling = if word.start == next.start {
            word.telling()
        } else if word.kind.is_some() || next.kind.is_some() || is_ending(before, first, second) {
            Telling::Nothing
        } else {
            Telling::Much
        };
        each(start..at + second.len_utf8(), telling);
        is_alone = false;
        before = Some(first);
        (start, first, word) = (at, second, next);
    }
    if is_alone {
        let telling = if is_hiragana(first) { Telling::Nothing } else { word.telling() };
        each(run, telling);
    }
}

/// Tells whether two adjacent characters of unlisted words lie across an ending or a particle, which are
/// mostly written in Hiragana: behind a word of several Chinese characters, between Hiragana, and before
/// another script.
fn is_ending(before: Option<char>, first: char, second: char) -> bool {
    let is_noun = is_han(first) && before.is_some_and(is_han);
    is_hiragana(second) && is_noun || is_hiragana(first) && first != 'ー'
}

/// A word of a run: a listed one, or one character outside of these.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    kind: Option<Kind>,
}

impl Word {
    /// Returns what characters inside the word tell.
    fn telling(self) -> Telling {
        match self.kind {
            None | Some(Kind::Subject) => Telling::Much,
            Some(Kind::Everyday) => Telling::Little,
            Some(Kind::Function) => Telling::Nothing,
        }
    }
}

/// Cuts a run into words.
struct Words<'t> {
    text: &'t str,
    run: Range<usize>,
    list: &'static List,
    /// In Korean, the start of the run's particle or ending; elsewhere, the end of the run.
    ending: usize,
    /// True if listed words, but for endings, are looked for at the start of the run only.
    is_spaced: bool,
    word: Word,
}

impl<'t> Words<'t> {
    fn new(text: &'t str, run: Range<usize>) -> Words<'t> {
        let written = &text[run.clone()];
        let is_spaced = written.starts_with(is_hangul);
        let list: &List = if is_spaced {
            &KOREAN
        } else if written.starts_with(is_thai) {
            &THAI
        } else if written.contains(is_kana) {
            &JAPANESE
        } else {
            &CHINESE
        };
        let ending = if is_spaced { run.start + ending_of(written, list) } else { run.end };
        let word = Word { start: run.start, end: run.start, kind: None };
        Words { text, run, list, ending, is_spaced, word }
    }

    /// Returns the word that contains the character at byte `at`, which is not before the last one.
    fn at(&mut self, at: usize) -> Word {
        if at >= self.word.end {
            self.word = self.read(at);
        }
        self.word
    }

    fn read(&self, at: usize) -> Word {
        if at >= self.ending {
            return Word { start: at, end: self.run.end, kind: Some(Kind::Function) };
        }
        let rest = &self.text[at..self.ending];
        let is_open = !self.is_spaced || at == self.run.start;
        let found = self.list.longest(rest).filter(|_| is_open);
        let found = found.filter(|(_, kind)| !self.is_spaced || *kind != Kind::Function);
        let one = rest.chars().next().map_or(1, char::len_utf8);
        let (len, kind) = found.map_or((one, None), |(len, kind)| (len, Some(kind)));
        Word { start: at, end: at + len, kind }
    }
}

/// Returns the start of the longest particle or ending of a Korean word, which leaves at least two
/// syllables; 0 if the whole word is a function word.
fn ending_of(word: &str, list: &List) -> usize {
    const SHORTEST_STEM: usize = 2;
    let is_function = |word: &str| list.kind(word) == Some(Kind::Function);
    if is_function(word) {
        return 0;
    }
    let starts = word.char_indices().map(|(at, _)| at).skip(SHORTEST_STEM);
    let mut endings = starts.filter(|start| is_function(&word[*start..]));
    endings.next().unwrap_or(word.len())
}

/// Tells whether `c` belongs to a script whose terms are pairs of characters: Han, Hiragana,
/// Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
pub fn is_paired(c: char) -> bool {
    const FIRST: char = '\u{e00}';
    c >= FIRST && (is_han(c) || is_hangul(c) || is_kana(c) || is_thai(c) || is_like_thai(c))
}

fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_thai(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}')
}

/// Tells whether `c` is of Lao, Myanmar or Khmer.
fn is_like_thai(c: char) -> bool {
    matches!(c, '\u{e80}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}' | 'ー')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of a run that tell much, and those that tell little.
    fn pairs(run: &str) -> [Vec<&str>; 2] {
        let (mut much, mut little) = (Vec::new(), Vec::new());
        read_pairs(run, 0..run.len(), &mut |span, telling| match telling {
            Telling::Much => much.push(&run[span]),
            Telling::Little => little.push(&run[span]),
            Telling::Nothing => {}
        });
        [much, little]
    }

    #[test]
    fn only_pairs_inside_of_words_tell_something() {
        for (run, much, little) in [
            ("字", &["字"][..], &[][..]),
            ("的", &[], &[]),
            ("你有什么建议", &[], &["建议"]),
            ("检查一下这段代码", &[], &["检查", "代码"]),
            ("部署到服务器", &["部署", "服务", "务器"], &[]),
            ("在线上传的对象", &["在线", "上传", "对象"], &[]),
            ("幫我檢查這個設定", &[], &["檢查", "設定"]),
            ("請款流程怎麼跑", &["請款", "款流", "流程"], &[]),
            ("認証を確認してください", &["認証"], &["確認"]),
            ("検索する", &["検索"], &[]),
            ("蒔く", &["蒔く"], &[]),
            ("サーバーの設定", &["サー", "ーバ", "バー"], &["設定"]),
            ("빌드를", &["빌드"], &[]),
            ("를", &[], &[]),
            ("지도", &["지도"], &[]),
            ("확인해주세요", &[], &["확인"]),
            ("어떻게", &[], &[]),
            ("ช่วยตรวจสอบสัญญา", &["สั", "ัญ", "ญญ", "ญา"], &["ตร", "รว", "วจ", "จส", "สอ", "อบ"]),
        ] {
            assert_eq!(pairs(run), [much, little], "{run}");
        }
    }

    #[test]
    fn every_listed_word_is_listed_once_and_found() {
        for (list, n_least) in [(&CHINESE, 300), (&JAPANESE, 250), (&KOREAN, 250), (&THAI, 150)] {
            assert!(list.words.len() >= n_least && list.words.is_sorted_by(|a, b| a.0 < b.0));
            for (word, kind) in &list.words {
                assert!(word.chars().all(is_paired), "{word}");
                assert_eq!(list.longest(word), Some((word.len(), *kind)));
            }
        }
    }

    #[test]
    fn scripts_with_spaces_are_not_paired() {
        for c in ['a', 'é', 'ж', 'α', 'ا', 'अ', '。', '\u{200b}', '😀'] {
            assert!(!is_paired(c), "{c}");
        }
        for c in ['字', 'か', 'カ', 'ー', '가', 'ก', 'ກ', 'ခ', 'ខ', '々', '𠀋'] {
            assert!(is_paired(c), "{c}");
        }
    }
}
