//! The uses of skills that the tool calls of an agent show.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use super::files::{self, touched};
use super::real_path::real;
use repertoire::catalog::{Catalog, Entry};

/// The use of a skill, as a tool call shows it after it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillUse {
    /// The agent's own tool, or `use_skill` of our MCP server, loaded the skill of this name.
    Loaded(String),
    /// Another tool of our MCP server used the skill of this name.
    Used(String),
    /// These files were read, as the agent wrote their paths; they may be those of skills.
    Read(Vec<String>),
}

/// Names of the tools with which agents load a skill by its name, in lower case.
const LOADERS: [&str; 3] = ["skill", "activate_skill", "use_skill"];
/// Names of the other tools of our MCP server that take the name of a skill.
const USERS: [&str; 2] = ["read_skill_file", "run_skill_script"];
/// Names of tools that read files, in lower case.
const READERS: [&str; 4] = ["read", "read_file", "read_many_files", "view"];
/// Names of tools that run commands of a shell, in lower case.
const SHELLS: [&str; 7] = [
    "bash", "shell", "local_shell", "exec_command", "run_shell_command", "run_terminal_cmd",
    "run_in_terminal",
];
/// Names of arguments that hold the name of a skill.
const NAMES: [&str; 4] = ["skill", "name", "skill_name", "command"];
/// Names of arguments that hold a command of a shell, as a text or as a list of words.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// Programs that print files.
const PRINTERS: [&str; 8] = ["cat", "sed", "head", "tail", "less", "more", "bat", "nl"];
/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 4] = ["bash", "sh", "zsh", "sudo"];

/// Returns the use of a skill that a call of `tool` with `arguments` shows; `None` if it shows none.
pub(super) fn shown(tool: &str, arguments: &Value) -> Option<SkillUse> {
    let tool = tool.to_ascii_lowercase();
    let arguments = &*files::parsed(arguments);
    let is = |names: &[&str]| names.iter().any(|name| is_named(&tool, name));
    let named = || NAMES.iter().find_map(|name| arguments.get(name)?.as_str()).map(str::to_owned);
    if is(&USERS) {
        return named().map(SkillUse::Used);
    }
    if is(&LOADERS) {
        // A skill that another one asked for does not answer the message.
        let is_asked_for = arguments.get("by").is_some_and(Value::is_string);
        return named().map(if is_asked_for { SkillUse::Used } else { SkillUse::Loaded });
    }
    let paths = if READERS.contains(&&*tool) {
        touched(&tool, arguments)
    } else if SHELLS.contains(&&*tool) {
        printed(&command(arguments)?)
    } else {
        return None;
    };
    (!paths.is_empty()).then_some(SkillUse::Read(paths))
}

/// Tells whether `tool` is the tool `name`, or that of an MCP server: agents put the name of the server in
/// front of it.
fn is_named(tool: &str, name: &str) -> bool {
    let server = tool.strip_suffix(name);
    server.is_some_and(|server| {
        server.is_empty() || name.contains('_') && server.ends_with(['_', '-', '.', ':', '/'])
    })
}

/// Returns the command of a shell: a text, or words of which the last may be the command of a wrapper.
fn command(arguments: &Value) -> Option<String> {
    COMMANDS.iter().find_map(|name| match arguments.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let is_wrapped = words.first().is_some_and(|first| WRAPPERS.contains(&program(first)));
            if is_wrapped {
                words.last().map(|&last| last.to_owned())
            } else {
                Some(words.join(" "))
            }
        }
        _ => None,
    })
}

/// Returns the skill files that a command of a shell prints.
fn printed(command: &str) -> Vec<String> {
    let is_skill_file = |word: &String| {
        Path::new(word).file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
    };
    let mut paths = Vec::new();
    for part in command.split(['\n', ';', '|', '&']) {
        let words = words(part);
        let Some((first, others)) = words.split_first() else { continue };
        if WRAPPERS.contains(&program(first)) {
            paths.extend(others.last().into_iter().flat_map(|command| printed(command)));
        } else if PRINTERS.contains(&program(first)) {
            paths.extend(others.iter().filter(|word| is_skill_file(word)).cloned());
        }
    }
    paths
}

/// Returns the name of the program that a word runs.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Splits a command into words; quotes may enclose blanks.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (String::new(), None);
    for c in command.chars() {
        match c {
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ if c.is_whitespace() && quote.is_none() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the skill whose file is at `path`, and true if that is the file of its instructions.
pub(super) fn owner<'c>(catalog: &'c Catalog, path: &Path) -> Option<(&'c Entry, bool)> {
    let path = real(path);
    let is_part = |name: &OsStr| path.iter().any(|part| part == name);
    let is_owner = |entry: &&Entry| {
        // Resolving the links of all directories would take long.
        entry.skill.dir().is_some_and(|dir| {
            dir.file_name().is_none_or(|name| is_part(name) || dir.is_symlink())
                && path.starts_with(real(dir))
        })
    };
    let owners = catalog.entries().filter(|entry| entry.is_available()).filter(is_owner);
    let depth = |entry: &&Entry| entry.skill.dir().map(|dir| dir.components().count());
    let entry = owners.max_by_key(depth)?;
    Some((entry, entry.skill.path().is_some_and(|file| real(file) == path)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_calls_of_every_agent_show_which_skill_was_used() {
        let loaded = |name: &str| Some(SkillUse::Loaded(name.to_owned()));
        let used = |name: &str| Some(SkillUse::Used(name.to_owned()));
        let read = |path: &str| Some(SkillUse::Read(vec![path.to_owned()]));
        for (tool, arguments, wanted) in [
            ("Skill", json!({"skill": "pdf", "args": "x"}), loaded("pdf")),
            ("Skill", json!({"command": "my-plugin:pdf"}), loaded("my-plugin:pdf")),
            ("skill", json!({"name": "pdf"}), loaded("pdf")),
            ("skill", json!(r#"{"skill": "pdf"}"#), loaded("pdf")),
            ("activate_skill", json!({"name": "pdf"}), loaded("pdf")),
            ("mcp__repertoire__use_skill", json!({"skill": "pdf"}), loaded("pdf")),
            ("repertoire_use_skill", json!({"skill": "pdf"}), loaded("pdf")),
            ("repertoire-use_skill", json!({"skill": "pdf"}), loaded("pdf")),
            ("use_skill", json!({"skill": "pdf", "by": "office"}), used("pdf")),
            ("mcp__r__run_skill_script", json!({"skill": "pdf", "script": "a"}), used("pdf")),
            ("reuse_skill", json!({"skill": "pdf"}), None),
            ("my-skill", json!({"name": "pdf"}), None),
            ("mcp__r__find_skills", json!({"query": "pdf"}), None),
            ("Skill", json!({}), None),
            ("Read", json!({"file_path": "/s/pdf/SKILL.md"}), read("/s/pdf/SKILL.md")),
            ("view", json!({"path": "pdf/forms.md"}), read("pdf/forms.md")),
            ("Write", json!({"file_path": "/s/pdf/SKILL.md"}), None),
            ("Bash", json!({"command": "cat '/a b/pdf/SKILL.md'"}), read("/a b/pdf/SKILL.md")),
            (
                "shell",
                json!({"command": ["bash", "-lc", "cat pdf/SKILL.md"]}),
                read("pdf/SKILL.md"),
            ),
            ("exec_command", json!({"cmd": "cd s && sed -n 1,9p x/SKILL.md"}), read("x/SKILL.md")),
            ("Bash", json!({"command": "sh -c 'head x/skill.md' | wc"}), read("x/skill.md")),
            ("Bash", json!({"command": "rm pdf/SKILL.md; git add SKILL.md"}), None),
            ("Bash", json!({"command": "cat notes.md"}), None),
            ("Bash", json!({"command": "echo cat pdf/SKILL.md"}), None),
            ("Bash", json!(null), None),
        ] {
            assert_eq!(shown(tool, &arguments), wanted, "{tool} {arguments}");
        }
    }
}
