//! This program's entry among the MCP servers of an agent's settings.

use serde_json::Value;

use crate::agent::{Problem, is_own_program};
use crate::args::McpAgent;

/// The name of our entry.
pub(super) const NAME: &str = "repertoire";

/// The language of a settings file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// JSON, with the servers in this field.
    Json(&'static str),
    /// Codex's TOML.
    Toml,
}

/// An entry in the settings.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) agent: McpAgent,
    pub(super) form: Form,
    /// The fields with the command line, which we always set.
    pub(super) command: Value,
    /// Initial values of other fields; the user may change them.
    pub(super) defaults: Value,
}

/// Returns the command line of a server, as words, if it runs this program. The words are in
/// `command` and `args`, or all in `command`.
pub(super) fn own_words(server: &Value) -> Option<Vec<String>> {
    let texts = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => {
            values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let words = [texts(&server["command"]), texts(&server["args"])].concat();
    let (program, args) = words.split_first()?;
    (is_own_program(program) && args.iter().any(|arg| arg == "mcp")).then_some(words)
}

/// Returns the problem of a server that has our name but runs another program.
pub(super) fn taken() -> Problem {
    Problem {
        help: Some("give that server another name; nothing was changed"),
        ..Problem::new(format!("has an MCP server `{NAME}` that is not this program"))
    }
}

/// Returns the problem of a `field` that should hold the servers but does not.
pub(super) fn no_servers(field: &str) -> Problem {
    Problem::new(format!("has `{field}` that does not hold MCP servers by name"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_is_ours_by_its_program_and_its_command() {
        for (server, wanted) in [
            (json!({"command": "repertoire", "args": ["mcp"]}), true),
            (json!({"command": "/opt/x/repertoire", "args": ["--brand", "a", "mcp"]}), true),
            (json!({"command": ["repertoire", "mcp"]}), true),
            (json!({"command": "repertoire", "args": ["hook", "codex"]}), false),
            (json!({"command": "repertoire"}), false),
            (json!({"command": "npx", "args": ["repertoire", "mcp"]}), false),
            (json!({"url": "http://127.0.0.1:1/mcp"}), false),
            (json!(null), false),
        ] {
            assert_eq!(own_words(&server).is_some(), wanted, "{server}");
        }
    }
}
