//! Repairs of single lines: those that loading makes in memory, as changes of the file.

use std::ops::Range;

use crate::skill::document::{self, Fences};
use crate::skill::repair;
use crate::skill::yaml::{self, Node, Tree, Value};

/// A line of a `SKILL.md` that is to be written otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRepair {
    /// The bytes of the line, without its end.
    pub span: Range<usize>,
    /// The repaired line.
    pub text: String,
}

/// Returns the lines of the front matter of `text` that loading repairs, in the order of the file. It is
/// empty if the front matter is valid YAML, or if not every repair stays in one line: quotes around
/// several lines load, but the author may have meant otherwise.
pub fn line_repairs(text: &str) -> Vec<LineRepair> {
    let Some(range) = document::split(text).ok().filter(|found| found.fences == Fences::Both)
    else {
        return Vec::new();
    };
    let range = range.front_matter;
    let source = &text[range.clone()];
    if yaml::parse(source, &|at| at).is_ok() {
        return Vec::new();
    }
    let Some(repaired) = repair::repair(source).filter(|repaired| is_mapping(&repaired.text))
    else {
        return Vec::new();
    };
    let mut start = range.start;
    let mut repairs = Vec::new();
    // Only quotes and backslashes are inserted, so the lines are still in their places.
    for (before, after) in source.split_inclusive('\n').zip(repaired.text.split_inclusive('\n')) {
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

fn is_mapping(source: &str) -> bool {
    let root = yaml::parse(source, &|at| at).ok().and_then(|Tree { root, .. }| root);
    matches!(root, Some(Node { value: Value::Mapping(_), .. }))
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
