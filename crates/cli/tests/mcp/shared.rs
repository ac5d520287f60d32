//! Sessions that several server processes share.

use serde_json::{Value, json};

use crate::binary::{Place, finish};
use crate::http::{Server, TOKEN, events, header, hello};
use crate::{command, skills, trusted};

/// A client of one or more servers that accept its token.
pub(crate) struct Client {
    bearer: String,
    pub(crate) session: String,
}

impl Client {
    /// Starts a session at `server`.
    pub(crate) fn begin(server: &Server, token: &str) -> Client {
        let bearer = format!("Bearer {token}");
        let hello = hello().to_string();
        let answer = server.post_text("/mcp", &[("Authorization", &bearer)], &hello);
        let session = header(&answer, "mcp-session-id").unwrap().to_owned();
        Client { bearer, session }
    }

    pub(crate) fn ask(&self, server: &Server, method: &str, body: &str) -> String {
        self.ask_with(server, method, body, &[])
    }

    /// Sends a request with additional headers.
    pub(crate) fn ask_with(
        &self,
        server: &Server,
        method: &str,
        body: &str,
        more: &[(&str, &str)],
    ) -> String {
        let headers = [("Authorization", &*self.bearer), ("Mcp-Session-Id", &*self.session)];
        server.ask(method, "/mcp", &[&headers, more].concat(), body)
    }

    /// Calls a tool, and returns the text of its result.
    pub(crate) fn call(&self, server: &Server, tool: &str, arguments: &Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let answer = self.ask(server, "POST", &call.to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let events = events(&answer);
        let last = events.last().unwrap_or_else(|| panic!("{answer}"));
        let text = last["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn review(&self, server: &Server) -> String {
        self.call(server, "use_skill", &json!({"skill": "sven"}))
    }
}

const AGAIN: &str = "are in this conversation already";

#[test]
fn a_session_that_one_process_began_goes_on_at_another_and_after_both_ended() {
    let (place, skills) = (Place::new(), skills());
    let start = || Server::start_at(&place, skills.path(), &[], Some(TOKEN)).0;
    let [a, b] = [start(), start()];
    let client = Client::begin(&a, TOKEN);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert!(client.ask(&b, "POST", &initialized).starts_with("HTTP/1.1 202"));
    assert!(client.review(&b).contains("Sven."));
    for server in [&a, &b] {
        assert!(client.review(server).contains(AGAIN));
    }
    // Another conversation has not been shown anything yet.
    let other = Client::begin(&b, TOKEN);
    assert!(other.review(&a).contains("Sven."));
    assert_eq!((a.kill(), b.kill()), (vec![], vec![]));
    let c = start();
    assert!(client.review(&c).contains(AGAIN) && other.review(&c).contains(AGAIN));
}

#[test]
fn a_client_ends_its_session_at_any_process() {
    let (place, skills) = (Place::new(), skills());
    let start = || Server::start_at(&place, skills.path(), &[], Some(TOKEN)).0;
    let [a, b] = [start(), start()];
    let client = Client::begin(&a, TOKEN);
    assert!(client.review(&a).contains("Sven."));
    let answer = client.ask(&b, "DELETE", "");
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    assert!(client.ask(&b, "POST", &ping).starts_with("HTTP/1.1 404"));
    // The other server knows the session's id, but not what was shown in it.
    assert!(client.review(&a).contains("Sven."));
}

#[test]
fn ids_of_other_tokens_and_invented_ones_are_no_sessions() {
    let (place, skills) = (Place::new(), skills());
    let other = "fedcba9876543210fedcba9876543210";
    let start = |token| Server::start_at(&place, skills.path(), &[], Some(token)).0;
    let [a, b] = [start(TOKEN), start(other)];
    let client = Client::begin(&a, TOKEN);
    let stranger = Client { bearer: format!("Bearer {other}"), session: client.session.clone() };
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    for method in ["POST", "DELETE", "GET"] {
        let answer = stranger.ask(&b, method, &ping);
        assert!(answer.starts_with("HTTP/1.1 404"), "{method}: {answer}");
    }
    for session in ["x", "2025-06-18.n.00.00", &client.session[1..]] {
        let inventor = Client { bearer: client.bearer.clone(), session: session.to_owned() };
        let answer = inventor.ask(&a, "POST", &ping);
        assert!(answer.starts_with("HTTP/1.1 404"), "{session}: {answer}");
    }
    assert!(client.ask(&a, "POST", &ping).starts_with("HTTP/1.1 200"));
}

#[test]
fn without_a_store_a_server_says_so_and_answers() {
    let (place, skills) = (Place::new(), skills());
    place.write("home/.local/state/repertoire/sessions.sqlite/in the way", "");
    let (server, notes) = Server::start_at(&place, skills.path(), &[], Some(TOKEN));
    assert!(notes[0].contains("answering without the memory of sessions"), "{notes:?}");
    let client = Client::begin(&server, TOKEN);
    assert!(client.review(&server).contains("Sven."));
    assert!(client.review(&server).contains(AGAIN), "this process remembers");
}

#[test]
fn a_named_session_goes_on_over_standard_streams() {
    let skills = skills();
    let place = trusted(skills.path());
    let params = json!({"name": "use_skill", "arguments": {"skill": "sven"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let input = format!("{}\n{initialized}\n{call}\n", hello());
    let ask = |session: &[&str]| {
        let mut command = command(&place, &["mcp", "--source"], &[skills.path()]);
        command.args(session);
        finish(command, input.as_bytes()).exits(0).stdout
    };
    assert!(ask(&["--session", "chat-7"]).contains("Sven."));
    assert!(ask(&["--session", "chat-7"]).contains(AGAIN));
    assert!(ask(&["--session", "chat-8"]).contains("Sven."));
    // A session without a name is forgotten.
    assert!(ask(&[]).contains("Sven.") && ask(&[]).contains("Sven."));
}

#[test]
fn a_batch_is_refused_over_http() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = Client::begin(&server, TOKEN).ask(&server, "POST", &json!([ping]).to_string());
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("-32600") && answer.contains("batches are not supported"), "{answer}");
}

#[test]
fn half_a_character_is_replaced_over_http() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    // A request with half a surrogate pair, from a text that was cut.
    let half = r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\ud83d"}}"#;
    let answer = Client::begin(&server, TOKEN).ask(&server, "POST", half);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(events(&answer), [json!({"jsonrpc": "2.0", "id": 8, "result": {}})], "{answer}");
}
