//! Hook and MCP server side by side: the list of skills reaches the model of each agent once.

use serde_json::{Value, json};

use super::{AGENTS, install, place, prompt, state};
use crate::binary::Place;

/// The name by which the MCP client of each agent introduces itself.
fn client_name(agent: &str) -> &str {
    match agent {
        "codex" => "codex-mcp-client",
        "gemini" => "gemini-cli-mcp-client",
        "qwen" => "qwen-cli-mcp-client-repertoire",
        "cursor" => "cursor-vscode",
        "droid" => "factory-cli-mcp-client",
        "copilot" => "github-copilot-developer",
        name => name,
    }
}

/// The ways in which a client says that it lists skills itself.
#[derive(Clone, Copy, PartialEq)]
enum Client {
    Plain,
    Declares,
    Lists,
}

/// Runs the server for one connection of the agent's client. Returns its instructions.
fn connect(place: &Place, agent: &str, client: Client) -> String {
    let capabilities = match client {
        Client::Declares => json!({"extensions": {"io.modelcontextprotocol/skills": {}}}),
        Client::Plain | Client::Lists => json!({}),
    };
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": client_name(agent), "version": "1"},
    });
    let ask = |id: u64, method: &str, params: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let mut lines = vec![ask(1, "initialize", &hello), begun];
    if client == Client::Lists {
        lines.push(ask(2, "skills/list", &json!({})));
    }
    let run = place.run_with(["mcp"], format!("{}\n", lines.join("\n")).as_bytes());
    let answer: Value = serde_json::from_str(run.exits(0).stdout.lines().next().unwrap()).unwrap();
    answer["result"]["instructions"].as_str().unwrap().to_owned()
}

/// Returns what the hook adds at the start of a conversation and to its first message.
fn begin(place: &Place, agent: &str, session: &str, text: &str) -> String {
    let event = if agent == "opencode" { "Catalog" } else { "SessionStart" };
    let start = json!({"hook_event_name": event, "session_id": session, "source": "startup"});
    let run = |input: &str| place.run_with(["hook", agent], input.as_bytes()).exits(0).stdout;
    run(&start.to_string()) + &run(&prompt(session, text))
}

const LISTED: &str = "Deploys the site.";
const BODY: &str = "Run the pipeline.";

#[test]
fn the_list_comes_from_the_client_or_the_hook_or_the_server() {
    for agent in AGENTS {
        let place = place();
        assert!(connect(&place, agent, Client::Plain).contains(LISTED), "{agent}: no hook");
        install(&place, agent).exits(0);
        place.run(["mcp", "install", agent, "--project"]).exits(0);
        for (n, client) in
            [Client::Plain, Client::Declares, Client::Plain, Client::Lists].into_iter().enumerate()
        {
            let instructions = connect(&place, agent, client);
            let session = n.to_string();
            // Codex and Copilot do not run a hook that nobody trusted.
            let is_trusted = !["codex", "copilot"].contains(&agent);
            let is_by_server = client != Client::Declares && !is_trusted;
            assert_eq!(instructions.contains(LISTED), is_by_server, "{agent} {n}: {instructions}");
            let said = begin(&place, agent, &session, "what is the weather");
            let is_by_hook = client == Client::Plain;
            assert_eq!(said.contains(LISTED), is_by_hook, "{agent} {n}: {said}");
            let body = begin(&place, agent, &format!("{session}b"), "deploy it");
            assert!(body.contains(BODY), "{agent} {n}: {body}");
        }
        place.run(["mcp", "uninstall", agent, "--project"]).exits(0);
        let said = begin(&place, agent, "alone", "what is the weather");
        assert!(said.contains(LISTED), "{agent}: {said}");
    }
}

#[test]
fn a_hook_with_other_skills_than_the_server_lists_its_own() {
    let place = place();
    place.run(["hook", "install", "claude-code", "--project"]).exits(0);
    place.run(["mcp", "install", "claude-code", "--project", "--allow", "styles"]).exits(0);
    connect(&place, "claude-code", Client::Declares);
    let said = begin(&place, "claude-code", "1", "what is the weather");
    assert!(said.contains(LISTED), "{said}");
    assert!(connect(&place, "another", Client::Plain).contains(LISTED), "not an agent with hooks");
}

#[test]
fn a_server_that_no_client_connects_to_any_more_silences_no_hook() {
    let place = place();
    install(&place, "claude-code").exits(0);
    place.run(["mcp", "install", "claude-code", "--project"]).exits(0);
    let weather = |session: &str| begin(&place, "claude-code", session, "what is the weather");
    connect(&place, "claude-code", Client::Declares);
    assert!(!weather("1").contains(LISTED));
    // Conversations that begin at the same time do not show it.
    assert!(!weather("2").contains(LISTED));
    // An hour later, the client of that conversation has not connected.
    let age = |name: &str, hours: u64| {
        let file = std::fs::File::options().append(true).open(state(&place, name)).unwrap();
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
        file.set_modified(time).unwrap();
    };
    age("mcp-clients/claude-code", 2);
    age("mcp-clients/claude-code.left-out", 1);
    assert!(weather("3").contains(LISTED));
    assert!(weather("4").contains(LISTED));
    connect(&place, "claude-code", Client::Declares);
    assert!(!weather("5").contains(LISTED));
    // With a connection in between, time alone changes nothing.
    age("mcp-clients/claude-code.left-out", 2);
    age("mcp-clients/claude-code", 1);
    assert!(!weather("6").contains(LISTED));
}

#[test]
fn the_hook_of_a_package_knows_the_server_beside_it() {
    let place = place();
    let package = place.run(["package", "claude-code", "--out", "package"]).exits(0);
    let hooks = std::fs::read_to_string(place.path().join("package/hooks/hooks.json")).unwrap();
    assert!(hooks.contains("hook claude-code --with-server"), "{package:?} {hooks}");
    connect(&place, "claude-code", Client::Declares);
    let start = json!({"hook_event_name": "SessionStart", "session_id": "1", "source": "startup"});
    for (options, is_listed) in [(&["--with-server"][..], false), (&[], true)] {
        let words = ["hook", "claude-code"].into_iter().chain(options.iter().copied());
        let said = place.run_with(words, start.to_string().as_bytes()).exits(0).stdout;
        assert_eq!(said.contains(LISTED), is_listed, "{options:?}: {said}");
    }
}
