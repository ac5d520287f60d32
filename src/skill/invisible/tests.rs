use super::*;
use crate::skill::load;

/// The texts that the findings for a file quote.
fn quoted(text: &str) -> Vec<String> {
    let found = find(&load::load(text, "repertoire"), text);
    found.iter().map(|finding| text[finding.span.clone().unwrap()].to_owned()).collect()
}

#[test]
fn what_is_not_seen_is_found_where_it_stands() {
    let skill = |yaml: &str, body: &str| format!("---\nname: n\n{yaml}\n---\n{body}");
    for (text, expected) in [
        (skill("description: De\u{200b}ploys", ""), &["\u{200b}"][..]),
        (skill("description: |\n  De\u{2060}ploys\n  it", ""), &["\u{2060}"]),
        (skill("description: \"De\\u200bploys\"", ""), &["\"De\\u200bploys\""]),
        (skill("description: d\nwhen_to_use: a\u{202e}b", ""), &["\u{202e}"]),
        (skill("description: d\ntriggers: [a, b\u{feff}c]", ""), &["\u{feff}"]),
        (skill("description: d\ntriggers: {patterns: ['a\u{200d}b']}", ""), &["\u{200d}"]),
        (skill("description: d\ntriggers: 'it''s, b\u{200c}c'", ""), &["\u{200c}"]),
        (skill("description: d", "a\u{2066}b\u{2069}\n"), &["\u{2066}", "\u{2069}"]),
        (skill("description: d", "Hi\u{e0048}\u{e0069}"), &["\u{e0048}\u{e0069}"]),
        (skill("description: d", "`a\u{200b}b`"), &["\u{200b}"]),
        (skill("description: d", "a\0b \u{1b}[2J\r\n\u{9b}"), &["\0", "\u{1b}", "\u{9b}"]),
        (skill("description: \"a\\u001bb\"", ""), &["\"a\\u001bb\""]),
        (
            skill("description: d", "\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}"),
            &["\u{e0068}\u{e0069}\u{e007f}"],
        ),
        (skill("description: d\nlicense: a\u{200b}b", ""), &[]),
    ] {
        assert_eq!(quoted(&text), expected, "{text:?}");
    }
    assert_eq!(quoted("\u{feff}# T\n\nText."), [""; 0]);
}

#[test]
fn a_text_loses_what_is_invisible_and_nothing_else() {
    for (text, wanted) in [
        ("plain\ttext\r\n\u{85}", "plain\ttext\r\n\u{85}"),
        ("a\0b\u{7}\u{8} \u{1b}[31mred\u{7f}\u{9b}0m", "ab [31mred0m"),
        ("\u{e0048}a\u{200b}b\u{202e}", "ab"),
        ("\u{3164}a\u{115f}\u{ffa0}b\u{180e}\u{34f}\u{2065}\u{fff0}\u{e0fff} \u{ad}c", "ab c"),
        ("می\u{200c}خواهم \u{2060}👩\u{200d}💻", "می\u{200c}خواهم 👩\u{200d}💻"),
    ] {
        assert_eq!(without_invisible(text), wanted);
    }
}

#[test]
fn the_table_is_that_of_unicode() {
    let property = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
    let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) =
        property.kind()
    else {
        unreachable!()
    };
    let ranges = class.iter().map(|range| (range.start(), range.end()));
    assert!(ranges.eq(DEFAULT_IGNORABLE));
}

#[test]
fn joiners_of_scripts_and_emoji_are_spelling() {
    for text in [
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष, ක\u{dca}\u{200d}ෂ",
        "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 👨🏽\u{200d}🦰",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "ภาษา\u{200b}ไทย",
        "a\u{ad}b",
        "\u{1100}\u{1160} \u{115f}\u{1161}",
        "ᠮᠣ\u{180b}ᠩᠭ\u{180e}ᠣᠯ",
        "葛\u{e0100}城 ≨\u{fe00} ☎\u{fe0e}",
        "שלום!\u{200f} (C++)\u{200e}",
        "سلام\u{61c} 1",
    ] {
        assert_eq!(runs(text).next(), None, "{text}");
    }
    for text in [
        "a\u{fe00}b",
        "葛\u{e0100}\u{e0101}",
        "left\u{200f}to right",
        "x\u{2062}y",
        "a\u{200d}b",
        "👩\u{200d} ",
        "a\u{200c}م",
        "ไทย\u{200b} a",
        "🏴\u{e007f}",
        "a\u{ad} b",
        "\u{115f}\u{1160}",
        "x\u{180b}",
    ] {
        assert_eq!(runs(text).count(), 1, "{text:?}");
    }
}

#[test]
fn findings_show_the_characters_and_stay_few() {
    let text = format!("---\nname: n\ndescription: d\n---\n{}", "a\u{200b}".repeat(5_000));
    let found = find(&load::load(&text, "repertoire"), &text);
    assert_eq!(found.len(), MAX_REPORTED);
    assert_eq!(found[0].message, "the body holds the invisible character `\\u{200b}`");
    assert!(found[9].message.ends_with("and such in 4990 more places"), "{:?}", found[9]);
    let tags = "obey".chars().map(|c| char::from_u32(0xe_0000 + u32::from(c)).unwrap());
    let text = format!("---\nname: n\ndescription: d{}\n---\n", tags.collect::<String>());
    let found = find(&load::load(&text, "repertoire"), &text);
    assert!(found[0].message.contains("4 invisible characters, `\\u{e006f}"), "{found:?}");
    assert!(found[0].help.contains("`obey`"), "{found:?}");
    let selectors = "obey".bytes().map(|b| char::from_u32(0xe_0100 + u32::from(b) - 16).unwrap());
    let text = format!("---\nname: n\ndescription: d{}\n---\n", selectors.collect::<String>());
    let found = find(&load::load(&text, "repertoire"), &text);
    assert!(found[0].help.contains("`obey`"), "{found:?}");
}
