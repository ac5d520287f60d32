//! The lines of a message, each with its kind.

use std::ops::Range;

use crate::skill::searched_form;

use super::blocks::Fences;
use super::kind::Kind;
use super::tags::{Tags, preface};
use super::{code, output, quotes, tables};

/// A line of a message, with its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

impl Line {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

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
        let block = match tags.block(rest, is_line_start) {
            None => fences.block(rest).map(|len| (len, Kind::Quoted)),
            tagged => tagged,
        };
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
    for at in 1..lines.len() {
        let pair = [lines[at - 1], lines[at]];
        if pair.iter().any(|line| line.kind == Kind::Harness) {
            continue;
        }
        let [above, below] = pair.map(|line| &message[line.range()]);
        if tables::are_rows(above, below)
            || quotes::are_said(above, below)
            || quotes::are_of_mail(above, below)
            || tables::is_row(below) && tables::has_bar(above)
        {
            lines[at - 1].kind = Kind::Quoted;
            lines[at].kind = Kind::Quoted;
        } else if code::are_statements(above, below) {
            lines[at - 1].kind = Kind::Code;
            lines[at].kind = Kind::Code;
        } else if output::are_entries(above, below) {
            lines[at - 1].kind = Kind::Output;
            lines[at].kind = Kind::Output;
        } else if is_run(pair[0]) && output::is_entry(below) {
            lines[at].kind = Kind::Output;
        } else if is_run(pair[1]) && output::is_entry(above) {
            lines[at - 1].kind = Kind::Output;
        } else if is_program(pair[0]) && tables::has_columns(below) {
            lines[at].kind = pair[0].kind;
        } else if is_program(pair[1]) && tables::has_columns(above) {
            lines[at - 1].kind = pair[1].kind;
        }
    }
    join_members(message, lines);
    join_chat(message, lines);
}

/// Takes lines of keys and values, one below the other, for data if some of them are indented below a key
/// without a value.
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
        if run.len() >= MIN_LINES && run.windows(2).any(is_nested) {
            for line in run {
                line.kind = Kind::Code;
            }
        }
    }
}

/// Takes for quoted the messages of a chat, if there are two or more, each below a line with a name and a
/// time; and the lines of two speakers who are called "User", "Assistant" or the like.
fn join_chat(message: &str, lines: &mut [Line]) {
    let is_own = |line: &Line| line.kind == Kind::Text;
    let text = |line: &Line| &message[line.range()];
    let is_head = |line: &Line| {
        matches!(line.kind, Kind::Text | Kind::Output) && quotes::is_chat_head(text(line))
    };
    if lines.iter().filter(|line| is_head(line)).nth(1).is_some() {
        for at in 0..lines.len() {
            if is_head(&lines[at]) {
                lines[at].kind = Kind::Quoted;
                if let Some(said) = lines.get_mut(at + 1).filter(|line| is_own(line)) {
                    said.kind = Kind::Quoted;
                }
            }
        }
    }
    let mut roles =
        lines.iter().filter(|line| is_own(line)).filter_map(|line| quotes::role(text(line)));
    let first = roles.next();
    if roles.any(|role| Some(role) != first) {
        let said =
            lines.iter_mut().filter(|line| is_own(line) && quotes::role(text(line)).is_some());
        said.for_each(|line| line.kind = Kind::Quoted);
    }
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

/// Returns the kind of a line outside of blocks, below a line of kind `before`.
fn kind_of(line: &str, before: Kind) -> Kind {
    let text = seen(line);
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    if text.is_empty() {
        Kind::Blank
    } else if before == Kind::Code && is_indented {
        Kind::Code
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
