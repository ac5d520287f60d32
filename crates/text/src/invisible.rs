//! Invisible characters: a person who reads the file does not see them, but a model does.
//!
//! Tag characters and variation selectors can spell a whole message (*ASCII smuggling*). Bidi controls
//! show text in another order than it is read (Boucher and Anderson, *Trojan Source*, 2021). A control
//! character can begin a command to the terminal, and a zero-width character keeps a trigger from
//! matching. A filler that has no shape hides text from a person in the same way. Joiners that a writing
//! system or an emoji needs are left alone.

use std::borrow::Cow;
use std::ops::Range;

/// The characters that a program shows as nothing if it does not support them, and code points reserved
/// for more of them: the property `Default_Ignorable_Code_Point` of `DerivedCoreProperties.txt`, Unicode
/// 16.0.
const DEFAULT_IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Blocks of the scripts that spell with joiners (U+200C, U+200D): Arabic and its neighbours, the
/// scripts of India and of Southeast Asia, Mongolian, and their extensions.
const JOINING_SCRIPTS: [(char, char); 7] = [
    ('\u{600}', '\u{109f}'),
    ('\u{1700}', '\u{1cff}'),
    ('\u{a800}', '\u{abff}'),
    ('\u{fb50}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefc}'),
    ('\u{10a00}', '\u{11fff}'),
    ('\u{1e900}', '\u{1eeff}'),
];

/// Blocks of the scripts without spaces that mark where a line may break (U+200B): Thai, Lao, Tibetan,
/// Myanmar, Khmer.
const UNSPACED_SCRIPTS: [(char, char); 2] = [('\u{e00}', '\u{109f}'), ('\u{1780}', '\u{17ff}')];

/// Blocks with the pictures that emoji sequences are made of.
const PICTURES: [(char, char); 5] = [
    ('\u{2190}', '\u{21ff}'),
    ('\u{2300}', '\u{23ff}'),
    ('\u{25a0}', '\u{27bf}'),
    ('\u{2900}', '\u{2bff}'),
    ('\u{1f000}', '\u{1faff}'),
];

/// Blocks of the scripts that are written from right to left, where marks of direction (U+061C, U+200E,
/// U+200F) keep punctuation and foreign words in their place.
const RIGHT_TO_LEFT: [(char, char); 4] = [
    ('\u{590}', '\u{8ff}'),
    ('\u{fb1d}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefc}'),
    ('\u{10800}', '\u{10fff}'),
];

/// The distance, in characters before and after a mark of direction, within which a letter of a
/// right-to-left script makes the mark legitimate.
const NEAR: usize = 16;

/// The tags after U+1F3F4 in the flags of England, Scotland and Wales, the only flags that are spelt
/// with tags.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Returns the printable ASCII character that a tag character encodes, or a variation selector that is
/// used to encode a byte.
pub fn as_ascii(c: char) -> Option<char> {
    let code = match u32::from(c) {
        // The first 16 selectors are in another block, and would encode control characters.
        selector @ 0xe_0100.. => selector - 0xe_0100 + 16,
        tag => tag.checked_sub(0xe_0000)?,
    };
    char::from_u32(code).filter(|c| (' '..='~').contains(c))
}

/// Returns `text` without its invisible characters, as a model may read it. Characters that belong to
/// the spelling of a word or an emoji are kept. A line feed replaces each other character that ends a line
/// for some programs; a carriage return before a line feed is kept.
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    // Nearly every text passes this check, which reads many bytes at a time.
    if text.bytes().all(|b| b.is_ascii() && b != b'\r' && !is_control(char::from(b))) {
        return Cow::Borrowed(text);
    }
    match without_runs(text) {
        Cow::Borrowed(text) => with_line_feeds(text),
        Cow::Owned(text) => Cow::Owned(with_line_feeds(&text).into_owned()),
    }
}

/// Returns `text` with a line feed in place of each other character that ends a line, except for a carriage
/// return before a line feed.
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let mut end = 0;
    for (at, found) in text.match_indices(['\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        let next = at + found.len();
        if found == "\r" && text[next..].starts_with('\n') {
            continue;
        }
        changed.extend([&text[end..at], "\n"]);
        end = next;
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(&text[end..]);
    Cow::Owned(changed)
}

fn without_runs(text: &str) -> Cow<'_, str> {
    let mut visible = String::new();
    let mut end = 0;
    for run in runs(text) {
        visible.push_str(&text[end..run.start]);
        end = run.end;
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    visible.push_str(&text[end..]);
    Cow::Owned(visible)
}

/// Returns the runs of invisible characters that do not belong to the spelling of a word or an emoji.
pub fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[at..].find(is_invisible) {
            let start = at + found;
            let rest = &text[start..];
            let end = rest.find(|c| !is_invisible(c)).map_or(text.len(), |len| start + len);
            at = end;
            if !is_legitimate(&text[..start], &text[start..end], &text[end..]) {
                return Some(start..end);
            }
        }
        None
    })
}

/// Tells whether a character has no shape of its own, or changes the order in which other characters are
/// shown. Includes control characters, except those that separate words or lines, and characters that
/// some scripts and emoji are spelt with, such as joiners.
pub fn is_invisible(c: char) -> bool {
    // U+FE0F marks a picture: one selector alone cannot spell a message. U+FFF9 to U+FFFB enclose
    // annotations.
    is_control(c)
        || c != '\u{fe0f}' && (is_default_ignorable(c) || ('\u{fff9}'..='\u{fffb}').contains(&c))
}

/// Tells whether a program shows `c` as nothing if it does not support it.
pub fn is_default_ignorable(c: char) -> bool {
    let after = DEFAULT_IGNORABLE.partition_point(|&(start, _)| start <= c);
    after > 0 && c <= DEFAULT_IGNORABLE[after - 1].1
}

fn is_of(c: char, blocks: &[(char, char)]) -> bool {
    blocks.iter().any(|(a, b)| (*a..=*b).contains(&c))
}

/// Tells whether a character is a control character (C0 or C1) that does not separate words or lines.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
}

/// Tells whether the invisible `run` between two texts belongs to the spelling of a word or an
/// emoji.
fn is_legitimate(before: &str, run: &str, after: &str) -> bool {
    let previous = before.chars().next_back();
    let next = after.chars().next();
    let mut chars = run.chars();
    let (Some(first), None) = (chars.next(), chars.next()) else {
        let is_flag = |tags: &&str| run.chars().filter_map(as_ascii).eq(tags.chars());
        return previous == Some('\u{1f3f4}')
            && run.ends_with('\u{e007f}')
            && run.chars().count() == 6
            && FLAGS.iter().any(is_flag);
    };
    match first {
        // A soft hyphen marks where a word may break.
        '\u{ad}' => [previous, next].into_iter().all(|c| c.is_some_and(char::is_alphabetic)),
        // Fillers for the letter that a Korean syllable lacks.
        '\u{115f}' => next.is_some_and(|c| ('\u{1161}'..='\u{11a7}').contains(&c)),
        '\u{1160}' => previous.is_some_and(|c| ('\u{1100}'..='\u{115e}').contains(&c)),
        // Selectors of a form of a Mongolian letter, and the separator of its vowels.
        '\u{180b}'..='\u{180f}' => previous.is_some_and(|c| ('\u{1820}'..='\u{18aa}').contains(&c)),
        '\u{200c}' | '\u{200d}' if previous.is_some_and(|c| is_of(c, &JOINING_SCRIPTS)) => true,
        // The picture may be followed by a skin tone, or by the selector that marks it as a picture.
        '\u{200d}' => {
            let is_modifier = |c: char| c == '\u{fe0f}' || ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
            let is_picture = |c: char| is_of(c, &PICTURES);
            previous.is_some_and(|c| is_modifier(c) || is_picture(c))
                && next.is_some_and(is_picture)
        }
        // Selectors that choose a variant of an ideograph or a symbol.
        '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}' => {
            previous.is_some_and(|c| !c.is_ascii())
        }
        '\u{61c}' | '\u{200e}' | '\u{200f}' => {
            let mut near = before.chars().rev().take(NEAR).chain(after.chars().take(NEAR));
            // Other marks of direction are in these blocks, too, but are not letters.
            near.any(|c| is_of(c, &RIGHT_TO_LEFT) && !is_invisible(c))
        }
        '\u{200b}' => {
            [previous, next].into_iter().all(|c| c.is_some_and(|c| is_of(c, &UNSPACED_SCRIPTS)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_loses_what_is_invisible_and_nothing_else() {
        for (text, wanted) in [
            ("plain\ttext\r\n", "plain\ttext\r\n"),
            ("a\rb\u{85}c\u{2028}d\u{2029}\r\ne\r", "a\nb\nc\nd\n\r\ne\n"),
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
            "a\u{fe00}b", "葛\u{e0100}\u{e0101}", "left\u{200f}to right", "a\u{61c}\u{61c}b",
            "x\u{2062}y", "a\u{200d}b", "👩\u{200d} ", "a\u{200c}م", "ไทย\u{200b} a",
            "🏴\u{e007f}", "a\u{ad} b", "\u{115f}\u{1160}", "x\u{180b}",
        ] {
            assert_eq!(runs(text).count(), 1, "{text:?}");
        }
        assert_eq!(
            runs("left\u{61c}to\u{200f}right").count(),
            2,
            "no letter is from right to left"
        );
    }
}
