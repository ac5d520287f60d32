//! A check for patterns that are not in NFKC, the normal form in which messages are searched.

use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, Literal, LiteralKind};
use unicode_normalization::{UnicodeNormalization, is_nfkc};

use super::pattern;

/// Returns a help text if the valid `pattern` contains a text that no message can contain, because the
/// text is not in NFKC; otherwise `None`.
pub(super) fn remedy(pattern: &str) -> Option<String> {
    // Without such an escape, an ASCII pattern has no literals outside of ASCII.
    if pattern.is_ascii() && ![r"\x", r"\u", r"\U"].iter().any(|escape| pattern.contains(escape)) {
        return None;
    }
    let texts = texts(pattern)?;
    if let Some(text) = texts.iter().find(|text| !is_nfkc(text)) {
        let normal: String = text.nfkc().collect();
        let escaped = regex_syntax::escape(&normal);
        let in_patterns =
            if escaped == normal { String::new() } else { format!(", in a pattern `{escaped}`") };
        return Some(format!(
            "write a pattern for messages in NFKC: there `{text}` is `{normal}`{in_patterns}"
        ));
    }
    // Only parts that are not literal text may still differ, such as a comment or the name of a group.
    let normal: String = pattern.nfkc().collect();
    let is_apart = self::texts(&normal).is_some_and(|again| again.concat() == texts.concat());
    (!is_apart)
        .then(|| "write a letter and its mark as one character, as in messages in NFKC".to_owned())
}

/// Returns the literal texts of a pattern: consecutive characters form one text, and each character of a
/// class is a text by itself. Escapes in classes are left out: even if they cannot match, other
/// characters of the class may.
fn texts(pattern: &str) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    add_texts(&pattern::parse_ast(pattern)?, &mut texts);
    Some(texts)
}

fn add_texts(ast: &Ast, texts: &mut Vec<String>) {
    match ast {
        Ast::Literal(literal) => texts.push(literal.c.to_string()),
        Ast::Group(group) => add_texts(&group.ast, texts),
        Ast::Repetition(repetition) => add_texts(&repetition.ast, texts),
        Ast::Alternation(branches) => branches.asts.iter().for_each(|ast| add_texts(ast, texts)),
        Ast::ClassBracketed(class) => add_class(&class.kind, texts),
        Ast::Concat(parts) => {
            let is_text = |ast: &Ast| matches!(ast, Ast::Literal(_));
            for run in parts.asts.chunk_by(|a, b| is_text(a) && is_text(b)) {
                let literals = run.iter().map_while(|ast| match ast {
                    Ast::Literal(literal) => Some(literal.c),
                    _ => None,
                });
                match literals.collect::<String>() {
                    text if text.is_empty() => run.iter().for_each(|ast| add_texts(ast, texts)),
                    text => texts.push(text),
                }
            }
        }
        _ => {}
    }
}

fn add_class(class: &ClassSet, texts: &mut Vec<String>) {
    match class {
        ClassSet::Item(item) => add_item(item, texts),
        ClassSet::BinaryOp(sets) => {
            add_class(&sets.lhs, texts);
            add_class(&sets.rhs, texts);
        }
    }
}

fn add_item(item: &ClassSetItem, texts: &mut Vec<String>) {
    let mut add = |literal: &Literal| {
        if literal.kind == LiteralKind::Verbatim {
            texts.push(literal.c.to_string());
        }
    };
    match item {
        ClassSetItem::Literal(literal) => add(literal),
        ClassSetItem::Range(range) => [&range.start, &range.end].into_iter().for_each(add),
        ClassSetItem::Bracketed(class) => add_class(&class.kind, texts),
        ClassSetItem::Union(union) => union.items.iter().for_each(|item| add_item(item, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_no_message_holds_is_told_with_its_normal_form() {
        let cases = [
            ("怎么部署.*？", r"`？` is `?`, in a pattern `\?`"),
            ("（紧急）.+", "`（紧急）` is `(紧急)`"),
            ("a＊", "`a＊` is `a*`"),
            ("x．y", "`x．y` is `x.y`"),
            ("ａ－ｂ", "`ａ－ｂ` is `a-b`"),
            ("[＊＋]x", "`＊` is `*`"),
            ("[^！]！", "`！` is `!`"),
            ("第[０-９]+章", "`０` is `0`"),
            (r"\d+㎏+", "`㎏` is `kg`"),
            ("cafe\u{301} noir", "is `café noir`"),
            (r"e\u0301tat", "is `état`"),
            (r"\u{ff0a}b|(ｃ)", "`＊b` is `*b`"),
            ("(?i)\u{1100}\u{1161}x", "is `가x`"),
            ("[㎏]x", "`㎏` is `kg`"),
            ("x[ｦ-ﾟ]", "`ｦ` is `ヲ`"),
            ("x[\u{f900}-\u{fad9}]", "`\u{f900}` is `\u{8c48}`"),
            ("(?x) a´", "`a´` is"),
            ("caf(?:e\u{301}?x)", "a letter and its mark"),
            ("[e\u{301}]t", "a letter and its mark"),
        ];
        for (pattern, words) in cases {
            let help = remedy(pattern).expect(pattern);
            assert!(help.contains(words), "{pattern}: {help}");
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
