//! Batches are accepted if protocol 2025-03-26 was negotiated, and rejected otherwise.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::{self, TOKEN, header, hello_of};
use crate::shared::Client;
use crate::wire;

/// A request with half a surrogate pair, from a text that was cut.
const HALF: &str = r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\ud83d"}}"#;

fn request(id: u64, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})
}

/// A batch with every kind of member: requests, a notification, and an invalid message.
fn mixed() -> Value {
    let known = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let unknown = json!({"jsonrpc": "2.0", "method": "$/setTrace"});
    let mut call = request(2, "tools/call");
    call["params"] = json!({"name": "hello_greet", "arguments": {"name": "Ada"}});
    json!([request(1, "ping"), known, call, 7, unknown, request(3, "bogus/method"), {"id": 4}])
}

/// Returns, for each answer's id as text, whether the answer is an error.
fn by_id<'a>(answers: impl IntoIterator<Item = &'a Value>) -> BTreeMap<String, bool> {
    let by_id = answers.into_iter().map(|answer| {
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        (answer["id"].to_string(), answer.get("error").is_some())
    });
    by_id.collect()
}

fn expected() -> BTreeMap<String, bool> {
    let ids = [("1", false), ("2", false), ("3", true), ("4", true), ("null", true)];
    ids.into_iter().map(|(id, is_error)| (id.to_owned(), is_error)).collect()
}

#[test]
fn over_standard_input() {
    let mut server = wire::Server::start();
    let batch = json!([request(1, "ping")]).to_string();
    server.write(&batch);
    assert_eq!(server.read()["error"]["code"], -32600, "nothing was agreed upon");
    let mut server = server.initialized_with("2025-03-26");
    server.write(&mixed().to_string());
    let answers = server.read_any();
    assert_eq!(by_id(answers.as_array().unwrap()), expected());
    let greeted = answers.as_array().unwrap().iter().find(|answer| answer["id"] == 2).unwrap();
    assert_eq!(greeted["result"]["content"][0]["text"], "Hello, Ada!");
    server.write(&format!("[{HALF}]"));
    assert_eq!(by_id(server.read_any().as_array().unwrap()), [("8".to_owned(), false)].into());
    // A batch of notifications gets no answer, but an empty batch gets one.
    server.write(&json!([{"jsonrpc": "2.0", "method": "$/setTrace"}]).to_string());
    server.write("[]");
    assert_eq!(server.read()["error"]["code"], -32600);
    // The batch does not wait for a cancelled request.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 8}});
    let mut slow = request(8, "tools/call");
    slow["params"] = json!({"name": "hello_count", "arguments": {"to": 36_000, "pause": 100}});
    server.write(&json!([request(7, "ping"), slow]).to_string());
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.write(&cancel.to_string());
    assert_eq!(by_id(server.read_any().as_array().unwrap()), [("7".to_owned(), false)].into());
    assert_eq!(server.ask(9, "ping", &json!({}))["result"], json!({}));

    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut server = wire::Server::start().initialized_with(version);
        server.write(&batch);
        let answer = server.read();
        assert_eq!(answer["error"]["code"], -32600, "{version}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("2025-03-26"), "{answer}");
    }
}

#[test]
fn over_http() {
    let (server, _) = http::Server::start(&["--consent", "never"], Some(TOKEN));
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let bearer = format!("Bearer {TOKEN}");
        let authorized = ("Authorization", &*bearer);
        let hello = hello_of(version).to_string();
        let answer = server.post_text("/mcp", &[authorized], &hello);
        let session = header(&answer, "mcp-session-id").unwrap().to_owned();
        let post = |body: &Value| {
            let session = ("Mcp-Session-Id", &*session);
            server.post_text("/mcp", &[authorized, session], &body.to_string())
        };
        post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let answer = post(&mixed());
        if version != "2025-03-26" {
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
            assert!(answer.contains("-32600"), "{answer}");
            continue;
        }
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(header(&answer, "content-type"), Some("text/event-stream"));
        let answers: Vec<Value> = http::events(&answer);
        assert_eq!(by_id(&answers), expected(), "{answer}");
        let answer = post(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]));
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        // Of two requests with one id, only the first is answered.
        let answer = post(&json!([request(5, "ping"), request(5, "ping"), request(6, "ping")]));
        let answers = http::events(&answer);
        let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32600);
        assert_eq!((answers.len(), refused.count()), (3, 1), "{answer}");
        let answer = post(&json!([]));
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("-32600"), "{answer}");
    }
    // Without a session, no protocol version was negotiated.
    let bearer = format!("Bearer {TOKEN}");
    let answer = server.post_text("/mcp", &[("Authorization", &bearer)], &mixed().to_string());
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn half_a_character_is_replaced_over_http() {
    let (server, _) = http::Server::start(&[], Some(TOKEN));
    for (version, body) in [("2025-06-18", HALF.to_owned()), ("2025-03-26", format!("[{HALF}]"))] {
        let client = Client::begin_with(&server, TOKEN, version);
        let answer = client.ask(&server, "POST", &body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(by_id(&http::events(&answer)), [("8".to_owned(), false)].into(), "{answer}");
    }
}
