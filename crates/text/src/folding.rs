//! Folding: the normalised forms of text that the matcher searches, with a map back to the
//! original.
//!
//! A query has two forms. The *normalised* form, for patterns, is NFKC without characters that have no
//! shape of their own, with `-` for each hyphen, and without the dot of `İ`. The *folded* form is for
//! literals: the normalised form with full case folding, one blank for a run of white space, and `'` for
//! `’`. Folding goes character by character and is not normalised again, so that the folded form of a
//! part is a part of the folded form of the whole: a required literal of a pattern is never lost.

use std::borrow::Cow;
use std::ops::Range;

use caseless::Caseless;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::mapped::MappedText;
use crate::searched::searched_form;

/// Returns the folded form of a trigger: normalised, folded, and without blanks at its ends.
pub fn fold_trigger(trigger: &str) -> String {
    let mut folded = String::with_capacity(trigger.len());
    if trigger.is_ascii() {
        trigger.chars().for_each(|c| push_folded(c, &mut folded));
        return collapse_blanks(folded.trim()).into_owned();
    }
    for c in normalized_chars(trigger) {
        push_folded(c, &mut folded);
    }
    collapse_blanks(&folded).trim().to_owned()
}

/// Returns the normalised form of a text.
pub fn normalize(text: &str) -> Cow<'_, str> {
    if is_normalized(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normalized_chars(text).collect())
    }
}

/// Normalises a text as [`normalize`] does, into a buffer that is reused.
pub fn normalize_into<'b>(text: &'b str, buffer: &'b mut String) -> &'b str {
    if is_normalized(text) {
        return text;
    }
    buffer.clear();
    buffer.extend(normalized_chars(text));
    buffer
}

/// The characters of the normalised form of a text.
fn normalized_chars(text: &str) -> impl Iterator<Item = char> {
    let mut before = '\0';
    let dotless = text.chars().filter_map(searched_form).nfkd().filter(move |&c| {
        // An `İ` is an `I` and this dot.
        let is_dot = c == '\u{307}' && matches!(before, 'i' | 'I');
        before = if is_dot { before } else { c };
        !is_dot
    });
    dotless.nfc()
}

/// Appends the folded form of one character.
pub fn push_folded(c: char, out: &mut String) {
    match c {
        'a'..='z' | '0'..='9' => out.push(c),
        _ if c.is_ascii_whitespace() || c.is_whitespace() => out.push(' '),
        _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        '’' => out.push('\''),
        _ => out.extend(std::iter::once(c).default_case_fold()),
    }
}

/// Tells whether a character is known to be its own normalised form and, unless it is an ASCII capital,
/// its own folded form. True for most letters of some scripts, and for no number but those of ASCII; the
/// tables decide about all others.
pub fn is_settled(c: char) -> bool {
    matches!(c,
        '\0'..='\x7f' | 'à'..='ö' | 'ø'..='ÿ' | 'а'..='џ' | '、' | '。' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー'
            | '一'..='\u{9fff}' | '가'..='힣')
}

/// Replaces each run of blanks in `text` with one blank.
pub fn collapse_blanks(text: &str) -> Cow<'_, str> {
    if !text.contains("  ") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Both forms of one query. Its buffers are kept between queries.
#[derive(Debug, Default)]
pub struct QueryText {
    normalized: MappedText,
    folded: MappedText,
    /// True if the query is its own normalised form, so that `normalized` is not used.
    is_normalized: bool,
    /// True if the query is one line of ASCII.
    is_plain: bool,
}

impl QueryText {
    /// Makes both forms of a query.
    pub fn set(&mut self, query: &str) {
        let is_ascii = query.is_ascii();
        self.is_plain = is_ascii && !query.contains('\n');
        self.is_normalized = is_ascii || is_normalized(query);
        if !self.is_normalized {
            normalize_pieces(query, &mut self.normalized);
        }
        let source = if self.is_normalized { query } else { &self.normalized.text };
        if is_ascii && is_evenly_spaced(query) {
            self.folded.restart(query.len());
            self.folded.push(0, query);
            self.folded.text.make_ascii_lowercase();
        } else {
            fold_into(source, &mut self.folded);
        }
    }

    /// The folded form.
    pub fn folded(&self) -> &str {
        &self.folded.text
    }

    /// Tells whether the query is one line of ASCII. If so, a literal without blanks in the folded form
    /// is also in the query, except for its case, and `.` matches each character of the query.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns the normalised form of `query`, which must be the query last given to [`QueryText::set`].
    pub fn normalized<'a>(&'a self, query: &'a str) -> &'a str {
        if self.is_normalized { query } else { &self.normalized.text }
    }

    /// Returns the bytes of the query from which `range` of the folded form was made.
    pub fn span_of_folded(&self, range: Range<usize>) -> Range<usize> {
        self.span_of_normalized(self.folded.source_range(range))
    }

    /// Returns the range of the folded form that was made from `range` of the query.
    pub fn folded_range(&self, range: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.normalized_range(range);
        self.folded.place_of(start)..self.folded.place_of(end)
    }

    /// Returns the range of the normalised form that was made from `range` of the query.
    pub fn normalized_range(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at| if self.is_normalized { at } else { self.normalized.place_of(at) };
        place(range.start)..place(range.end)
    }

    /// Returns the bytes of the query from which `range` of the normalised form was made.
    pub fn span_of_normalized(&self, range: Range<usize>) -> Range<usize> {
        if self.is_normalized { range } else { self.normalized.source_range(range) }
    }
}

/// Tells whether each blank of a text of ASCII is one space. Its folded form is then its lower case.
fn is_evenly_spaced(text: &str) -> bool {
    let is_odd = |odd: bool, byte: u8| odd | (b'\t'..=b'\r').contains(&byte);
    !text.bytes().fold(false, is_odd) && !text.contains("  ")
}

/// Tells whether a text is known to be its own normalised form. Leaving out the settled characters cannot
/// make text that is not normalised pass for normalised.
fn is_normalized(text: &str) -> bool {
    if text.is_ascii() {
        return true;
    }
    let mut is_searched = true;
    let others = text.chars().filter(|&c| !is_settled(c));
    let others = others.inspect(|&c| is_searched &= c != 'İ' && searched_form(c) == Some(c));
    is_nfkc_quick(others) == IsNormalized::Yes && is_searched
}

/// Folds a normalised text. Copies the stretches in which only capitals of ASCII change.
fn fold_into(source: &str, out: &mut MappedText) {
    out.restart(source.len());
    let (mut start, mut after_blank) = (0, false);
    for (at, c) in source.char_indices() {
        let is_blank = c.is_whitespace();
        let is_first = !std::mem::replace(&mut after_blank, is_blank);
        if is_settled(c) && (!is_blank || c == ' ' && is_first) {
            continue;
        }
        out.push(start, &source[start..at]);
        start = at + c.len_utf8();
        if !is_blank || is_first {
            let place = out.text.len();
            push_folded(c, &mut out.text);
            out.mark(place, at, out.text.len() - place == c.len_utf8());
        }
    }
    out.push(start, &source[start..]);
    out.text.make_ascii_lowercase();
}

/// Normalises piece by piece. A piece starts at each character that cannot interact with those before it
/// (Unicode Standard Annex 15, *normalization boundary*), so that the normalised pieces together are the
/// normalised whole. A dropped character does not start a piece, and does not belong to a span that ends
/// before it.
fn normalize_pieces(source: &str, out: &mut MappedText) {
    out.restart(source.len());
    let mut start = 0;
    while start < source.len() {
        let mut rest = source[start..].char_indices().skip(1);
        let len = rest.find(|&(_, c)| starts_piece(c)).map_or(source.len() - start, |(at, _)| at);
        let whole = &source[start..start + len];
        let piece = whole.trim_end_matches(|c| searched_form(c).is_none());
        let at = out.text.len();
        if piece.chars().all(is_settled) {
            out.push(start, piece);
        } else {
            out.text.extend(normalized_chars(piece));
            let linear = &out.text[at..] == piece;
            out.mark(at, start, linear);
        }
        if piece.len() < len {
            out.mark(out.text.len(), start + piece.len(), false);
        }
        start += len;
    }
}

fn starts_piece(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let first = std::iter::once(c).nfkd().next().unwrap_or(c);
    canonical_combining_class(first) == 0
        && is_nfkc_quick(std::iter::once(first)) == IsNormalized::Yes
        && searched_form(c).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(query: &str) -> QueryText {
        let mut text = QueryText::default();
        text.set(query);
        text
    }

    #[test]
    fn folding_covers_case_width_ligatures_blanks_and_apostrophes() {
        let cases = [
            ("Git STATUS", "git status"),
            ("pull \n\t request", "pull request"),
            ("STRASSE straße", "strasse strasse"),
            ("open the ﬁle", "open the file"),
            ("ＡＰＩ", "api"),
            ("can’t", "can't"),
            ("RE\u{301}SUME\u{301}", "résumé"),
            ("İstanbul Sİ", "istanbul si"),
            ("I\u{307}i\u{307}i\u{307}\u{301}", "iií"),
            ("code\u{2011}review e\u{2010}mail\u{2043}", "code-review e-mail-"),
            ("\u{feff}da\u{200b}ta\u{ad}base\u{2060}", "database"),
            ("e\u{200b}\u{301}t\u{ad}e\u{301}", "été"),
            ("pull \u{200b} request", "pull request"),
            ("⚠\u{fe0f}👩\u{200d}💻🏴\u{e0067}\u{e007f}", "⚠👩💻🏴"),
            ("\u{200b}", ""),
            ("", ""),
        ];
        for (query, expected) in cases {
            assert_eq!(folded(query).folded(), expected, "{query:?}");
            assert_eq!(fold_trigger(query), expected, "{query:?}");
        }
        assert_eq!(fold_trigger("  a \u{a0} b "), "a b");
    }

    #[test]
    fn a_query_of_several_lines_is_not_plain() {
        for (query, expected) in [
            ("git hub", true),
            ("Git\thub", true),
            ("git  hub", true),
            ("git\nhub", false),
            ("git \n hub", false),
            ("\n", false),
            ("\ngit", false),
            ("git\n", false),
            ("gît", false),
            ("", true),
        ] {
            assert_eq!(folded(query).is_plain(), expected, "{query:?}");
        }
    }

    #[test]
    fn blanks_become_one_space_wherever_they_stand() {
        for n_bytes in 0..70 {
            for at in 0..=n_bytes {
                for blanks in [" ", "  ", "\t", " \n", "\r\n", "\u{b} ", "\u{c}"] {
                    let query = format!("{}{blanks}{}", "x".repeat(at), "x".repeat(n_bytes - at));
                    let expected = query.replace(blanks, " ");
                    assert_eq!(folded(&query).folded(), expected, "{query:?}");
                }
            }
        }
    }

    #[test]
    fn spans_point_into_what_the_user_wrote() {
        let cases = [
            ("Use GIT now", "git", "GIT"),
            ("a  \n b pull \r\n request!", "pull request", "pull \r\n request"),
            ("die STRAẞE 5", "strasse", "STRAẞE"),
            ("the ﬁle!", "file", "ﬁle"),
            ("（ＡＰＩ） を", "api", "ＡＰＩ"),
            ("un re\u{301}sume\u{301} ici", "résumé", "re\u{301}sume\u{301}"),
            ("㍿の", "株式会社", "㍿"),
            ("ﾊﾞｽ停", "バス", "ﾊﾞｽ"),
            ("각\u{1100}\u{1161}", "가", "\u{1100}\u{1161}"),
            ("\u{feff}a da\u{200b}ta\u{ad}, é", "data", "da\u{200b}ta"),
            ("\u{ad}e\u{200b}\u{301}te\u{301}\u{200b}!", "été", "e\u{200b}\u{301}te\u{301}"),
            ("İade\u{200b}", "iade", "İade"),
            ("a i\u{307}\u{200b} b", "i", "i\u{307}"),
            ("x\u{2011}y", "x-y", "x\u{2011}y"),
        ];
        for (query, part, expected) in cases {
            let text = folded(query);
            let start = text.folded().find(part).expect(query);
            let span = text.span_of_folded(start..start + part.len());
            assert_eq!(&query[span], expected, "{query:?}");
        }
    }

    #[test]
    fn settled_characters_stay_as_they_are() {
        let settled: Vec<char> = ('\0'..=char::MAX).filter(|&c| is_settled(c)).collect();
        assert!(settled.len() > 30_000);
        for c in settled {
            let text = c.to_string();
            let folded: String = text.chars().default_case_fold().collect();
            assert_eq!(folded, text.to_ascii_lowercase(), "{c:?}");
            assert_eq!(is_nfkc_quick(text.chars()), IsNormalized::Yes, "{c:?}");
            assert_eq!(canonical_combining_class(c), 0, "{c:?}");
            assert!(c.is_ascii() || !c.is_whitespace() && !c.is_numeric(), "{c:?}");
        }
    }

    #[test]
    fn what_settled_characters_combine_with_is_normalised() {
        for (text, expected) in [
            ("가\u{11a8}", "각"),
            ("か\u{3099}", "が"),
            ("é\u{323}", "ẹ\u{301}"),
            ("и\u{306}", "й"),
            ("a\u{323}é\u{301}", "ạé\u{301}"),
        ] {
            assert_eq!(folded(text).folded(), expected, "{text:?}");
        }
    }

    #[test]
    fn pieces_make_the_normalised_whole() {
        let marks = "a\u{323}\u{307}b\u{307}\u{323}\u{344}ﬃ\u{fb2a}ｶ\u{ff9e}\u{1100}\u{1161}\u{11a8}\u{1e9b}\u{323}";
        for text in [marks, "\u{301}x", "ＡＢＣ\u{301}", "ÅÅ\u{212b}", "क\u{93c}\u{958}"] {
            let mut query = QueryText::default();
            query.set(text);
            assert_eq!(query.normalized(text), text.nfkc().collect::<String>(), "{text:?}");
        }
        for dropped in ["\u{200b}", "\u{fe0f}", "\u{ad}\u{2060}", "\u{34f}"] {
            let text: String =
                marks.chars().flat_map(|c| [c.to_string(), dropped.into()]).collect();
            let mut query = QueryText::default();
            query.set(&text);
            assert_eq!(query.normalized(&text), marks.nfkc().collect::<String>(), "{text:?}");
            assert_eq!(normalize(&text), query.normalized(&text), "{text:?}");
        }
    }

    #[test]
    fn the_normalised_form_is_normalised() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let once = normalize(&text);
            assert_eq!(once, normalized_chars(&text).collect::<String>(), "{c:?}");
            assert!(normalized_chars(&once).eq(once.chars()), "{c:?} is {once:?}");
        }
    }
}
