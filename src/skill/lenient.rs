//! Front matter that is not valid YAML: repaired where it is clear what was meant, else stripped
//! to its name and description.

use std::ops::Range;

use super::yaml::{Node, Value};

/// Repaired YAML, and where its bytes came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// Copied pieces: their start in the repaired and in the original text, and their length.
    pieces: Vec<(usize, usize, usize)>,
    /// The first line that was changed, as it should have been written.
    pub(super) first_change: String,
}

impl Repaired {
    /// The byte of the original text for byte `at` of the repaired one.
    pub(super) fn original(&self, at: usize) -> usize {
        let after = self.pieces.partition_point(|(start, ..)| *start <= at);
        match after.checked_sub(1).and_then(|piece| self.pieces.get(piece)) {
            Some((start, original, len)) => original + (at - start).min(*len),
            None => 0,
        }
    }

    fn copy(&mut self, source: &str, range: Range<usize>) {
        self.pieces.push((self.text.len(), range.start, range.len()));
        self.text.push_str(&source[range]);
    }

    /// Copies `range` as a single-quoted scalar.
    fn quote(&mut self, source: &str, range: Range<usize>) {
        self.text.push('\'');
        let mut start = range.start;
        for (at, _) in source[range.clone()].match_indices('\'') {
            let after = range.start + at + 1;
            self.copy(source, start..after);
            self.text.push('\'');
            start = after;
        }
        self.copy(source, start..range.end);
        self.text.push('\'');
    }
}

/// Quotes the scalars that cannot stand without quotes and turns tabs that indent into blanks.
/// `None` if there is nothing to do.
pub(super) fn repair(source: &str) -> Option<Repaired> {
    let mut repaired =
        Repaired { text: String::new(), pieces: Vec::new(), first_change: String::new() };
    let lines = lines(source);
    let mut changed = false;
    let mut n = 0;
    while n < lines.len() {
        let line = &lines[n];
        if line.value.is_empty() {
            changed |= copy_indent(&mut repaired, source, line);
            repaired.copy(source, line.content.start..line.next);
            n += 1;
            continue;
        }
        // The value of a key, or an entry of a list, with the lines that continue it.
        let n_lines = 1 + lines[n + 1..].iter().take_while(|next| next.continues(line)).count();
        let last = lines[n..n + n_lines].iter().rposition(|line| !line.is_blank()).unwrap_or(0);
        let value = line.value.start..lines[n + last].content.end.max(line.value.start);
        let start = repaired.text.len();
        changed |= copy_indent(&mut repaired, source, line);
        repaired.copy(source, line.content.start..line.value.start);
        match classify(source, value.clone()) {
            Scalar::Sound => {
                repaired.copy(source, line.value.start..lines[n + n_lines - 1].next);
            }
            Scalar::Flow(reserved) => {
                let mut from = value.start;
                for entry in reserved {
                    repaired.copy(source, from..entry.start);
                    repaired.quote(source, entry.clone());
                    from = entry.end;
                    changed = true;
                }
                repaired.copy(source, from..lines[n + n_lines - 1].next);
            }
            Scalar::Broken(scalar) => {
                repaired.quote(source, scalar.clone());
                repaired.copy(source, scalar.end..lines[n + n_lines - 1].next);
                changed = true;
            }
        }
        if changed && repaired.first_change.is_empty() {
            let line = repaired.text[start..].lines().next().unwrap_or_default();
            repaired.first_change = line.trim().to_owned();
        }
        n += n_lines;
    }
    changed.then_some(repaired)
}

fn copy_indent(repaired: &mut Repaired, source: &str, line: &Line) -> bool {
    let indent = &source[line.start..line.content.start];
    if !indent.contains('\t') {
        repaired.copy(source, line.start..line.content.start);
        return false;
    }
    repaired.text.push_str(&indent.replace('\t', "  "));
    true
}

/// A line of YAML, in bytes of the text.
#[derive(Debug)]
struct Line {
    start: usize,
    /// Without indentation, line end and trailing blanks.
    content: Range<usize>,
    /// Where the value starts, after `key: ` and after `- `.
    value: Range<usize>,
    /// Column of the key or of the entry's dash; what is deeper belongs to it.
    indent: usize,
    next: usize,
}

impl Line {
    fn is_blank(&self) -> bool {
        self.content.is_empty()
    }

    /// Whether this line belongs to the value that starts on line `first`.
    fn continues(&self, first: &Line) -> bool {
        self.is_blank() || self.content.start - self.start > first.indent
    }
}

fn lines(source: &str) -> Vec<Line> {
    let mut start = 0;
    source
        .split_inclusive('\n')
        .map(|text| {
            let trimmed = text.trim_end();
            let content =
                start + (trimmed.len() - trimmed.trim_start().len())..start + trimmed.len();
            let mut value = content.clone();
            let mut indent = content.start - start;
            while source[value.clone()].starts_with("- ") {
                indent = value.start - start;
                value.start += 1;
                value.start += leading_blanks(&source[value.clone()]);
            }
            if let Some(key) = key_length(&source[value.clone()]) {
                indent = value.start - start;
                value.start += key + 1;
                value.start += leading_blanks(&source[value.clone()]);
            }
            // A comment, or the dash of an entry that is below.
            if source[value.clone()].starts_with('#') || &source[value.clone()] == "-" {
                value.start = value.end;
            }
            let line = Line { start, content, value, indent, next: start + text.len() };
            start = line.next;
            line
        })
        .collect()
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The length of the key in `key: value` or `key:`.
fn key_length(text: &str) -> Option<usize> {
    let colon = text.match_indices(':').map(|(at, _)| at).find(|at| {
        let rest = &text[at + 1..];
        rest.is_empty() || rest.starts_with([' ', '\t'])
    })?;
    let key = text[..colon].trim_matches(['"', '\'']);
    let is_key = key.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        && key.chars().all(|c| c.is_alphanumeric() || "_-./$ ".contains(c));
    is_key.then_some(colon)
}

/// What a value is, to the repair.
enum Scalar {
    /// Nothing to repair: also a block scalar, whatever it holds.
    Sound,
    /// A list or map in brackets, and the entries in it that need quotes.
    Flow(Vec<Range<usize>>),
    /// Text that needs quotes.
    Broken(Range<usize>),
}

fn classify(source: &str, range: Range<usize>) -> Scalar {
    let value = &source[range.clone()];
    let first_line = value.lines().next().unwrap_or_default();
    match value.chars().next() {
        None => Scalar::Sound,
        Some('|' | '>') if is_block_header(first_line) => Scalar::Sound,
        Some(quote @ ('"' | '\'')) => match closing_quote(value, quote) {
            Some(end) if is_end(&value[end..]) => Scalar::Sound,
            _ => Scalar::Broken(without_comment(source, range)),
        },
        Some('[' | '{') => match closing_bracket(value) {
            Some(end) if is_end(&value[end..]) => {
                Scalar::Flow(reserved_entries(source, range.start..range.start + end))
            }
            _ => Scalar::Broken(without_comment(source, range)),
        },
        Some('*') if is_name(first_line) && source.contains(&format!("&{}", &first_line[1..])) => {
            Scalar::Sound
        }
        Some('&') if source.contains(&format!("*{}", first_word(&first_line[1..]))) => {
            Scalar::Sound
        }
        Some('|' | '>' | '*' | '&' | '!' | '%' | '@' | '`' | ']' | '}' | ',') => {
            Scalar::Broken(without_comment(source, range))
        }
        Some(_) if value.starts_with("- ") || value.starts_with("? ") => {
            Scalar::Broken(without_comment(source, range))
        }
        Some(_) => {
            let plain = without_comment(source, range);
            let text = &source[plain.clone()];
            if text.contains(": ")
                || text.contains(":\t")
                || text.contains(":\n")
                || text.contains(":\r")
                || text.ends_with(':')
            {
                Scalar::Broken(plain)
            } else {
                Scalar::Sound
            }
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split([' ', '\t']).next().unwrap_or_default()
}

/// Whether all of `text` after its indicator is one word.
fn is_name(text: &str) -> bool {
    text.len() > 1 && text[1..].chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
}

fn is_block_header(line: &str) -> bool {
    let header = line[1..].split(" #").next().unwrap_or_default().trim_end();
    header.bytes().all(|b| b.is_ascii_digit() || b == b'+' || b == b'-')
}

/// Whether nothing but a comment follows.
fn is_end(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < rest.len())
}

/// The range without a comment on its first line. `#123` is no comment here: where the line is
/// broken anyway, it was meant as text.
fn without_comment(source: &str, range: Range<usize>) -> Range<usize> {
    let value = &source[range.clone()];
    match value.find(" # ") {
        Some(at) if !value.contains('\n') => {
            range.start..range.start + value[..at].trim_end().len()
        }
        _ => range,
    }
}

/// The byte after the quote that closes the scalar `value` starts with.
fn closing_quote(value: &str, quote: char) -> Option<usize> {
    let bytes = value.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == '"' => at += 1,
            b'\'' if quote == '\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            b if char::from(b) == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The byte after the bracket that closes the collection `value` starts with.
fn closing_bracket(value: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&b) = value.as_bytes().get(at) {
        match b {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' | b'\'' if value[..at].trim_end().ends_with(['[', '{', ',', ':']) => {
                at += closing_quote(&value[at..], char::from(b)).unwrap_or(1) - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Entries of the flow collection at `range` that start with a character no plain scalar may
/// start with.
fn reserved_entries(source: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut entries = Vec::new();
    let mut start = range.start;
    for (at, c) in source[range.clone()].char_indices() {
        let at = range.start + at;
        if !matches!(c, '[' | ']' | '{' | '}' | ',') {
            continue;
        }
        let text = &source[start..at];
        let entry = at - text.trim_start().len()..start + text.trim_end().len();
        let is_reserved = text.trim_start().starts_with(['@', '`', '%', '*', '&', '!']);
        if is_reserved {
            entries.push(entry);
        }
        start = at + 1;
    }
    entries
}

/// What could be saved of front matter that is beyond repair: a map of `name` and
/// `description`. `source` starts at byte `offset` of the file.
pub(super) fn salvage(source: &str, offset: usize) -> Vec<(Node, Node)> {
    let lines = lines(source);
    let mut entries: Vec<(Node, Node)> = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let key = line.start..line.start + key_length(&source[line.content.clone()]).unwrap_or(0);
        if !matches!(&source[key.clone()], "name" | "description")
            || entries.iter().any(|(earlier, _)| earlier.text() == Some(&source[key.clone()]))
        {
            continue;
        }
        let rest = lines[n + 1..].iter().take_while(|next| next.continues(line));
        let end = rest.last().map_or(line.content.end, |last| last.content.end);
        let span = line.value.start..end.max(line.value.start);
        let text = salvaged_text(&source[span.clone()]);
        if !text.is_empty() {
            let scalar = |text: String, span: Range<usize>| Node {
                value: Value::Scalar { text, plain: false },
                span: offset + span.start..offset + span.end,
            };
            entries.push((scalar(source[key.clone()].to_owned(), key), scalar(text, span)));
        }
    }
    entries
}

fn salvaged_text(value: &str) -> String {
    let value = value.trim();
    let first_line = value.lines().next().unwrap_or_default();
    let value = match value.chars().next() {
        Some('|' | '>') if is_block_header(first_line) => &value[first_line.len()..],
        Some(quote @ ('"' | '\'')) => value[1..].strip_suffix(quote).unwrap_or(&value[1..]),
        _ => value,
    };
    // Control characters are what made some of these files invalid.
    let visible: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
