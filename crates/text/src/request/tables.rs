//! Lines of tables, and output in columns.

use std::borrow::Cow;

use crate::boundary::is_unspaced;

/// Tells whether a line is a row of a table between bars, or a rule of one.
pub(super) fn is_row(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.len() > 2 && text.bytes().all(|byte| b"+-=|: ".contains(&byte));
    let is_framed = text.starts_with(|c| ('\u{2500}'..='\u{257f}').contains(&c));
    is_framed || text.starts_with('|') && count(text, b'|') >= 2 || is_rule && count(text, b'-') > 2
}

/// Tells whether two adjacent lines are rows of a table whose cells are parted by tabs, commas or semicolons,
/// or aligned by blanks.
pub(super) fn are_rows(above: &str, below: &str) -> bool {
    let [above, below] = [without_quotes(above.trim()), without_quotes(below.trim())];
    let (above, below) = (&*above, &*below);
    let share = |byte, least| {
        let n = count(below, byte);
        n >= least && n == count(above, byte)
    };
    // With one comma, both cells must be single words. Sentences of scripts without blanks have two.
    let has_unspaced = |line: &str| !line.is_ascii() && line.contains(is_unspaced);
    let n_commas = if has_unspaced(above) || has_unspaced(below) {
        3
    } else if above.contains(' ') || below.contains(' ') {
        2
    } else {
        1
    };
    let is_list = |line: &str| {
        [", ", "; ", "，"].iter().any(|mark| line.contains(mark))
            || n_commas == 1 && line.ends_with(',')
    };
    share(b'\t', 1)
        || (share(b',', n_commas) || share(b';', n_commas.max(2)))
            && !is_list(above)
            && !is_list(below)
        || has_columns(above) && has_columns(below)
        || is_address(above) && is_address(below)
        || is_token_of_list(above) && is_token_of_list(below)
}

/// Tells whether a line is one word as lists of programs have them: a pattern of files, an address, an id. A path of
/// one part may be a command: `/deploy`.
fn is_token_of_list(line: &str) -> bool {
    if line.len() < 2 || !line.is_ascii() || line.contains([' ', '`', '$']) {
        return false;
    }
    let is_pattern = line.starts_with(['.', '!', '*']) && line.ends_with(is_of_path)
        || line.ends_with('/') && line[1..].starts_with(is_of_path);
    let is_mail = || {
        line.split_once('@')
            .is_some_and(|(name, host)| name.ends_with(is_of_path) && host.contains('.'))
    };
    let is_id = || {
        count_of(line, |c| c.is_ascii_digit()) > 3
            && count_of(line, |c| "-.:".contains(c)) > 2
            && line.chars().all(|c| c.is_ascii_hexdigit() || "-.:/".contains(c))
    };
    is_pattern || is_mail() || is_id()
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_*/".contains(c)
}

fn count_of(text: &str, is_counted: impl Fn(char) -> bool) -> usize {
    text.chars().filter(|&c| is_counted(c)).count()
}

/// Returns a row without its cells in quotation marks, in which commas may stand.
fn without_quotes(row: &str) -> Cow<'_, str> {
    if !row.as_bytes().contains(&b'"') || !row.contains(",\"") && !row.contains("\",") {
        return Cow::Borrowed(row);
    }
    row.split('"').step_by(2).collect::<Vec<&str>>().join("\"\"").into()
}

/// Tells whether a line is nothing but an address, a path, or a link, perhaps as an item.
fn is_address(line: &str) -> bool {
    let text = line.trim_start_matches(['-', '*', ' ']);
    let is_link = text.starts_with('[') && text.contains("](") && text.ends_with(')');
    let is_path = |text: &str| {
        text.contains("://") || text.split('/').filter(|part| !part.is_empty()).count() > 2
    };
    is_link || !text.contains(' ') && text.is_ascii() && is_path(text)
}

/// Tells whether the words of a line are aligned with those of other lines: it has wide gaps inside, but for
/// those behind the end of a sentence and the mark of an item.
pub(super) fn has_columns(line: &str) -> bool {
    let text = line.trim();
    // Few lines have any, and searching for two equal characters has a price before it begins.
    if !text.as_bytes().windows(2).any(|pair| pair == b"  ") {
        return false;
    }
    let (mut n_wide, mut n_double) = (0, 0);
    let mut at = 0;
    while let Some(start) = text[at..].find("  ").map(|next| at + next) {
        let n_blanks = text[start..].len() - text[start..].trim_start_matches(' ').len();
        let before = &text[..start];
        if at > 0 || !is_item_mark(before) {
            n_wide += usize::from(n_blanks > 2);
            n_double += usize::from(!before.ends_with(['.', '?', '!', ':', ',', ';']));
        }
        at = start + n_blanks;
    }
    n_wide > 0 || n_double > 1
}

fn is_item_mark(text: &str) -> bool {
    let number = text.strip_suffix(['.', ')']);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        || ["-", "*", "+", "•"].contains(&text)
}

/// Tells whether a line has a bar between two cells.
pub(super) fn has_bar(line: &str) -> bool {
    line.contains(" | ")
}

fn count(text: &str, byte: u8) -> usize {
    text.bytes().filter(|&other| other == byte).count()
}
