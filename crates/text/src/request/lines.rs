//! The lines of a message, each with its kind.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::searched::searched_form;

use super::blocks::Fences;
use super::kind::{Kind, Line};
use super::tags::{Tags, preface};
use super::{code, conversations, entries, files, output, quotes, tables};

/// Reads the lines of a message.
pub(super) fn read(message: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let (mut fences, mut tags) = (Fences::default(), Tags::default());
    let (mut in_diff, mut in_commit) = (false, false);
    let mut at = preface(message);
    push_block(message, 0..at, Kind::Harness, &mut lines);
    while at < message.len() {
        let rest = &message[at..];
        let is_line_start = at == 0 || message[..at].ends_with('\n');
        let tagged = tags.block(rest, is_line_start);
        let files = || files::block(rest).filter(|_| is_line_start);
        let block = tagged
            .or_else(|| files().map(|len| (len, Kind::Harness)))
            .or_else(|| fences.block(rest).map(|len| (len, Kind::Quoted)));
        if let Some((len, kind)) = block {
            push_block(message, at..at + len, kind, &mut lines);
            at += len;
            (in_diff, in_commit) = (false, false);
            continue;
        }
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let line = &line[..tags.inside(line).unwrap_or(line.len())];
        let before = lines.last().map_or(Kind::Blank, |line: &Line| line.kind);
        in_diff = output::is_diff_header(line) || in_diff && output::goes_on_in_diff(line);
        in_commit = output::is_commit(line) || in_commit && output::goes_on_in_commit(line);
        let is_listed = in_diff || in_commit && !line.trim().is_empty();
        let kind = if is_listed { Kind::Output } else { kind_of(line, before) };
        lines.push(Line { start: at, end: at + line.len(), kind });
        at += line.len();
    }
    join_rows(message, &mut lines);
    lines
}

/// Finds the lines that only their neighbours tell from sentences: rows of tables, and messages of a chat.
fn join_rows(message: &str, lines: &mut [Line]) {
    let is_program = |line: Line| matches!(line.kind, Kind::Code | Kind::Output | Kind::Quoted);
    let is_run = |line: Line| matches!(line.kind, Kind::Code | Kind::Output);
    // Trimmed once, as the rules below look at the words.
    let words = |line: &Line| message[line.range()].trim();
    let mut below = lines.first().map_or("", words);
    for at in 1..lines.len() {
        let pair = [lines[at - 1], lines[at]];
        let above = std::mem::replace(&mut below, words(&lines[at]));
        if pair.iter().any(|line| line.kind == Kind::Harness) {
            continue;
        }
        if tables::are_rows(above, below)
            || quotes::are_said(above, below)
            || quotes::are_of_mail(above, below)
            || tables::is_row(below) && tables::has_bar(above)
        {
            for line in &mut lines[at - 1..=at] {
                line.kind = if is_run(*line) { line.kind } else { Kind::Quoted };
            }
        } else if is_pair_of_code(pair.map(|line| &message[line.range()])) {
            lines[at - 1].kind = Kind::Code;
            lines[at].kind = Kind::Code;
        } else if entries::are_entries(above, below) {
            lines[at - 1].kind = Kind::Output;
            lines[at].kind = Kind::Output;
        } else if is_run(pair[0]) && entries::is_entry(below) {
            lines[at].kind = Kind::Output;
        } else if is_run(pair[1]) && entries::is_entry(above) {
            lines[at - 1].kind = Kind::Output;
        } else if is_program(pair[0]) && tables::has_columns(below) {
            lines[at].kind = pair[0].kind;
        } else if is_program(pair[1]) && tables::has_columns(above) {
            lines[at - 1].kind = pair[1].kind;
        }
    }
    for at in 1..lines.len() {
        let above = &message[lines[at - 1].range()];
        if is_program(lines[at]) && entries::is_place_alone(above) {
            lines[at - 1].kind = lines[at].kind;
        }
    }
    join_members(message, lines);
    join_lists(message, lines);
    conversations::join(message, lines);
    join_repeated(message, lines);
}

/// Takes lines that come again and again, but for their numbers, for the output of a program: nobody types so.
/// Sentences that do are of a text that was pasted, whose paragraphs count.
fn join_repeated(message: &str, lines: &mut [Line]) {
    const MIN_TIMES: usize = 3;
    let shape = |line: &Line| {
        let mut hasher = DefaultHasher::new();
        for word in
            message[line.range()].trim().split(|c: char| c.is_whitespace() || c.is_ascii_digit())
        {
            word.hash(&mut hasher);
        }
        hasher.finish()
    };
    let is_sentence = |line: &Line| message[line.range()].trim_end().ends_with(['.', '。']);
    let may_be = |line: &Line| line.kind == Kind::Text && !is_sentence(line);
    let own: Vec<usize> = (0..lines.len()).filter(|&at| may_be(&lines[at])).collect();
    if own.len() <= MIN_TIMES {
        return;
    }
    let mut shapes: Vec<(u64, usize)> = own.iter().map(|&at| (shape(&lines[at]), at)).collect();
    shapes.sort_unstable();
    for same in shapes.chunk_by(|one, other| one.0 == other.0) {
        if same.len() >= MIN_TIMES {
            for &(_, at) in same {
                lines[at].kind = Kind::Output;
            }
        }
    }
}

/// Takes lines of keys and values, one below the other, for data if some of them are indented below a key
/// without a value, or all are settings.
fn join_members(message: &str, lines: &mut [Line]) {
    const MIN_LINES: usize = 3;
    let text = |line: &Line| &message[line.range()];
    let is_own = |line: &Line| matches!(line.kind, Kind::Text | Kind::Code);
    let is_member = |line: &Line| is_own(line) && code::is_member(text(line));
    // A list of items under a heading with a capital is a person's.
    let is_nested = |pair: &[Line]| {
        let [key, value] = [text(&pair[0]), text(&pair[1])];
        let is_heading = key.starts_with(|c: char| c.is_ascii_uppercase())
            && value.trim_start().starts_with("- ");
        key.trim_end().ends_with(':') && value.starts_with(' ') && !is_heading
    };
    for run in lines.chunk_by_mut(|above, below| is_member(above) && is_member(below)) {
        let has_number = |line: &Line| text(line).contains(|c: char| c.is_ascii_digit());
        let is_flat =
            || run.iter().all(|line| code::is_setting(text(line))) && run.iter().any(has_number);
        if run.len() >= MIN_LINES && (run.windows(2).any(is_nested) || is_flat()) {
            for line in run {
                line.kind = Kind::Code;
            }
        }
    }
}

/// Takes the lists of Lisp for code, and a short one that adjoins.
fn join_lists(message: &str, lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let n = code::n_of_list(lines[at..].iter().map(|line| &message[line.range()]));
        if n > 0 {
            let end = at + n;
            let below = lines.get(end).is_some_and(|line| code::is_list(&message[line.range()]));
            let above = at > 0 && code::is_list(&message[lines[at - 1].range()]);
            for line in &mut lines[at - usize::from(above)..end + usize::from(below)] {
                line.kind = Kind::Code;
            }
        }
        at += n.max(1);
    }
}

/// Tells whether two adjacent lines are code because of each other.
fn is_pair_of_code([above, below]: [&str; 2]) -> bool {
    code::are_statements(above, below) || code::are_steps(above, below)
}

fn push_block(message: &str, block: Range<usize>, kind: Kind, lines: &mut Vec<Line>) {
    let mut start = block.start;
    for line in message[block].split_inclusive('\n') {
        lines.push(Line { start, end: start + line.len(), kind });
        start += line.len();
    }
}

/// Returns a line without what cannot be seen at its ends: blanks, and characters without a shape.
fn seen(line: &str) -> &str {
    let text = line.trim_ascii();
    let is_graphic = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if is_graphic(text.as_bytes().first()) && is_graphic(text.as_bytes().last()) {
        return text;
    }
    line.trim_matches(|c: char| c.is_whitespace() || searched_form(c).is_none())
}

/// Tells whether a text is an item of a list, which people indent.
fn is_item(text: &str) -> bool {
    text.starts_with(['-', '*', '+', '•']) || text.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the kind of a line outside of blocks, below a line of kind `before`.
fn kind_of(line: &str, before: Kind) -> Kind {
    let text = seen(line);
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    if text.is_empty() {
        Kind::Blank
    } else if before == Kind::Code && is_indented {
        Kind::Code
    } else if before == Kind::Output && line.starts_with([' ', '\t']) && !is_item(text) {
        Kind::Output
    } else if quotes::is_quote(text) || tables::is_row(line) {
        Kind::Quoted
    } else if output::is_output(line) {
        Kind::Output
    } else if code::is_code(line, matches!(before, Kind::Code | Kind::Output)) {
        Kind::Code
    } else {
        Kind::Text
    }
}
