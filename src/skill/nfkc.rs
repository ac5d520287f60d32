//! A check for patterns that are not in NFKC, the normal form in which messages are searched.

use regex_syntax::hir::{Class, Hir, HirKind};
use unicode_normalization::{UnicodeNormalization, is_nfkc};

use super::pattern::{self, Case, has_other_text};

/// Returns a help text if the valid `pattern` contains a text that no message can contain, because the
/// text is not in NFKC; otherwise `None`.
pub(super) fn remedy(pattern: &str) -> Option<String> {
    if !has_other_text(pattern) {
        return None;
    }
    let text = other_text(&pattern::parse(pattern, Case::Verbatim).ok()?)?;
    let normal: String = text.nfkc().collect();
    let escaped = regex_syntax::escape(&normal);
    let in_patterns =
        if escaped == normal { String::new() } else { format!(", in a pattern `{escaped}`") };
    Some(format!("write a pattern for messages in NFKC: there `{text}` is `{normal}`{in_patterns}"))
}

/// Returns a literal text that is not in NFKC, or the first character of a class without any character
/// that is.
fn other_text(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).ok()?;
            (!is_nfkc(text)).then(|| text.to_owned())
        }
        HirKind::Class(Class::Unicode(class)) => {
            let chars = || class.iter().flat_map(|range| range.start()..=range.end());
            let has_normal = chars().any(|c| is_nfkc(c.encode_utf8(&mut [0; 4])));
            chars().next().filter(|_| !has_normal).map(String::from)
        }
        HirKind::Repetition(repetition) => other_text(&repetition.sub),
        HirKind::Capture(group) => other_text(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().find_map(other_text),
        _ => None,
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
            ("ａ－ｂ", "`ａ－ｂ` is `a-b`"),
            ("[＊＋]x", "`＊` is `*`"),
            ("[^！]！", "`！` is `!`"),
            ("第[０-９]+章", "`０` is `0`"),
            (r"\d+㎏+", "`㎏` is `kg`"),
            ("cafe\u{301} noir", "is `café noir`"),
            (r"e\u0301tat", "is `état`"),
            (r"\u{ff0a}b|(ｃ)", "`＊b` is `*b`"),
            ("x[ｦ-ﾟ]", "`ｦ` is `ヲ`"),
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
            "[＊*]x",
            r"x\u0301",
            r"\p{Han}+\x{4e00}",
            "(?x) deploy \\d # 注（略）",
        ] {
            assert_eq!(remedy(pattern), None, "{pattern}");
        }
    }
}
