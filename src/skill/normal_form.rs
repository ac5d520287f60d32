//! Patterns that are not in NFKC, the form messages are searched in.

use std::ops::Range;

use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, ClassSetRange, Literal};
use unicode_normalization::{UnicodeNormalization, is_nfkc};

use super::pattern;

/// The largest range of a class whose characters are looked at one by one.
const MAX_RANGE: u32 = 256;

/// The remedy for a valid `pattern` that is not in NFKC; `None` if it is.
pub(super) fn remedy(pattern: &str) -> Option<String> {
    // Without such an escape ASCII names no other characters.
    if pattern.is_ascii() && ![r"\x", r"\u", r"\U"].iter().any(|escape| pattern.contains(escape)) {
        return None;
    }
    let found = Texts::of(pattern)?;
    if found.are_normal(pattern) || found.are_apart(pattern) {
        return None;
    }
    Some(match normalized(pattern, &found) {
        Some(normal) if normal.contains('\\') => {
            let doubled = if normal.contains('\'') { ", with each `'` doubled" } else { "" };
            format!(
                "write `{normal}` in single quotes{doubled}: messages are searched in that form"
            )
        }
        Some(normal) => format!("write `{normal}`: messages are searched in that form"),
        None => match found.texts.iter().find(|text| !is_nfkc(&text.value)) {
            Some(Text { value, .. }) => format!(
                "write a pattern for messages in NFKC: there `{value}` is `{}`",
                value.nfkc()
            ),
            None => "write a letter and its mark as one character, as in messages in NFKC".into(),
        },
    })
}

/// `pattern` with its texts in NFKC, and all else as it is; `None` if that is another pattern.
fn normalized(pattern: &str, found: &Texts) -> Option<String> {
    let mut normal = String::with_capacity(pattern.len());
    let mut copied = 0;
    for Text { value, span, place } in found.texts.iter().filter(|text| !is_nfkc(&text.value)) {
        let is_one = value.nfkc().count() == 1;
        if *place == Place::Class && !is_one {
            return None;
        }
        normal.push_str(&pattern[copied..span.start]);
        let is_grouped = *place == Place::Repeated && !is_one;
        normal.push_str(if is_grouped { "(?:" } else { "" });
        for c in value.nfkc() {
            let is_plain_outside = *place != Place::Class && matches!(c, '-' | '&' | '~');
            if regex_syntax::is_meta_character(c) && !is_plain_outside {
                normal.push('\\');
            }
            normal.push(c);
        }
        normal.push_str(if is_grouped { ")" } else { "" });
        copied = span.end;
    }
    normal.push_str(&pattern[copied..]);
    // A pattern that cannot be written that way differs when it is read again: marks without their
    // letter, or a blank in a pattern that ignores blanks.
    let again = Texts::of(&normal)?;
    let is_same = found.are_clear && again.are_normal(&normal) && again.read() == found.read();
    (is_same && pattern::validate(&normal).is_ok()).then_some(normal)
}

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Sequence,
    /// Alone below a `+`, `{2}` or the like.
    Repeated,
    /// In the brackets of a class.
    Class,
}

/// Characters of a pattern that are normalised together.
#[derive(Debug)]
struct Text {
    value: String,
    /// Bytes of the pattern, escapes included.
    span: Range<usize>,
    place: Place,
}

/// The literal texts of a pattern.
#[derive(Debug)]
struct Texts {
    texts: Vec<Text>,
    /// True if no range of a class becomes another set of characters.
    are_clear: bool,
}

impl Texts {
    fn of(pattern: &str) -> Option<Texts> {
        let mut found = Texts { texts: Vec::new(), are_clear: true };
        found.read_ast(&pattern::parse_ast(pattern)?);
        Some(found)
    }

    /// Tells whether nothing in the pattern keeps it from matching normalised text. In a class
    /// other characters may match where an escape cannot.
    fn are_normal(&self, pattern: &str) -> bool {
        let of_class = |text: &Text| text.place == Place::Class;
        is_nfkc(pattern) && self.texts.iter().all(|text| of_class(text) || is_nfkc(&text.value))
    }

    /// Tells whether only parts that are not text, such as a comment or the name of a group, are
    /// not normal.
    fn are_apart(&self, pattern: &str) -> bool {
        let normal: String = pattern.nfkc().collect();
        self.texts.iter().all(|text| is_nfkc(&text.value))
            && Texts::of(&normal).is_some_and(|again| again.read() == self.read())
    }

    /// The texts in NFKC.
    fn read(&self) -> String {
        self.texts.iter().flat_map(|text| text.value.nfkc()).collect()
    }

    fn read_ast(&mut self, ast: &Ast) {
        match ast {
            Ast::Literal(literal) => self.add(literal, Place::Sequence),
            Ast::Group(group) => self.read_ast(&group.ast),
            Ast::Alternation(branches) => branches.asts.iter().for_each(|ast| self.read_ast(ast)),
            Ast::ClassBracketed(class) => self.read_class(&class.kind),
            Ast::Repetition(repetition) => match &*repetition.ast {
                Ast::Literal(literal) => self.add(literal, Place::Repeated),
                ast => self.read_ast(ast),
            },
            Ast::Concat(parts) => {
                let mut follows_text = false;
                for ast in &parts.asts {
                    match ast {
                        Ast::Literal(literal) if follows_text => self.append(literal),
                        ast => self.read_ast(ast),
                    }
                    follows_text = matches!(ast, Ast::Literal(_));
                }
            }
            _ => {}
        }
    }

    fn read_class(&mut self, class: &ClassSet) {
        match class {
            ClassSet::Item(item) => self.read_item(item),
            ClassSet::BinaryOp(sets) => {
                self.read_class(&sets.lhs);
                self.read_class(&sets.rhs);
            }
        }
    }

    fn read_item(&mut self, item: &ClassSetItem) {
        match item {
            ClassSetItem::Literal(literal) => self.add(literal, Place::Class),
            ClassSetItem::Range(range) => {
                self.add(&range.start, Place::Class);
                self.add(&range.end, Place::Class);
                self.are_clear &= is_clear(range);
            }
            ClassSetItem::Bracketed(class) => self.read_class(&class.kind),
            ClassSetItem::Union(union) => union.items.iter().for_each(|item| self.read_item(item)),
            _ => {}
        }
    }

    fn add(&mut self, literal: &Literal, place: Place) {
        let span = literal.span.start.offset..literal.span.end.offset;
        self.texts.push(Text { value: literal.c.to_string(), span, place });
    }

    /// Adds what follows the last text, to it if they are normalised together.
    fn append(&mut self, literal: &Literal) {
        if let Some(last) = self.texts.last_mut() {
            let apart = last.value.nfkc().chain(std::iter::once(literal.c).nfkc());
            let both = last.value.chars().chain([literal.c]);
            if !apart.eq(both.clone().nfkc()) {
                last.value = both.collect();
                last.span.end = literal.span.end.offset;
                return;
            }
        }
        self.add(literal, Place::Sequence);
    }
}

/// Tells whether the range between the normalised ends holds the normalised form of all its
/// characters.
fn is_clear(range: &ClassSetRange) -> bool {
    let (start, end) = (range.start.c, range.end.c);
    let normal = |c: char| {
        let mut chars = std::iter::once(c).nfkc();
        chars.next().filter(|_| chars.next().is_none())
    };
    let (Some(first), Some(last)) = (normal(start), normal(end)) else { return false };
    let is_in = |c: char| normal(c).is_some_and(|c| (first..=last).contains(&c));
    (first, last) == (start, end)
        || (u32::from(end) - u32::from(start) < MAX_RANGE && (start..=end).all(is_in))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::pattern::{Alphabet, compile};

    #[test]
    fn remedies_match_what_the_pattern_was_to_match() {
        let cases = [
            ("怎么部署.*？", r"怎么部署.*\?", "怎么部署 a？"),
            ("（紧急）.+", r"\(紧急\).+", "（紧急）x"),
            ("紧急（", r"紧急\(", "紧急（"),
            ("a＊", r"a\*", "a＊"),
            ("x．y", r"x\.y", "x．y"),
            ("ａ－ｂ", "a-b", "ａ－ｂ"),
            ("[＊＋]x", r"[\*\+]x", "＋x"),
            ("[＾－］]x", r"[\^\-\]]x", "］x"),
            ("[^！]！", "[^!]!", "a！"),
            ("第[０-９]+章", "第[0-9]+章", "第１２章"),
            ("㎏", "kg", "㎏"),
            (r"\d+㎏+", r"\d+(?:kg)+", "1㎏㎏"),
            ("cafe\u{301} noir", "café noir", "café noir"),
            (r"e\u0301tat", "état", "état"),
            (r"a\.（\n", r"a\.\(\n", "a.（\n"),
            (r"\u{ff0a}b|(ｃ)", r"\*b|(c)", "＊b"),
            ("(?i)\u{1100}\u{1161}x", "(?i)가x", "가X"),
        ];
        for (pattern, normal, message) in cases {
            let help = remedy(pattern).expect(pattern);
            assert!(help.starts_with(&format!("write `{normal}`")), "{pattern}: {help}");
            assert_eq!(help.contains("single quotes"), normal.contains('\\'), "{help}");
            let regex = compile(normal, Alphabet::Unicode).expect(normal);
            let searched: String = message.nfkc().collect();
            assert!(regex.is_match(&searched), "{normal} in {searched}");
            assert_eq!(remedy(normal), None, "{normal}");
        }
    }

    #[test]
    fn what_has_no_pattern_is_told_in_words() {
        let cases = [
            ("[㎏]x", "`㎏` is `kg`"),
            ("x[ｦ-ﾟ]", "`ｦ` is `ヲ`"),
            ("x[\u{f900}-\u{fad9}]", "`\u{f900}` is `\u{8c48}`"),
            ("(?x) a´", "`´` is"),
            ("caf(?:e\u{301}?x)", "a letter and its mark"),
            ("[e\u{301}]t", "a letter and its mark"),
        ];
        for (pattern, words) in cases {
            let help = remedy(pattern).expect(pattern);
            assert!(help.contains(words), "{pattern}: {help}");
            assert!(!help.starts_with("write `"), "{pattern}: {help}");
        }
    }

    #[test]
    fn patterns_that_can_match_have_no_remedy() {
        for pattern in [
            r"deploy\s+to",
            r"café\x20",
            "部署[一-龥]+",
            r"[\u{300}-\u{36f}]x",
            r"[\uff0a*]x",
            r"x\u0301",
            r"\p{Han}+\x{4e00}",
            r"(?P<ﬁn>deploy\d)",
            "(?x) deploy \\d # 注（略）",
        ] {
            assert_eq!(remedy(pattern), None, "{pattern}");
        }
    }
}
