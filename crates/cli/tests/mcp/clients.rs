//! Clients that each have a token, and what the operators of a server see of them.

use serde_json::{Value, json};

use crate::binary::Place;
use crate::http::{Server, TOKEN, header};
use crate::shared::Client;
use crate::skills;

const OTHER: &str = "fedcba9876543210fedcba9876543210";

/// Starts a server whose two clients see different skills.
fn server(args: &[&str]) -> (Server, Place, tempfile::TempDir) {
    let (place, skills) = (Place::new(), skills());
    place.write(
        "tokens.toml",
        format!(
            "[everything]\ntoken = \"{TOKEN}\"\n\n[plans]\ntoken = \"{OTHER}\"\n\
             skills = [\"sven/plan\", \"nothing\"]\n"
        ),
    );
    let file = place.path().join("tokens.toml");
    let args = [&["--token-file", file.to_str().unwrap()], args].concat();
    let (server, notes) = Server::start_at(&place, skills.path(), &args, None);
    assert!(notes.iter().any(|note| note.contains("`plans`: the allowlist names `nothing`")));
    (server, place, skills)
}

#[test]
fn each_token_sees_its_own_skills() {
    let (server, _place, _skills) = server(&[]);
    let all = Client::begin(&server, TOKEN);
    let plans = Client::begin(&server, OTHER);
    for (skill, text) in [("sven/plan", "Plan"), ("review", "Review")] {
        let used = all.call(&server, "use_skill", &json!({"skill": skill}));
        assert!(used.contains(text), "{used}");
    }
    let used = plans.call(&server, "use_skill", &json!({"skill": "sven/plan"}));
    assert!(used.contains("Plan"), "{used}");
    let refused = plans.call(&server, "use_skill", &json!({"skill": "review"}));
    assert!(refused.starts_with("NOT_FOUND"), "{refused}");
    let found = plans.call(&server, "find_skills", &json!({"query": "a pull request"}));
    assert_eq!(found, "No skill fits.");
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "skills/list"}).to_string();
    let listed = plans.ask(&server, "POST", &list);
    assert!(listed.contains("sven/plan") && !listed.contains("review"), "{listed}");
}

#[test]
fn a_request_without_a_token_is_told_what_to_send() {
    let (server, _place, _skills) = server(&[]);
    for (headers, challenge) in [
        (&[][..], "Bearer realm=\"repertoire\""),
        (
            &[("Authorization", "Bearer 0000000000000000")],
            "Bearer realm=\"repertoire\", error=\"invalid_token\"",
        ),
    ] {
        let answer = server.post_text("/mcp", headers, "{}");
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert_eq!(header(&answer, "www-authenticate"), Some(challenge), "{answer}");
    }
}

#[test]
fn only_named_hosts_are_served_beside_this_machine() {
    let (server, _place, _skills) = server(&["--allow-host", "skills.example"]);
    let bearer = format!("Bearer {TOKEN}");
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    for (host, status) in [("skills.example", "400"), ("evil.example", "403")] {
        // From a host that is served, a ping without a session is a bad request.
        let headers = [("Authorization", &*bearer), ("Host", host)];
        let answer = server.post_text("/mcp", &headers, &ping);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
    }
}

#[test]
fn health_is_for_all_and_metrics_are_for_those_with_a_token() {
    let (server, _place, _skills) = server(&[]);
    let get = |path: &str, headers: &[(&str, &str)]| server.ask("GET", path, headers, "");
    // Health probes use the address of a container, which is not a name of this machine.
    let probe = [("Host", "10.0.0.7:8765")];
    assert!(get("/health", &probe).starts_with("HTTP/1.1 200"));
    let ready = get("/ready", &probe);
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("store: answers"), "{ready}");
    assert!(get("/metrics", &[]).starts_with("HTTP/1.1 401"));
    assert!(server.post_text("/health", &[], "").starts_with("HTTP/1.1 405"));

    let client = Client::begin(&server, TOKEN);
    for _ in 0..2 {
        client.call(&server, "use_skill", &json!({"skill": "sven"}));
    }
    client.call(&server, "find_skills", &json!({"query": "a pull request of secrets"}));
    let metrics = get("/metrics", &[("Authorization", &format!("Bearer {OTHER}"))]);
    for line in [
        "repertoire_skills_used_total 2",
        "repertoire_skills_shown_total{as=\"full\"} 1",
        "repertoire_queries_total 1",
        "repertoire_skills_matched_total 1",
        "repertoire_skills{client=\"plans\"} 1",
        "repertoire_tool_call_seconds_count{tool=\"use_skill\"} 2",
        "repertoire_tool_errors_total{tool=\"use_skill\"} 0",
        "repertoire_store_errors_total 0",
        "repertoire_open_sessions 1",
    ] {
        assert!(metrics.lines().any(|given| given == line), "{line} not in\n{metrics}");
    }
    assert!(!metrics.contains("secrets") && !metrics.contains(TOKEN), "{metrics}");
}

#[test]
fn a_protocol_without_a_handshake_has_no_method_initialize() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let ask = |version: &str| {
        server.post("/mcp", &[("Authorization", &*bearer), ("MCP-Protocol-Version", version)])
    };
    for (version, status) in [("2025-06-18", 200), ("2026-07-28", 404)] {
        let answer = ask(version);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{version}: {answer}");
    }
    let refused = ask("2026-07-28");
    let body = refused.split("\r\n\r\n").last().unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32601), &json!(1)), "{refused}");
}
