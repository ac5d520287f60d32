//! Word boundaries: the positions where a literal stands as a word of its own.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Tells whether the literal found at `text[start..end]` begins where a word may begin.
pub fn opens(text: &str, start: usize, end: usize) -> bool {
    let neighbour = text[..start].chars().next_back();
    let first = text[start..end].chars().next();
    let (Some(neighbour), Some(first)) = (neighbour, first) else { return true };
    !is_word(neighbour) || is_unspaced(neighbour) || is_unspaced(first)
}

/// Tells whether a literal that ends at `end` ends where a word may end.
pub fn closes(text: &str, end: usize) -> bool {
    let last = text[..end].chars().next_back();
    let neighbour = text[end..].chars().next();
    let (Some(last), Some(neighbour)) = (last, neighbour) else { return true };
    !is_word(neighbour) || [last, neighbour].into_iter().any(|c| is_unspaced(c) || is_hangul(c))
}

/// Tells whether `c` is a word character: letter, mark, digit or `_`.
pub fn is_word(c: char) -> bool {
    static WORD: LazyLock<Ranges> = LazyLock::new(|| Ranges::of_class(r"[\p{L}\p{M}\p{Nd}]"));
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => true,
        _ => !c.is_ascii() && WORD.contain(c),
    }
}

/// Tells whether `c` belongs to a script written without spaces between words. The prolonged sound
/// mark is common to two such scripts, and to no other.
pub(super) fn is_unspaced(c: char) -> bool {
    static SCRIPTS: LazyLock<Ranges> = LazyLock::new(|| {
        Ranges::of_class(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
    });
    c >= '\u{e00}' && SCRIPTS.contain(c)
}

/// Tells whether `c` is Hangul: Korean puts spaces between words, but particles follow without one.
pub(super) fn is_hangul(c: char) -> bool {
    static SCRIPT: LazyLock<Ranges> = LazyLock::new(|| Ranges::of_class(r"\p{Hangul}"));
    c >= '\u{1100}' && SCRIPT.contain(c)
}

/// Sorted ranges of characters, taken from the Unicode tables of `regex-syntax`, which patterns need
/// anyway.
struct Ranges(Vec<(char, char)>);

impl Ranges {
    fn of_class(class: &str) -> Ranges {
        let parsed = regex_syntax::parse(class).ok().map(regex_syntax::hir::Hir::into_kind);
        let Some(HirKind::Class(Class::Unicode(class))) = parsed else {
            debug_assert!(false, "{class} is a class");
            return Ranges(Vec::new());
        };
        Ranges(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
    }

    fn contain(&self, c: char) -> bool {
        let after = self.0.partition_point(|&(start, _)| start <= c);
        after > 0 && c <= self.0[after - 1].1
    }
}

/// Returns the last boundary between characters up to `at`.
pub fn char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_known() {
        for c in "使の日カーกກខမ々".chars() {
            assert!(is_unspaced(c), "{c}");
        }
        for c in "aéпα배1、！".chars() {
            assert!(!is_unspaced(c), "{c}");
        }
        assert!(is_hangul('배') && !is_hangul('使') && !is_hangul('a'));
    }

    #[test]
    fn marks_and_digits_are_word_characters() {
        for c in "aZ9_éп使\u{301}٣".chars() {
            assert!(is_word(c), "{c:?}");
        }
        for c in " -.+'’、🚀🅰½\u{200b}".chars() {
            assert!(!is_word(c), "{c:?}");
        }
    }
}
