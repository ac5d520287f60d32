//! Repairs of single lines: those that loading makes in memory, as changes of the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::skill::cut_text::cut_texts;
use crate::skill::document::{self, Fences};
use crate::skill::repair;
use crate::skill::yaml::{self, Node, Value};

/// A line of a `SKILL.md` that is to be written otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRepair {
    /// The bytes of the line, without its end.
    pub span: Range<usize>,
    /// The repaired line.
    pub text: String,
}

/// Returns the lines of the front matter of `text` that loading repairs, or that a comment cuts off, in the
/// order of the file. It is empty if there are none, or if not every repair of loading stays in one line:
/// quotes around several lines load, but the author may have meant otherwise.
pub fn line_repairs(text: &str) -> Vec<LineRepair> {
    let Some(range) = document::split(text).ok().filter(|found| found.fences == Fences::Both)
    else {
        return Vec::new();
    };
    let range = range.front_matter;
    let source = &text[range.clone()];
    let Some(repaired) = valid(source).and_then(|valid| with_quotes(&valid)) else {
        return Vec::new();
    };
    let mut start = range.start;
    let mut repairs = Vec::new();
    // Only quotes and backslashes are inserted, so the lines are still in their places.
    for (before, after) in source.split_inclusive('\n').zip(repaired.split_inclusive('\n')) {
        if before != after {
            let (before, after) = (before.trim_end(), after.trim_end());
            if yaml::parse(after.trim_start(), &|at| at).is_err() {
                return Vec::new();
            }
            repairs.push(LineRepair { span: start..start + before.len(), text: after.to_owned() });
        }
        start += before.len();
    }
    repairs
}

/// Returns `source` as loading parses it: as it is, or repaired.
fn valid(source: &str) -> Option<Cow<'_, str>> {
    if yaml::parse(source, &|at| at).is_ok() {
        return Some(source.into());
    }
    repair::repair(source).map(|repaired| repaired.text.into())
}

/// Puts quotes around the texts of `source` that a comment cuts off. Returns `None` if it is not a map.
fn with_quotes(source: &str) -> Option<String> {
    let Some(Node { value: Value::Mapping(entries), .. }) =
        yaml::parse(source, &|at| at).ok()?.root
    else {
        return None;
    };
    let mut quoted = source.to_owned();
    let mut cut = cut_texts(&entries, source);
    cut.sort_by_key(|text| std::cmp::Reverse(text.written.start));
    for text in cut.iter().filter(|text| text.is_of_one_line) {
        quoted.replace_range(text.written.clone(), &text.quoted(source));
    }
    Some(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the repairs into `text`.
    fn repaired(text: &str) -> String {
        let mut repaired = text.to_owned();
        for LineRepair { span, text } in line_repairs(text).into_iter().rev() {
            repaired.replace_range(span, &text);
        }
        repaired
    }

    #[test]
    fn lines_are_repaired_and_all_other_bytes_stay() {
        for (before, after) in [
            (
                "name: a\ndescription: Use when: it is late",
                "name: a\ndescription: 'Use when: it is late'",
            ),
            (
                "name: a\r\ndescription: it's for: x  \r\nversion: 1.0.0\r\n",
                "name: a\r\ndescription: 'it''s for: x'  \r\nversion: 1.0.0\r\n",
            ),
            ("description: d\nkeywords: [a, @b]", "description: d\nkeywords: [a, '@b']"),
            (
                "description: Use: x\ntriggers:\n  patterns:\n    - \"\\d+\"  # digits",
                "description: 'Use: x'\ntriggers:\n  patterns:\n    - \"\\\\d+\"  # digits",
            ),
            (
                "name: a # one\r\ndescription: Closes it's #45  \r\nkeywords: [a, #b, c]",
                "name: a # one\r\ndescription: 'Closes it''s #45'  \r\nkeywords: [a, '#b', c]",
            ),
            (
                "description: #1\nverbs:\n- #b\n- c #d",
                "description: '#1'\nverbs:\n- '#b'\n- 'c #d'",
            ),
        ] {
            for (head, tail) in [("---\n", "\n---\nBody: of: it\n"), ("\u{feff}---\n", "\n---\n")] {
                let (before, after) =
                    (format!("{head}{before}{tail}"), format!("{head}{after}{tail}"));
                assert_eq!(repaired(&before), after);
                assert_eq!(repaired(&after), after, "a repaired file has nothing to repair");
            }
        }
    }

    #[test]
    fn what_is_valid_or_spans_lines_is_left_alone() {
        for text in [
            "---\nname: a\ndescription: fine\n---\n",
            "description: Use: x\n",
            "---\ndescription: Use: x\n",
            "---\nname: a\ndescription: Use: x\n  and: y\n  or z\n---\n",
            "---\n- [\n---\n",
        ] {
            assert_eq!(line_repairs(text), [], "{text:?}");
        }
    }
}
