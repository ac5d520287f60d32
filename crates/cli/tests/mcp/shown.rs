//! `skills.show` of the agent that a server is for.

use crate::binary::Place;

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    "\n"
);

#[test]
fn a_server_shows_what_its_agent_is_shown() {
    let place = Place::new();
    for name in ["alpha", "beta"] {
        let text = format!("---\nname: {name}\ndescription: Does {name} well.\n---\nB\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    let shown = "[skills.show.codex]\nalpha = \"name\"\n[skills.show.gemini]\n\"*\" = \"off\"\n";
    place.write("home/.repertoire/config.toml", shown);
    for (agent, lines) in [
        (&[][..], r"\n\n- alpha: Does alpha well.\n- beta: Does beta well."),
        (&["--agent", "codex"], r"\n\n- alpha\n- beta: Does beta well."),
        (&["--agent", "gemini"], ""),
    ] {
        let args = [&["mcp", "--source", "skills"], agent].concat();
        let run = place.run_with(&args, INITIALIZE.as_bytes()).exits(0);
        assert!(run.stdout.contains(lines), "{agent:?}: {run:?}");
        assert_eq!(run.stdout.contains("beta"), !lines.is_empty(), "{agent:?}: {run:?}");
    }
}
