//! Notifications of changed lists, whichever way the client reads them.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use repertoire::ConsentPolicy;
use rmcp::model::SubscriptionFilter;
use serde_json::{Value, json};

use crate::binary::Place;
use crate::http::{Server, TOKEN};
use crate::peer::{connect, modern, simple, until};
use crate::shared::Client;
use crate::{LONG, skills, wire};

fn add(skills: &Path) {
    fs::create_dir(skills.join("novel")).unwrap();
    let text = "---\nname: novel\ndescription: New.\n---\nDo it.\n";
    fs::write(skills.join("novel/SKILL.md"), text).unwrap();
}

fn remove(skills: &Path) {
    fs::remove_dir_all(skills.join("novel")).unwrap();
}

#[test]
fn a_skill_that_comes_again_is_told_of_again() {
    let mut server = wire::Server::started();
    let dir = server.skills.path().to_owned();
    let change = "notifications/prompts/list_changed";
    for id in 1..3 {
        let listed = server.ask(id, "prompts/list", &json!({}));
        assert!(!listed.to_string().contains("novel"), "{listed}");
        add(&dir);
        assert_eq!(server.read()["method"], change);
        remove(&dir);
        assert_eq!(server.read()["method"], change);
    }
}

#[test]
fn a_file_that_comes_or_goes_is_told_of() {
    let mut server = wire::Server::started();
    server.ask(1, "resources/list", &json!({}));
    let references = server.skills.path().join("review/references");
    fs::create_dir_all(&references).unwrap();
    for is_there in [true, false] {
        if is_there {
            fs::write(references.join("more.md"), "More.").unwrap();
        } else {
            fs::remove_file(references.join("more.md")).unwrap();
        }
        while server.read()["method"] != "notifications/resources/list_changed" {}
        // The server may report the directory before the file in it.
        let listed = |server: &mut wire::Server| {
            server.send(2, "resources/list", &json!({}));
            loop {
                let answer = server.read();
                if answer["id"] == 2 {
                    return answer.to_string().contains("more.md");
                }
            }
        };
        assert_eq!(listed(&mut server), is_there);
    }
}

/// A stream of events from a server.
struct Stream(Lines<BufReader<TcpStream>>);

impl Stream {
    fn open(server: &Server, method: &str, headers: &[(&str, &str)], body: &str) -> Stream {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
            server.address
        );
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        Stream(BufReader::new(stream).lines())
    }

    /// Reads up to the next message with this method.
    fn until(&mut self, method: &str) {
        let is_it = |line: &str| {
            let data = line.strip_prefix("data: ").unwrap_or_default();
            serde_json::from_str(data).is_ok_and(|message: Value| message["method"] == method)
        };
        while !is_it(&self.0.next().unwrap().unwrap()) {}
    }
}

#[test]
fn a_subscription_over_http_hears_of_every_change() {
    let (place, skills) = (Place::new(), skills());
    let (server, _) = Server::start_at(&place, skills.path(), &[], Some(TOKEN));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    });
    let method = "subscriptions/listen";
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    for (filter, list) in [("promptsListChanged", "prompts"), ("toolsListChanged", "tools")] {
        let params = json!({"notifications": {filter: true}, "_meta": meta});
        let listen = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut changes = Stream::open(&server, "POST", &headers, &listen.to_string());
        changes.until("notifications/subscriptions/acknowledged");
        std::thread::sleep(Duration::from_millis(500));
        // The client reads the lists by other requests, which the subscription cannot see.
        for change in [add, remove, add, remove] {
            change(skills.path());
            changes.until(&format!("notifications/{list}/list_changed"));
        }
    }
}

#[test]
fn a_session_that_goes_on_after_a_restart_hears_of_changes() {
    let (place, skills) = (Place::new(), skills());
    let start = || Server::start_at(&place, skills.path(), &[], Some(TOKEN)).0;
    let first = start();
    let client = Client::begin(&first, TOKEN);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}).to_string();
    assert!(client.ask(&first, "POST", &list).contains("review"));
    first.kill();
    let second = start();
    let session = [("Mcp-Session-Id", &*client.session)];
    let mut changes = Stream::open(&second, "GET", &session, "");
    std::thread::sleep(Duration::from_millis(500));
    for change in [add, remove] {
        change(skills.path());
        changes.until("notifications/prompts/list_changed");
    }
}

#[tokio::test]
async fn a_changed_list_of_tools_is_told_once() {
    let place = simple().await;
    let library = place.dir.path().join("hello/toolsets/libhello.so");
    let names = async || place.client.list_all_tools().await.unwrap().len();
    assert_eq!(names().await, 8);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(place.told.tool_changes.load(Ordering::SeqCst), 0);
    fs::remove_file(&library).unwrap();
    until("the change", || place.told.tool_changes.load(Ordering::SeqCst) == 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(place.told.tool_changes.load(Ordering::SeqCst), 1);
    assert_eq!(names().await, 4);

    // Later clients are notified if they subscribed.
    let place = connect(modern(), ConsentPolicy::Never, None).await;
    assert_eq!(place.client.list_all_tools().await.unwrap().len(), 8);
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut changes = place.client.listen(filter).await.unwrap();
    fs::remove_file(place.dir.path().join("hello/toolsets/libhello.so")).unwrap();
    let change = tokio::time::timeout(LONG, changes.next()).await.unwrap();
    assert!(format!("{change:?}").contains("ToolListChanged"), "{change:?}");
}
