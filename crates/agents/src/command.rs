//! Messages that begin with a slash: commands for the agent, or ordinary messages.

use repertoire::activation::Typed;

/// Commands that agents handle themselves, whatever arguments follow.
const BUILT_IN: [&str; 16] = [
    "add-dir", "agents", "chat", "clear", "compact", "compress", "config", "directory", "export",
    "mcp", "memory", "model", "permissions", "plugin", "rename", "resume",
];

/// Tells whether a hook leaves `message`, which is not the command of a skill, to the agent. That is a
/// `/word` without arguments, whose meaning only the agent knows, or a command that agents have in
/// common. Any other message that starts with `/`, such as a path, is an ordinary message.
///
/// ```
/// use repertoire_agents::is_agent_command;
///
/// assert!(is_agent_command("/status") && is_agent_command("/compact keep the plan"));
/// assert!(!is_agent_command("/tmp is full") && !is_agent_command("/etc/hosts"));
/// ```
pub fn is_agent_command(message: &str) -> bool {
    let Some(Typed { word, args }) = Typed::parse(message) else { return false };
    let is_word = word.starts_with(char::is_alphanumeric)
        && word.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c));
    is_word && (args.is_empty() || BUILT_IN.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_the_agent_is_told_from_a_message() {
        for (message, wanted) in [
            ("/status", true),
            ("  /plugin:do \n", true),
            ("/compact and keep the deploy notes", true),
            ("/tmp zebra", false),
            ("/zebra-foo: zebra stripes", false),
            ("/etc/hosts has zebra stripes", false),
            ("/etc/hosts", false),
            ("/src/main.rs is broken", false),
            ("/main.rs", false),
            ("// a comment", false),
            ("/ now", false),
            ("compact /staging", false),
            ("/", false),
            ("", false),
        ] {
            assert_eq!(is_agent_command(message), wanted, "{message}");
        }
    }
}
