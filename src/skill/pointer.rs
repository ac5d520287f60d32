//! Pointers: files named `SKILL.md` that only say where a skill is.
//!
//! Where symbolic links are turned off (`core.symlinks`, as on Windows), git checks out a link as a file
//! whose text is the link's target. Authors also leave a line behind when they move a skill. If such a
//! file were loaded as a skill, its description and instructions would be a path, or "Moved to …".

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::fields::excerpt;
use super::finding::Finding;
use crate::diagnostic::Code;

/// The longest target of a link, in bytes.
const MAX_TARGET_BYTES: usize = 4096;

/// The longest line that is taken for a notice of a move, in characters.
const MAX_NOTICE_CHARS: usize = 240;

/// The beginning of a notice of a move.
static MOVED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?i)^\W*(?:(?:this |the )?(?:skill|file|content) |deprecated: )?(?:has |was |been )*(?:(?:moved|renamed|relocated|migrated|merged) (?:to|into)|(?:replaced|superseded) by)\b";
    Regex::new(pattern).ok()
});

/// Returns a finding if `text`, a file without front matter, only says where its skill is.
pub(super) fn elsewhere(text: &str) -> Option<Finding> {
    let content = text.trim_start_matches('\u{feff}').trim();
    let span = |part: &str| {
        let start = text.find(part).unwrap_or(0);
        start..start + part.len()
    };
    if is_target(content) {
        return Some(Finding::new(
            Code::LinkAsText,
            span(content),
            format!(
                "the file is a symbolic link that was checked out as text: `{}`",
                excerpt(content)
            ),
            "turn `core.symlinks` on in git and check the file out again, or copy the skill's files \
             here",
        ));
    }
    let notice = notice(content)?;
    Some(Finding::new(
        Code::MovedSkill,
        span(notice),
        format!("the file only says where its skill went: `{}`", excerpt(notice)),
        "remove the file, or write the skill into it, with front matter",
    ))
}

/// Tells whether the whole text is the target of a link, as git writes it.
fn is_target(content: &str) -> bool {
    let is_path = content.starts_with("./") || content.starts_with("../");
    content.len() <= MAX_TARGET_BYTES
        && !content
            .contains(|c: char| c.is_control() || c.is_whitespace() || "`<>()*\"".contains(c))
        && !content.contains("://")
        && (is_path || content.to_ascii_lowercase().ends_with(".md"))
}

/// Returns the only line of `content`, or the only one below a heading, if it says where the skill went.
fn notice(content: &str) -> Option<&str> {
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let line = if first.starts_with('#') { lines.next().unwrap_or(first) } else { first };
    let is_only_one = lines.next().is_none() && line.chars().count() <= MAX_NOTICE_CHARS;
    let moved = MOVED.as_ref().filter(|_| is_only_one)?;
    moved.is_match(line).then_some(line)
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
            ("../shared/plan/skill.MD", Code::LinkAsText, "../shared/plan/skill.MD"),
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
