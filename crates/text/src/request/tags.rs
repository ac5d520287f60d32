//! Blocks in tags: those that the harness of an agent wrote, those around the user's own words, and quotes.

use super::blocks::MAX_WASTED;
use super::kind::Kind;

/// Tags of harnesses, with any ending, that also count in the middle of a line, or where they are not closed.
#[rustfmt::skip]
const HARNESSES: [&str; 14] = [
    "system-reminder", "system_reminder", "task-notification", "local-command-", "command-name",
    "command-message", "command-args", "environment_context", "environment_details", "user_instructions",
    "user-prompt-submit-hook", "ide_", "bash-std", "hook_context",
];

/// Tags of harnesses that are words as users may write them, too.
#[rustfmt::skip]
const WORDS: [&str; 16] = [
    "instructions", "reminder", "reminderinstructions", "context", "attachments", "attachment",
    "editorcontext", "environmentdetails", "contextfiles", "repocontext", "system", "developer", "channel",
    "permissions", "notice", "policy",
];

/// Tags that harnesses put around what the user wrote.
#[rustfmt::skip]
const USERS: [&str; 12] = [
    "user_query", "userrequest", "user_request", "user_message", "user-message", "user_input", "user-input",
    "userprompt", "user_prompt", "user_question", "task", "feedback",
];

/// The maximum number of tags of one line that are looked at; a line with more is markup.
const MAX_TAGS: usize = 64;

/// Finds blocks in tags.
#[derive(Debug, Default)]
pub(super) struct Tags {
    wasted: usize,
}

impl Tags {
    /// Returns the length of the block from `<tag>` to `</tag>` that `text` begins with, and its kind.
    /// Names with `-` or `_` are those of harnesses (`<system-reminder>`, `<task-notification>`), and some
    /// others; blocks in other tags are quoted. Of the user's own words in tags, only the tags are a block.
    pub(super) fn block(&mut self, text: &str, is_line_start: bool) -> Option<(usize, Kind)> {
        let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
        let inside = text[blanks..].strip_prefix('<')?;
        let is_end = inside.starts_with('/');
        let name = name(inside.strip_prefix('/').unwrap_or(inside))?;
        let at = blanks + 1 + usize::from(is_end) + name.len();
        if is_users(name) {
            let end = at + end_of_tag(&text[at..])?;
            return Some((end + line_end(&text[end..]).unwrap_or(0), Kind::Harness));
        }
        let is_known = HARNESSES.iter().any(|known| starts_with(name, known));
        if is_end || !is_known && !is_line_start || self.wasted > MAX_WASTED {
            return None;
        }
        if let Some(end) = end_of_empty_tag(&text[at..]).map(|len| at + len) {
            let after = line_end(&text[end..]);
            let is_block = is_known && (is_line_start || after.is_some());
            return is_block.then(|| (end + after.unwrap_or(0), Kind::Harness));
        }
        let (end, is_balanced) = end_of_block(text, name);
        if !is_balanced {
            self.wasted += text.len();
        }
        let Some(end) = end else {
            let is_alone = line_end(&inside[inside.find('>').map_or(inside.len(), |at| at + 1)..]);
            let paragraph = text.find("\n\n").unwrap_or(text.len());
            return (is_known && is_alone.is_some()).then_some((paragraph, Kind::Harness));
        };
        let is_harness = is_known
            || name.contains(['-', '_'])
            || WORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
        // Of words around a tag in a line, as in `what does <hook_context>x</hook_context> do`, the line is the user's.
        let after = line_end(&text[end..]);
        if after.is_none() && (!is_harness || !is_line_start) {
            self.wasted += end;
            return None;
        }
        let kind = if is_harness { Kind::Harness } else { Kind::Quoted };
        Some((end + after.unwrap_or(0), kind))
    }

    /// Returns the byte in a line after its start at which a tag of a harness may begin. A block with words of the line
    /// behind it is the user's, who asks about it.
    pub(super) fn inside(&mut self, line: &str) -> Option<usize> {
        if self.wasted > MAX_WASTED {
            return None;
        }
        let mut tags =
            line.match_indices('<').map(|(at, _)| at).filter(|at| *at > 0).take(MAX_TAGS);
        let found = tags.find(|at| is_users_tag(line, *at) || is_unfollowed(&line[*at..]))?;
        // The rest of the line is searched again.
        self.wasted += line.len();
        Some(found)
    }
}

fn is_users(name: &str) -> bool {
    USERS.iter().any(|user| user.eq_ignore_ascii_case(name))
}

/// Tells whether a tag around the user's own words is at byte `at` of a line: nothing but tags stands before it,
/// or behind it if it is an end tag. `Vec<Task>` has none, and `what is <task> for?` neither.
fn is_users_tag(line: &str, at: usize) -> bool {
    let inside = &line[at + 1..];
    let end = inside.strip_prefix('/');
    let inside = end.unwrap_or(inside);
    let Some(name) = name(inside).filter(|name| is_users(name)) else { return false };
    let Some(len) = end_of_tag(&inside[name.len()..]) else { return false };
    if end.is_some() {
        let after = inside[name.len() + len..].trim_start();
        after.is_empty() || after.starts_with('<')
    } else {
        line[..at].trim_end().ends_with('>')
    }
}

/// Tells whether a text begins with a tag of a harness, and no words follow its block in the line.
fn is_unfollowed(text: &str) -> bool {
    let Some(name) = name(&text[1..]) else { return false };
    let is_followed = || {
        let at = 1 + name.len();
        let end = end_of_empty_tag(&text[at..]).map(|len| at + len);
        let end = end.or_else(|| end_of_block(text, name).0);
        end.is_some_and(|end| line_end(&text[end..]).is_none())
    };
    HARNESSES.iter().any(|known| starts_with(name, known)) && !is_followed()
}

/// Returns the name of the tag whose `<` stands before `inside`.
fn name(inside: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = &inside[..inside.find(|c: char| !is_of_name(c)).unwrap_or(0)];
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && inside[name.len()..].starts_with(['>', ' ', '\n', '/']);
    is_tag.then_some(name)
}

fn starts_with(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Returns the length of the rest of a line, with its break, if nothing stands in it.
fn line_end(rest: &str) -> Option<usize> {
    let after = rest.trim_start_matches(|c: char| c != '\n' && c.is_whitespace());
    let n_breaks = usize::from(after.starts_with('\n'));
    (n_breaks > 0 || after.is_empty()).then_some(rest.len() - after.len() + n_breaks)
}

/// Returns the end of the block in tags called `name` that `text` begins with: behind the end tag that closes
/// the first tag, as blocks may stand in each other. False if none does; then the first end tag counts.
fn end_of_block(text: &str, name: &str) -> (Option<usize>, bool) {
    let (mut depth, mut at) = (0_usize, 0);
    let mut first = None;
    while let Some(found) = text[at..].find(name).map(|next| at + next) {
        at = found + name.len();
        if text[..found].ends_with("</") {
            let Some(end) = end_of_tag(&text[at..]).map(|len| at + len) else { continue };
            first = first.or(Some(end));
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return (Some(end), true);
            }
        } else if text[..found].ends_with('<') && text[at..].starts_with(['>', ' ', '\n']) {
            depth += 1;
        }
    }
    (first, false)
}

/// Returns the length of the rest of a tag, behind its name: `>`, or ` >`, or ` instructions>`, or `/>`.
fn end_of_tag(rest: &str) -> Option<usize> {
    let end = rest.find(['>', '<', '\n']).filter(|end| rest[*end..].starts_with('>'))?;
    (end == 0 || rest.starts_with([' ', '/'])).then_some(end + 1)
}

/// Returns the length of the rest of a tag that closes itself, behind its name.
fn end_of_empty_tag(rest: &str) -> Option<usize> {
    end_of_tag(rest).filter(|end| rest[..*end].ends_with("/>"))
}

/// Returns the number of bytes at the start of a message that a harness wrote without a tag: what Codex's clients put
/// under headings above the request, such as the files that are open in an editor, and the summary of an earlier
/// conversation.
pub(super) fn preface(message: &str) -> usize {
    const REQUEST: &str = "\n## My request for Codex:";
    const ALL: [&str; 3] = [
        "This session is being continued from a previous conversation",
        "Stop hook feedback:",
        "UserPromptSubmit hook success:",
    ];
    let text = message.trim_start();
    if ALL.iter().any(|start| text.starts_with(start)) {
        return message.len();
    }
    let request = text.starts_with("# ").then(|| message.find(REQUEST)).flatten();
    request.map_or(0, |at| at + REQUEST.len())
}
