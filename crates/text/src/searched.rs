//! The form in which messages are searched, as far as it goes beyond NFKC: one kind of hyphen, no
//! characters without a shape, and no dot on `İ`. Patterns are compiled for that form.

use caseless::Caseless as _;
use regex_syntax::hir::{
    Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Literal, Repetition,
};
use unicode_normalization::UnicodeNormalization as _;

use super::invisible::is_default_ignorable;

/// Returns the character that stands for `c` wherever messages and triggers are compared: `-` for each
/// hyphen, `None` for a character that has no shape of its own.
pub fn searched_form(c: char) -> Option<char> {
    match c {
        '\0'..='\x7f' => Some(c),
        '\u{58a}' | '\u{1806}' | '\u{2010}'..='\u{2012}' | '\u{2043}' => Some('-'),
        _ => (!is_default_ignorable(c)).then_some(c),
    }
}

/// Returns a key or a name as it is compared: in NFKC and without regard to letter case, without characters that
/// have no shape, and with `-` for each dash, `_` and blank.
pub fn compared(name: &str) -> String {
    let plain = |c: char| match c {
        '_' | '\u{2013}'..='\u{2015}' | '\u{2212}' => '-',
        _ if c.is_whitespace() => '-',
        _ => c,
    };
    if name.is_ascii() {
        return name.chars().map(|c| plain(c).to_ascii_lowercase()).collect();
    }
    name.chars().filter_map(searched_form).nfkc().default_case_fold().map(plain).collect()
}

/// Writes the literals of a pattern as they stand in messages when these are searched. Classes stay as
/// their author wrote them.
pub fn as_searched(hir: Hir) -> Hir {
    let again = |sub: Box<Hir>| Box::new(as_searched(*sub));
    match hir.into_kind() {
        HirKind::Literal(Literal(bytes)) => match str::from_utf8(&bytes) {
            Ok(text) => literal_as_searched(text),
            Err(_) => Hir::literal(bytes),
        },
        HirKind::Repetition(of) => Hir::repetition(Repetition { sub: again(of.sub), ..of }),
        HirKind::Capture(of) => Hir::capture(Capture { sub: again(of.sub), ..of }),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(as_searched).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(as_searched).collect())
        }
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Empty => Hir::empty(),
    }
}

fn literal_as_searched(text: &str) -> Hir {
    let dotless = || {
        let both = ['I', 'i'].map(|c| ClassUnicodeRange::new(c, c));
        Hir::class(Class::Unicode(ClassUnicode::new(both)))
    };
    let mut parts: Vec<Hir> = Vec::new();
    for (place, part) in text.split('İ').enumerate() {
        let searched: String = part.chars().filter_map(searched_form).collect();
        parts.extend((place > 0).then(dotless));
        parts.push(Hir::literal(searched.into_bytes()));
    }
    Hir::concat(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hyphens_and_what_has_no_shape_are_searched_in_another_form() {
        for c in "aZ-é–—−_使\u{301}\u{a0}·・".chars() {
            assert_eq!(searched_form(c), Some(c), "{c:?}");
        }
        for c in "\u{2010}\u{2011}\u{2012}\u{2043}".chars() {
            assert_eq!(searched_form(c), Some('-'), "{c:?}");
        }
        for c in "\u{ad}\u{200b}\u{200d}\u{2060}\u{feff}\u{fe0f}\u{e0041}\u{e0100}".chars() {
            assert_eq!(searched_form(c), None, "{c:?}");
        }
    }
}
