//! Finds the values in invalid YAML that need quotes.

use std::collections::HashSet;
use std::ops::Range;

use super::yaml;

/// The names that follow `&` and `*` anywhere in the text. A name that follows both is a real anchor
/// with an alias; any other `&` or `*` is meant as text.
pub(super) struct Names<'a> {
    anchors: HashSet<&'a str>,
    aliases: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(source: &'a str) -> Names<'a> {
        let after = |indicator: char| {
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            source
                .split(indicator)
                .skip(1)
                .filter_map(|rest| rest.split(|c: char| !is_name(c)).next())
                .filter(|name| !name.is_empty())
                .collect()
        };
        Names { anchors: after('&'), aliases: after('*') }
    }
}

/// Returns the parts of the value at `range` that need quotes: all of it, some entries of a list or map
/// in brackets, or nothing.
pub(super) fn broken_scalars(
    source: &str,
    range: Range<usize>,
    names: &Names<'_>,
) -> Vec<Range<usize>> {
    let value = &source[range.clone()];
    let first_line = value.lines().next().unwrap_or_default();
    let is_sound = match value.chars().next() {
        None => true,
        Some('|' | '>') => is_block_header(first_line),
        Some(quote @ ('"' | '\'')) => {
            closing_quote(value, quote).is_some_and(|end| is_end(&value[end..]))
        }
        Some('[' | '{') if value.contains([']', '}']) && is_valid(value) => true,
        Some('[' | '{') => match brackets(value) {
            Ok(end) if is_end(&value[end..]) => {
                return broken_entries(source, range.start..range.start + end, names);
            }
            _ => false,
        },
        Some('*') => names.anchors.contains(first_line[1..].trim_end()),
        Some('&') => {
            let name = first_line[1..].split([' ', '\t']).next().unwrap_or_default();
            names.aliases.contains(name)
        }
        Some('!' | '%' | '@' | '`' | ']' | '}' | ',') => false,
        Some(_) => {
            let text = &source[without_comment(source, range.clone())];
            let is_entry = text.starts_with("- ") || text.starts_with("? ");
            !is_entry && !holds_key(text)
        }
    };
    if is_sound { Vec::new() } else { vec![without_comment(source, range)] }
}

/// Tells whether YAML would find a `key:` in `text` without quotes.
fn holds_key(text: &str) -> bool {
    text.ends_with(':') || [": ", ":\t", ":\n", ":\r"].iter().any(|colon| text.contains(colon))
}

pub(super) fn is_block_header(line: &str) -> bool {
    let header = line[1..].split(" #").next().unwrap_or_default().trim_end();
    header.bytes().all(|b| b.is_ascii_digit() || b == b'+' || b == b'-')
}

/// Tells whether `rest` is blank, or only a comment.
fn is_end(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < rest.len())
}

/// Returns the range of a value on a single line without the comment at its end. `#123` does not count
/// as a comment: in a line that is broken anyway, the author meant it as text.
fn without_comment(source: &str, range: Range<usize>) -> Range<usize> {
    let value = &source[range.clone()];
    match value.find(" # ") {
        Some(at) if !value.contains('\n') => {
            range.start..range.start + value[..at].trim_end().len()
        }
        _ => range,
    }
}

/// Returns the byte after the closing quote of the scalar that `value` starts with.
pub(super) fn closing_quote(value: &str, quote: char) -> Option<usize> {
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

/// Tells whether the quotes around `text` enclose all of it, although it holds the same quote, as in
/// `'don't panic'`: the first quote inside cannot close the text, because a word starts after it, or
/// because the quotes do not come in pairs as in `"a" or "b"`.
pub(super) fn encloses_its_quote(text: &str) -> bool {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return false };
    let Some(end) = closing_quote(text, quote) else { return false };
    let starts_word =
        text[..end - 1].ends_with(' ') || text[end..].starts_with(char::is_alphanumeric);
    text[1..].ends_with(quote) && (starts_word || text.matches(quote).count() % 2 == 1)
}

/// Adds the missing closing brackets to `value`, a collection in brackets. Returns `None` if none is
/// missing, or if the result still is not valid YAML.
pub(super) fn closed(value: &str) -> Option<String> {
    let missing = brackets(value).err()?;
    let closed: String = value.chars().chain(missing.into_iter().rev()).collect();
    is_valid(&closed).then_some(closed)
}

/// Tells whether `value` is valid YAML by itself.
pub(super) fn is_valid(value: &str) -> bool {
    yaml::parse(&format!("key: {value}"), &|at| at).is_ok()
}

/// Returns the byte after the closing bracket of the collection that `value` starts with. If it is never
/// closed, the error lists the brackets that would close it, the outermost first.
fn brackets(value: &str) -> Result<usize, Vec<char>> {
    let mut open = Vec::new();
    for (at, mark) in marks(value) {
        match mark {
            b'[' => open.push(']'),
            b'{' => open.push('}'),
            b']' | b'}' => {
                open.pop();
                if open.is_empty() {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
    }
    Err(open)
}

/// Returns the brackets and commas that structure a flow collection, with their positions: not those in
/// quotes, in comments, or in brackets inside of a text as in `*.{ts,js}`.
fn marks(value: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut at = 0;
    let last_line = value.rfind('\n').unwrap_or(0);
    std::iter::from_fn(move || {
        while let Some(&b) = value.as_bytes().get(at) {
            let here = at;
            at += 1;
            let starts_entry =
                || here == 0 || value[..here].trim_end().ends_with(['[', '{', ',', ':']);
            match b {
                b'[' | b'{' if !starts_entry() => {
                    let close = if b == b'[' { ']' } else { '}' };
                    let rest = &value[at..];
                    let end = rest.find(['[', ']', '{', '}']);
                    at +=
                        end.filter(|end| rest[*end..].starts_with(close)).map_or(0, |end| end + 1);
                }
                b'[' | b']' | b'{' | b'}' | b',' => return Some((here, b)),
                b'"' | b'\'' if starts_entry() => {
                    at = here + closing_quote(&value[here..], char::from(b)).unwrap_or(1);
                }
                b'#' if here < last_line && value[..here].ends_with(char::is_whitespace) => {
                    at += comment(&value[here..]).map_or(0, |len| len - 1);
                }
                _ => {}
            }
        }
        None
    })
}

/// Returns the length of the comment that `text` starts with. Only `# ` with a line below it counts as a
/// comment: in a collection that is broken anyway, the author meant `#123` as text, and what closes the
/// collection is not part of a comment.
fn comment(text: &str) -> Option<usize> {
    text.starts_with("# ").then(|| text.find('\n')).flatten()
}

/// Returns the entries of the flow collection at `range` that need quotes.
fn broken_entries(source: &str, range: Range<usize>, names: &Names<'_>) -> Vec<Range<usize>> {
    let value = &source[range.clone()];
    let (mut entries, mut open, mut start) = (Vec::new(), Vec::new(), 0);
    for (at, mark) in marks(value) {
        match (mark, open.last()) {
            (b'[' | b'{', _) => open.push(mark),
            (_, Some(&around)) => {
                if let Some(entry) = broken_entry(&value[start..at], around == b'[', names) {
                    let start = range.start + start;
                    entries.push(start + entry.start..start + entry.end);
                }
                if mark != b',' {
                    open.pop();
                }
            }
            _ => {}
        }
        start = at + 1;
    }
    entries
}

/// Returns the part of an entry that needs quotes: all of it in a list, the value in a map.
fn broken_entry(entry: &str, is_in_list: bool, names: &Names<'_>) -> Option<Range<usize>> {
    let mut text = entry.trim_start();
    while let Some(len) = comment(text) {
        text = text[len..].trim_start();
    }
    if !is_in_list {
        text = text[text.find(": ")? + 2..].trim_start();
    }
    let start = entry.len() - text.len();
    let comment = text.rfind('\n').and_then(|last| text[..last].find(" # "));
    let text = text[..comment.unwrap_or(text.len())].trim_end();
    let is_sound = match text.chars().next()? {
        '*' if names.anchors.contains(&text[1..]) => true,
        // More quotes around a text in quotes would become a part of the text.
        quote @ ('"' | '\'') if closing_quote(text, quote) == Some(text.len()) => true,
        _ if is_in_list => is_valid(&format!("[{text}]")),
        _ => is_valid(&format!("{{key: {text}}}")),
    };
    (!is_sound).then(|| start..start + text.len())
}
