//! Pointers: files named `SKILL.md` that only say where a skill is.
//!
//! Where symbolic links are turned off (`core.symlinks`, as on Windows), git checks out a link as a file
//! whose text is the link's target. Authors also leave a line behind when they move a skill. If such a
//! file were loaded as a skill, its description and instructions would be a path, or "Moved to …".

use std::ops::Range;

use super::fields::excerpt;
use super::finding::Finding;
use crate::diagnostic::Code;

/// The longest target of a link, in bytes.
const MAX_TARGET_BYTES: usize = 4096;

/// The longest line that is taken for a notice of a move, in characters.
const MAX_NOTICE_CHARS: usize = 240;

/// Phrases that a notice of a move begins with, or contains after its subject.
const MOVED: [&str; 10] = [
    "moved to",
    "moved into",
    "renamed to",
    "relocated to",
    "migrated to",
    "merged into",
    "replaced by",
    "superseded by",
    "redirects to",
    "now lives ",
];

/// Subjects of a notice of a move: words by which it refers to its own file.
const SUBJECTS: [&str; 8] = [
    "this skill",
    "this file",
    "this document",
    "the skill",
    "skill",
    "contents",
    "content",
    "it ",
];

/// Returns a finding if `text`, a file without front matter, only says where its skill is.
pub(super) fn elsewhere(text: &str) -> Option<Finding> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let content = text[start..].trim();
    let start = text.len() - text[start..].trim_start().len();
    let span = start..start + content.len();
    if is_target(content) {
        return Some(Finding::new(
            Code::LinkAsText,
            span,
            format!(
                "the file is a symbolic link that was checked out as text: `{}`",
                excerpt(content)
            ),
            "turn `core.symlinks` on in git and check the file out again, or copy the skill's files \
             here",
        ));
    }
    let notice = notice(text, span)?;
    Some(Finding::new(
        Code::MovedSkill,
        notice.clone(),
        format!("the file only says where its skill went: `{}`", excerpt(&text[notice])),
        "remove the file, or write the skill into it, with front matter",
    ))
}

/// Tells whether the whole text is the target of a link, as git writes it.
fn is_target(content: &str) -> bool {
    let is_markdown = content
        .get(content.len().wrapping_sub(3)..)
        .is_some_and(|end| end.eq_ignore_ascii_case(".md"));
    let is_relative = content.starts_with("./") || content.starts_with("../");
    let has_blanks = content.contains(char::is_whitespace);
    content.len() <= MAX_TARGET_BYTES
        && !content.contains(char::is_control)
        && !content.contains("://")
        && !content.contains(['`', '<', '>', '(', ')', '*', '"'])
        && ((is_markdown && (is_relative || !has_blanks)) || (is_relative && !has_blanks))
}

/// Returns the only line of `text` besides a heading, if it says where the skill went.
fn notice(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let mut at = span.start;
    let mut lines = text[span].split_inclusive('\n').filter_map(|line| {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let line = line.trim();
        (!line.is_empty()).then_some((line, start..start + line.len()))
    });
    let (mut line, mut place) = lines.next()?;
    if line.starts_with('#')
        && let Some(next) = lines.next()
    {
        (line, place) = next;
    }
    let is_only_one = lines.next().is_none();
    (is_only_one && line.chars().count() <= MAX_NOTICE_CHARS && is_about_a_move(line))
        .then_some(place)
}

fn is_about_a_move(line: &str) -> bool {
    let folded = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let says_so = || MOVED.iter().any(|phrase| folded.contains(phrase));
    let begins = |starts: &[&str]| starts.iter().any(|start| folded.starts_with(start));
    // With any other subject, as in "`plan` has moved to `../plan-all`", the new place must be written
    // as code or as a path.
    let is_told = |phrase: &str| {
        ["has ", "has been ", "was ", "is "]
            .iter()
            .any(|before| folded.contains(&format!("{before}{phrase}")))
    };
    let names_a_place = folded.contains(['`', '/']);
    begins(&MOVED)
        || (begins(&SUBJECTS) || begins(&["deprecated"])) && says_so()
        || !begins(&["use ", "when "])
            && names_a_place
            && MOVED.iter().any(|phrase| is_told(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_written_as_text_and_notices_are_told_from_instructions() {
        for (text, code, quoted) in [
            ("../../skills/x/SKILL.md", Code::LinkAsText, "../../skills/x/SKILL.md"),
            ("\u{feff}../x/SKILL.md\r\n", Code::LinkAsText, "../x/SKILL.md"),
            ("SKILL.en.md\n", Code::LinkAsText, "SKILL.en.md"),
            ("../shared skills/plan/skill.MD", Code::LinkAsText, "../shared skills/plan/skill.MD"),
            ("../plan/instructions", Code::LinkAsText, "../plan/instructions"),
            ("/opt/skills/plan/SKILL.md", Code::LinkAsText, "/opt/skills/plan/SKILL.md"),
            ("Moved to ../plan.\n", Code::MovedSkill, "Moved to ../plan."),
            ("\n> **Moved to** `plan`\n", Code::MovedSkill, "> **Moved to** `plan`"),
            ("# Moved to plan", Code::MovedSkill, "# Moved to plan"),
            (
                "# Plan\n\nThis skill has moved to plan-all.",
                Code::MovedSkill,
                "This skill has moved to plan-all.",
            ),
            (
                "`plan` was renamed to `plan-all`.",
                Code::MovedSkill,
                "`plan` was renamed to `plan-all`.",
            ),
            (
                "Deprecated: replaced by plan-all",
                Code::MovedSkill,
                "Deprecated: replaced by plan-all",
            ),
        ] {
            let finding = elsewhere(text).expect(text);
            assert_eq!((finding.code, &text[finding.span.unwrap()]), (code, quoted));
        }
        let long = format!("Moved to {}", "x".repeat(MAX_NOTICE_CHARS));
        for text in [
            "Read the plan first.",
            "Moved to ../plan.\n\nThat one also plans releases.",
            "Use when a file has been moved to `archive/`.",
            "Finds out where files were moved, and by whom.",
            "https://example.org/SKILL.md",
            "See [the plan](../plan/SKILL.md)",
            "Run `./plan.md`",
            "Follow ../plan.md and report.md",
            &long,
            "",
        ] {
            assert_eq!(elsewhere(text), None, "{text:?}");
        }
    }
}
