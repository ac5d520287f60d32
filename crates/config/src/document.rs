//! The parser of configuration files, which returns the valid parts of a file as a TOML tree.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, Table};

use super::schema::{KEYS, Key};
use repertoire::diagnostic::{Code, Diagnostic};

/// The maximum number of errors across sections. A file with more is left out as a whole.
const MAX_ERRORS: usize = 32;

/// Parses `text`. Leaves out each line with an error, and reports it. At the second error in a section,
/// or at one in its header, leaves out the whole section, so that its keys cannot end up in another
/// section.
pub(super) fn parse(path: &Path, text: &str, findings: &mut Vec<Diagnostic>) -> Table {
    if let Ok(document) = Document::parse(text) {
        return document.into_table();
    }
    let mut repair =
        Repair { path, text, rest: text.to_owned(), damaged: BTreeSet::new(), findings };
    // First parse each section by itself, so that an unclosed bracket does not affect the others.
    for section in sections(text) {
        while let Err(error) = Document::parse(&repair.rest[section.clone()]) {
            let span = error.span().unwrap_or_default();
            let span = section.start + span.start..section.start + span.end;
            repair.leave_out(error.message(), span, &section);
        }
    }
    // Then find errors that only show across sections, such as a section that occurs twice.
    for _ in 0..MAX_ERRORS {
        let error = match Document::parse(repair.rest.as_str()) {
            Ok(document) => return document.into_table(),
            Err(error) => error,
        };
        let span = error.span().unwrap_or_default();
        let all = sections(text);
        let holds = |section: &Range<usize>| (section.start..=section.end).contains(&span.start);
        let section = all.into_iter().rfind(holds).unwrap_or(0..text.len());
        repair.leave_out(error.message(), span, &section);
    }
    let message = "there are too many errors; the whole file is left out";
    findings.push(Diagnostic::new(Code::InvalidToml, path, message, "write it anew"));
    Table::new()
}

struct Repair<'a> {
    path: &'a Path,
    text: &'a str,
    /// The text with blanks in place of the parts left out, so that all positions stay the same.
    rest: String,
    /// The start offsets of the sections with an error.
    damaged: BTreeSet<usize>,
    findings: &'a mut Vec<Diagnostic>,
}

impl Repair<'_> {
    /// Leaves out the line with an error or, if the error is not the first of its section or is in the
    /// header, the whole section.
    fn leave_out(&mut self, message: &str, span: Range<usize>, section: &Range<usize>) {
        // An error at the end of a section is reported for its last line, not for the next header.
        let last = section.end.saturating_sub(1).max(section.start);
        let span =
            span.start.clamp(section.start, last)..span.end.clamp(section.start, section.end);
        let line = line_at(&self.rest, span.start, section.start);
        let is_header = line.start == section.start && is_header(&self.rest[line.clone()]);
        let is_first = self.damaged.insert(section.start);
        let (what, part) =
            if is_header || !is_first { ("section", section.clone()) } else { ("line", line) };
        if is_first || is_header {
            let message = message.lines().collect::<Vec<_>>().join("; ");
            let help = format!("fix it; until then its {what} is left out");
            let finding = Diagnostic::new(Code::InvalidToml, self.path, message, help);
            self.findings.push(finding.at(self.text, in_characters(self.text, span)));
        } else if let Some(finding) = self.findings.iter_mut().rfind(|finding| {
            finding.span.as_ref().is_some_and(|span| section.contains(&span.start))
        }) {
            // Further errors may be consequences of the first one, so they only change its help.
            "mend it; until then its section is left out".clone_into(&mut finding.help);
        }
        let blanks = |byte| if byte == b'\n' { '\n' } else { ' ' };
        let blanks: String = self.rest[part.clone()].bytes().map(blanks).collect();
        self.rest.replace_range(part, &blanks);
    }
}

/// The sections of a text: the part before the first header, then each header with its keys.
fn sections(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if is_header(line) && line_start > 0 {
            starts.push(line_start);
        }
        line_start += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The range of the line with byte `at`, without its line end. If that line is blank, as at the end of a
/// section, returns the last line after `start` and before it that is not blank.
fn line_at(text: &str, at: usize, start: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start_of = |at: usize| {
        bytes[start..at]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(start, |end| start + end + 1)
    };
    let end = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |n| at + n);
    let line = start_of(at)..end;
    let before = start + text[start..line.start].trim_end().len();
    if before == start || !text[line.clone()].trim().is_empty() {
        return line;
    }
    start_of(before)..before
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

/// Moves the ends of a span to the next boundaries of characters.
fn in_characters(text: &str, span: Range<usize>) -> Range<usize> {
    let boundary = |at: usize| (at..text.len()).find(|&at| text.is_char_boundary(at));
    let start = boundary(span.start).unwrap_or(text.len());
    start..boundary(span.end.max(start)).unwrap_or(text.len())
}

/// Finds the settings in a text that demand signatures, even where the text is not valid TOML. Returns
/// their full names and keys.
pub(super) fn signature_keys_in(text: &str) -> Vec<(String, &'static Key)> {
    let (mut section, mut demands) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            section = header.replace(['"', '\'', ' '], "");
        }
        let key = line.split('=').next().unwrap_or_default().trim().replace('-', "_");
        let demand = if section == "signatures" {
            ("signatures.required".to_owned(), "signatures.required")
        } else if section.starts_with("fetch.") && key == "signed_by" {
            (format!("{section}.{key}"), "fetch.*.signed_by")
        } else {
            continue;
        };
        demands.extend(KEYS.iter().find(|key| key.name == demand.1).map(|key| (demand.0, key)));
    }
    demands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remaining keys (those of sections as `section.key`), and the lines of the findings.
    fn parsed(text: &str) -> (Vec<String>, Vec<usize>) {
        let mut findings = Vec::new();
        let table = parse(Path::new("config.toml"), text, &mut findings);
        let mut keys = Vec::new();
        for (key, item) in &table {
            match item.as_table_like() {
                Some(section) => {
                    keys.extend(section.iter().map(|(inner, _)| format!("{key}.{inner}")));
                }
                None => keys.push(key.to_owned()),
            }
        }
        (keys, findings.iter().map(|finding| finding.line).collect())
    }

    #[test]
    fn what_can_be_parsed_is() {
        for (text, keys, lines) in [
            ("", &[][..], &[][..]),
            ("a = 1\n[s]\nb = 2\n", &["a", "s.b"], &[]),
            ("a =\nb = 2\n[s]\nc = 3\n", &["b", "s.c"], &[1]),
            ("a = 1\na = 2\nb = 3\n", &["a", "b"], &[2]),
            ("[s]\nb = 2 2\nc = 3\n[t]\nd = 4\n", &["s.c", "t.d"], &[2]),
            // Two errors in a section, or one in a header: no key moves to another section.
            ("[s]\nb = x y\nc = \nd = 4\n[t]\ne = 5", &["t.e"], &[2]),
            ("[s]\nb = 2\n[t\nc = 3\n[u]\nd = 4", &["s.b", "u.d"], &[3]),
            // An unclosed value ends with the section.
            ("[s]\nb = [\"x\"\nc = 3\n[t]\nd = 4\n", &["t.d"], &[3]),
            ("[s]\nb = \"\"\"x\nc = 3\n[t]\nd = 4\n", &["t.d"], &[3]),
            ("é = \"ü\nb = 2\n", &["b"], &[1]),
            ("[s]\na = 1\n[t]\nb = 2\n[s]\nc = 3\n", &["s.a", "t.b"], &[5]),
        ] {
            assert_eq!(
                parsed(text),
                (keys.iter().map(|k| (*k).to_owned()).collect(), lines.to_vec()),
                "{text}"
            );
        }
    }

    #[test]
    fn any_text_ends_well() {
        let texts = ["\"\"\"", "[", "]", "'''\n[a]\nb = 1", "=", "a = \"\u{0}\"", "\u{feff}a = 1"];
        for text in texts {
            let broken = format!("[x]\ny = 1\n{text}\n");
            parsed(text);
            parsed(&broken);
            parsed(&broken.repeat(100));
        }
    }
}
