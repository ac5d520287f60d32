//! Code that an agent which reads the skill itself runs, or lets run without a question. The engine does neither.

use crate::diagnostic::Code;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;
use crate::skill::load::Loaded;
use crate::skill::placeholder;

/// The names of tools that run any command, in the words of several agents.
const SHELLS: [&str; 8] =
    ["bash", "shell", "execute", "exec", "terminal", "powershell", "run_shell_command", "*"];

/// Finds `hooks` in the front matter, commands in the body, which begins at byte `body` of `text`, and permission to
/// run any command.
pub(super) fn find(loaded: &Loaded, text: &str, body: usize) -> Vec<Finding> {
    let keys = loaded.manifest.unknown_keys.iter();
    let hooks = keys.filter(|key| key.value.eq_ignore_ascii_case("hooks")).map(|key| {
        let help = "read each command below it; leave the key out if the skill works without";
        let message =
            "agents such as Claude Code run the commands of `hooks` while they use the skill";
        Finding::new(Code::AgentCode, key.span.clone(), message, help)
    });
    let command = placeholder::command(&text[body..]).map(|command| {
        let span = body + command.start..body + command.end;
        let shown = excerpt(&text[span.clone()]);
        let message = format!("agents such as Claude Code run `{shown}` when they load the skill");
        let help = "read the command; write it as an instruction if it need not run each time";
        Finding::new(Code::AgentCode, span, message, help)
    });
    let tools = loaded.manifest.allowed_tools.iter().flatten();
    let shells = tools.filter(|tool| is_any_command(&tool.value)).map(|tool| {
        let shown = excerpt(&tool.value);
        let message = format!("`{shown}` lets agents run any command without a question");
        let help = "name the commands that the skill needs, such as `Bash(git status)`";
        Finding::new(Code::AgentCode, tool.span.clone(), message, help)
    });
    hooks.chain(command).chain(shells).collect()
}

/// Tells whether an entry of `allowed-tools` stands for every command: `Bash`, `Bash(*)`, `Bash(*:*)`.
fn is_any_command(tool: &str) -> bool {
    let (name, pattern) = tool.trim().split_once('(').unwrap_or((tool.trim(), "*)"));
    let pattern = pattern.trim_end_matches(')');
    SHELLS.contains(&name.trim().to_lowercase().as_str())
        && pattern.chars().all(|c| matches!(c, '*' | ':' | ' '))
}
