//! Repairs front matter that is not valid YAML: quotes plain scalars, escapes stray backslashes and quotes, and
//! indents with blanks.

use std::ops::Range;

use super::tabs::without_tabs;
use super::yaml;
use super::yaml_lines::{closing_quote, lines, value};

/// Repaired YAML, with a mapping from its bytes to those of the original text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// The quotes and backslashes that were inserted, as bytes of `text`.
    inserted: Vec<usize>,
    /// The scalars that were repaired, as bytes of `text`; there is at least one.
    scalars: Vec<Range<usize>>,
}

impl Repaired {
    /// Returns the byte of the original text that corresponds to byte `at` of the repaired text.
    pub(super) fn original(&self, at: usize) -> usize {
        at - self.inserted.partition_point(|inserted| *inserted < at)
    }

    /// Returns the repaired scalar around byte `at` of the original text, or else the first repaired
    /// scalar: the parser reports some faults only below the value that has them.
    pub(super) fn scalar_at(&self, at: usize) -> Range<usize> {
        let holds = |scalar: &&Range<usize>| {
            (self.original(scalar.start)..=self.original(scalar.end)).contains(&at)
        };
        self.scalars.iter().find(holds).unwrap_or(&self.scalars[0]).clone()
    }

    /// The scalars that were repaired, as bytes of the original text; one that is empty stands for tabs.
    pub(super) fn repaired(&self) -> impl Iterator<Item = Range<usize>> {
        let scalars = self.scalars.iter();
        scalars.map(|scalar| self.original(scalar.start)..self.original(scalar.end))
    }

    /// Copies a scalar, in single quotes, or with its backslashes escaped if it has double quotes.
    fn mend(&mut self, scalar: &str) {
        let start = self.text.len();
        if let Some(quote) = quote_around(scalar) {
            self.escape_inside(scalar, quote);
            self.scalars.push(start..self.text.len());
            return;
        }
        let is_quoted = scalar.starts_with('"') && closing_quote(scalar, '"') == Some(scalar.len());
        if is_quoted {
            let mut is_escaped = false;
            for (at, c) in scalar.char_indices() {
                self.text.push(c);
                let is_backslash = c == '\\' && !is_escaped;
                is_escaped = is_backslash && is_escape(&scalar[at + 1..]);
                if is_backslash && !is_escaped {
                    self.insert('\\');
                }
            }
        } else {
            self.insert('\'');
            for c in scalar.chars() {
                self.text.push(c);
                if c == '\'' {
                    self.insert('\'');
                }
            }
            self.insert('\'');
        }
        self.scalars.push(start..self.text.len());
    }

    /// Copies a scalar that has `quote` at both ends, and escapes those inside of it.
    fn escape_inside(&mut self, scalar: &str, quote: char) {
        let escape = if quote == '"' { '\\' } else { quote };
        let inside = 1..scalar.len() - 1;
        for (at, c) in scalar.char_indices() {
            // In single quotes, a backslash is a character like any other.
            let is_escaped = quote == '"' && scalar[..at].ends_with('\\');
            if c == quote && inside.contains(&at) && !is_escaped {
                self.insert(escape);
            }
            self.text.push(c);
        }
    }

    fn insert(&mut self, c: char) {
        self.inserted.push(self.text.len());
        self.text.push(c);
    }
}

/// Returns the quote at both ends of `scalar` if more of them are inside, as in `"say "hi" now"`; `None` for
/// several texts in quotes, as in `"a" and "b"`.
fn quote_around(scalar: &str) -> Option<char> {
    let quote = scalar.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let is_one = closing_quote(scalar, quote) == Some(scalar.len());
    let inside = scalar.get(1..)?.strip_suffix(quote).filter(|_| !is_one)?;
    let (_, after) = inside.split_once(quote)?;
    after.starts_with(|c: char| c.is_alphanumeric()).then_some(quote)
}

/// Tells whether a backslash before `rest` was meant as an escape, in a text in which another backslash
/// was not: `\b` is a word boundary there rather than a backspace.
fn is_escape(rest: &str) -> bool {
    let is_hex = |n_digits: usize| {
        let digits = rest.get(1..=n_digits);
        digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    match rest.bytes().next() {
        Some(b'x') => is_hex(2),
        Some(b'u') => is_hex(4),
        Some(b'U') => is_hex(8),
        first => first.is_some_and(|b| b"\"\\/ntr\r\n".contains(&b)),
    }
}

/// Repairs each value, or entry in brackets, that is not valid YAML by itself; `None` if there is none.
pub(super) fn repair(written: &str) -> Option<Repaired> {
    let mut repaired = Repaired::default();
    let source = &*without_tabs(written);
    let lines = lines(source);
    let (mut n, mut copied) = (0, 0);
    while n < lines.len() {
        if lines[n].value.is_empty() {
            n += 1;
            continue;
        }
        let (value, n_below) = value(source, &lines[n..]);
        n += 1 + n_below;
        for scalar in broken_scalars(&source[value.clone()]) {
            let scalar = value.start + scalar.start..value.start + scalar.end;
            repaired.text.push_str(&source[copied..scalar.start]);
            repaired.mend(&source[scalar.clone()]);
            copied = scalar.end;
        }
    }
    repaired.text.push_str(&source[copied..]);
    if repaired.scalars.is_empty() && source != written {
        let tab = written.find('\t').unwrap_or_default();
        repaired.scalars.push(tab..tab);
    }
    (!repaired.scalars.is_empty()).then_some(repaired)
}

/// Returns the parts of `value` that are not valid YAML: all of it, some entries of a list or map in
/// brackets, or nothing.
fn broken_scalars(value: &str) -> Vec<Range<usize>> {
    if is_valid(&format!("key: {value}")) {
        return Vec::new();
    }
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first));
    let quoted = quote.and_then(|quote| closing_quote(value, quote));
    let whole = match quoted.filter(|end| is_end(&value[*end..])) {
        Some(end) => 0..end,
        None => match flow_entries(value) {
            Some((entries, end)) if is_end(&value[end..]) => return entries,
            _ => 0..without_comment(value).len(),
        },
    };
    vec![whole]
}

fn is_valid(yaml: &str) -> bool {
    yaml::parse(yaml, &|at| at).is_ok()
}

/// Tells whether `rest` is blank, or only a comment.
fn is_end(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < rest.len())
}

/// Returns a value on a single line without the comment at its end. `#123` does not count as a comment:
/// in a line that is broken anyway, the author meant it as text.
fn without_comment(value: &str) -> &str {
    match value.find(" # ") {
        Some(at) if !value.contains('\n') => value[..at].trim_end(),
        _ => value,
    }
}

/// Returns the broken entries of the list or map in brackets that `value` starts with, and the byte after
/// its closing bracket. Returns `None` if it is not in brackets, or if they are not closed.
fn flow_entries(value: &str) -> Option<(Vec<Range<usize>>, usize)> {
    let bytes = value.as_bytes();
    let last_line = value.rfind('\n').unwrap_or(0);
    let (mut broken, mut open) = (Vec::new(), Vec::new());
    // The current entry starts at byte `start`; in a map, the value after `: `.
    let (mut at, mut start, mut is_after_key) = (0, 0, false);
    while let Some(&b) = bytes.get(at) {
        let is_first = || value[start..at].trim().is_empty();
        match b {
            b'[' | b'{' if is_first() => {
                open.push(b);
                (start, is_after_key) = (at + 1, false);
            }
            _ if open.is_empty() => return None,
            // Brackets inside of a text, as in `*.{ts,js}`.
            b'[' | b'{' => {
                let close = if b == b'[' { ']' } else { '}' };
                let end = value[at + 1..].find(['[', ']', '{', '}']).map(|end| at + 1 + end);
                at = end.filter(|end| value[*end..].starts_with(close)).unwrap_or(at);
            }
            b'"' | b'\'' if is_first() => {
                at += closing_quote(&value[at..], char::from(b)).map_or(0, |end| end - 1);
            }
            // A comment. `#123` is text, as in `without_comment`.
            b'#' if at < last_line
                && value[at..].starts_with("# ")
                && value[..at].ends_with([' ', '\n']) =>
            {
                let end = at + value[at..].find('\n').unwrap_or(0);
                start = if is_first() { end } else { start };
                at = end;
            }
            b':' if open.ends_with(b"{") && !is_after_key && value[at + 1..].starts_with(' ') => {
                (start, is_after_key) = (at + 1, true);
            }
            b',' | b']' | b'}' => {
                broken.extend(broken_entry(value, start..at, is_after_key));
                (start, is_after_key) = (at + 1, false);
                if b != b',' {
                    open.pop();
                }
                if open.is_empty() {
                    return Some((broken, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the text at `range` without the blanks around it, unless it is empty or valid.
fn broken_entry(value: &str, range: Range<usize>, is_after_key: bool) -> Option<Range<usize>> {
    let text = value[range.clone()].trim_start();
    let start = range.end - text.len();
    let text = text.trim_end();
    let yaml = if is_after_key { format!("{{key: {text}}}") } else { format!("[{text}]") };
    (!text.is_empty() && !is_valid(&yaml)).then(|| start..start + text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::extract;

    #[test]
    fn scalars_that_yaml_refuses_are_put_in_quotes() {
        for (source, expected) in [
            ("d: Use when: asked", "d: 'Use when: asked'"),
            ("d: Use when: it's # why\n", "d: 'Use when: it''s' # why\n"),
            ("d: fix: see #1", "d: 'fix: see #1'"),
            ("d: [beta] helps", "d: '[beta] helps'"),
            ("d: [never closed", "d: '[never closed'"),
            ("d: {x} y", "d: '{x} y'"),
            ("d: @all", "d: '@all'"),
            ("d: **bold** y", "d: '**bold** y'"),
            ("d: \"one\" and two", "d: '\"one\" and two'"),
            ("d: \"never closed", "d: '\"never closed'"),
            ("d: ends:", "d: 'ends:'"),
            ("d: one\n  two: three\n\n  four\ne: f", "d: 'one\n  two: three\n\n  four'\ne: f"),
            ("m:\n  d: a: b\n", "m:\n  d: 'a: b'\n"),
            ("d: |\n  a\n  \tb\ne: f: g", "d: |\n  a\n  \tb\ne: 'f: g'"),
            ("# a: b: c\nd: a: b\n# why", "# a: b: c\nd: 'a: b'\n# why"),
            ("- @a\n- b\n- `c` d", "- '@a'\n- b\n- '`c` d'"),
            ("- k: a: b\n  l: c", "- k: 'a: b'\n  l: c"),
            ("k: [a, @b, '@c', *d]", "k: [a, '@b', '@c', '*d']"),
            ("d: a: b\nk: ['[a-z]* @x', \"{a,*}\"]", "d: 'a: b'\nk: ['[a-z]* @x', \"{a,*}\"]"),
            ("k: [Bash(git: *), Read]", "k: ['Bash(git: *)', Read]"),
            ("k: [a: b: c, d: e, '@', \"x\" y]", "k: ['a: b: c', d: e, '@', '\"x\" y']"),
            ("k: {a: @x, b: [%y, z], c: '%'}", "k: {a: '@x', b: ['%y', z], c: '%'}"),
            ("k: {a: b: c, d: e}", "k: {a: 'b: c', d: e}"),
            ("k: [#a, b c]", "k: ['#a', b c]"),
            ("k: [- a, -b, @c]", "k: ['- a', -b, '@c']"),
            ("k: [a, # b: c, @d\n  @e, f\n]\n", "k: [a, # b: c, @d\n  '@e', f\n]\n"),
            ("k: [*.{ts,js}, a]", "k: ['*.{ts,js}', a]"),
            ("d: a: b\r\ne: f\r\n", "d: 'a: b'\r\ne: f\r\n"),
        ] {
            let repaired = repair(source).expect(source);
            assert_eq!(repaired.text, expected, "{source:?}");
            assert!(is_valid(expected), "{expected:?}");
        }
    }

    #[test]
    fn backslashes_that_begin_no_escape_are_escaped() {
        for (source, expected) in [
            (r#"p: "rotate\s+" # why"#, r#"p: "rotate\\s+" # why"#),
            (r#"d: "C:\Users""#, r#"d: "C:\\Users""#),
            (r#"d: "a\x4g \x41 \"q\" \\ \n""#, r#"d: "a\\x4g \x41 \"q\" \\ \n""#),
            (r#"p: ["\bfoo\d+", "\\d", b]"#, r#"p: ["\\bfoo\\d+", "\\d", b]"#),
            (r#"p: {patterns: ["\d+, x"]}"#, r#"p: {patterns: ["\\d+, x"]}"#),
            ("- \"a\\d\n  b\"\n", "- \"a\\\\d\n  b\"\n"),
        ] {
            assert_eq!(repair(source).expect(source).text, expected);
            assert!(is_valid(expected), "{expected:?}");
        }
    }

    #[test]
    fn quotes_in_quotes_are_escaped() {
        for (source, expected) in [
            ("d: 'it's fine'", "d: 'it''s fine'"),
            (r"d: 'it\'s fine'", r"d: 'it\''s fine'"),
            ("d: 'it's what they're for' # why", "d: 'it''s what they''re for' # why"),
            (r#"d: "say "hi" now""#, r#"d: "say \"hi\" now""#),
            ("d: 'Foo' and 'bar'", "d: '''Foo'' and ''bar'''"),
            (r#"d: "Foo" and "bar""#, r#"d: '"Foo" and "bar"'"#),
        ] {
            assert_eq!(repair(source).expect(source).text, expected);
            assert!(is_valid(expected), "{expected:?}");
        }
    }

    #[test]
    fn blanks_indent_in_place_of_tabs() {
        for (source, expected) in [
            ("d: one\n\ttwo\nt: [a]", "d: one\n two\nt: [a]"),
            ("d: >\n\tone\n\ttwo\n", "d: >\n one\n two\n"),
            ("t:\n\tk:\n\t\t- a\n\t\t- b: c: d\n", "t:\n k:\n  - a\n  - b: 'c: d'\n"),
        ] {
            assert_eq!(repair(source).expect(source).text, expected);
            assert!(is_valid(expected), "{expected:?}");
        }
        assert!(repair("model: d\n\tagent: e").unwrap().text.contains('\t'));
    }

    #[test]
    fn sound_values_stay_as_they_are() {
        for source in [
            "d: |\n  a: b: c\n  @x\ne: f",
            "d: >-  # c\n  - `x`\n",
            "d: 'a: b'",
            "d: \"a: \\\" \\b\" # c",
            "d: [a,\n  b: c\n]",
            "d: http://x:8080/y",
            "'k': \"a: b\"\nm:\n  k: v\n-\n  a: b\n",
            "",
        ] {
            assert_eq!(repair(source), None, "{source:?}");
        }
    }

    #[test]
    fn bytes_of_repaired_text_lead_back_to_the_original() {
        let source = "a: it's: 'ñ'\nb: \"é\\d\"\nc: ü";
        let repaired = repair(source).unwrap();
        assert_eq!(repaired.text, "a: 'it''s: ''ñ'''\nb: \"é\\\\d\"\nc: ü");
        for piece in ["ñ", "b", "é", "c", "ü"] {
            let at = repaired.text.find(piece).unwrap();
            assert_eq!(repaired.original(at), source.find(piece).unwrap(), "{piece}");
        }
        assert_eq!(&repaired.text[repaired.scalar_at(20)], "\"é\\\\d\"");
        assert_eq!(repaired.scalar_at(source.len()), repaired.scalar_at(3));
    }

    #[test]
    fn hostile_text_takes_no_time() {
        let staircase: Vec<_> = (0..600).map(|i| format!("{}k: [\n", " ".repeat(i))).collect();
        for source in [
            "a: [\n".repeat(50_000),
            "name:\n\n".repeat(30_000),
            "[".repeat(250_000),
            format!("a: {}", "'".repeat(250_000)),
            format!("a: \"{}\"", "\\d".repeat(120_000)),
            format!("a: [{}", "\"x\", ".repeat(40_000)),
            format!("a: {}", "*a &a ".repeat(40_000)),
            "- ".repeat(120_000),
            format!("a: [{}]", "# ".repeat(120_000)),
            format!("a: [{}]", "x{".repeat(120_000)),
            format!("a: [{}]", "-,".repeat(4_000)),
            staircase.concat(),
        ] {
            // The limit is generous, because other tests may keep the machine busy; a hang would take
            // minutes.
            let start = std::time::Instant::now();
            let _ = (repair(&source), extract::fields(&source, 0..source.len()));
            assert!(start.elapsed().as_secs() < 20, "{source:.40} {:?}", start.elapsed());
        }
    }
}
