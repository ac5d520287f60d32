//! Patterns in the form in which messages are searched.

use regex_syntax::hir::{
    Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Literal, Repetition,
};
use repertoire_text::searched_form;

/// Writes the literals of a pattern as they stand in messages when these are searched. Classes stay as
/// their author wrote them.
pub(super) fn as_searched(hir: Hir) -> Hir {
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
    use crate::skill::pattern::{Alphabet, Case, compile, parse};

    #[test]
    fn patterns_find_the_searched_form_of_what_they_say() {
        for (pattern, text) in [
            ("code\u{2011}review", "a code-review"),
            (r"e\u{2010}?mail", "email"),
            ("(⚠\u{fe0f}?|x)!", "⚠!"),
            ("(?-i)İade", "iade"),
            ("SİPARİŞ+", "SIPARIŞ"),
            ("می\u{200c}خ{2}", "میخخ"),
        ] {
            let found = compile(pattern, Alphabet::Unicode).unwrap().find(text);
            assert!(found.is_some(), "{pattern} in {text}");
            assert!(parse(pattern, Case::Verbatim).unwrap().properties().is_utf8());
        }
        assert_eq!(parse("\u{200b}", Case::Verbatim).unwrap().properties().minimum_len(), Some(0));
    }
}
