//! An agent that takes turns in conversations, in which it uses skills.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::TOKEN;
use crate::proxy::AGAIN;
use crate::versions::{SKILLS, Versions};

/// The number of turns of a conversation.
const N_TURNS: usize = 12;

/// A turn with a correct answer.
pub(crate) struct Turn {
    pub(crate) took: Duration,
    /// True if the answer contained the instructions.
    pub(crate) is_full: bool,
    /// The time for which the answered version had already been replaced.
    pub(crate) behind: Duration,
}

pub(crate) struct Agent {
    address: SocketAddr,
    session: String,
    n_turns: usize,
    /// The version of each skill that was last shown in the conversation; `None` if it is unknown,
    /// because the answer was lost.
    shown: HashMap<&'static str, Option<usize>>,
}

impl Agent {
    pub(crate) fn new(address: SocketAddr) -> Agent {
        let mut agent =
            Agent { address, session: String::new(), n_turns: 0, shown: HashMap::new() };
        agent.begin();
        agent
    }

    /// Starts a conversation.
    fn begin(&mut self) {
        let client = json!({"name": "fleet", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.session.clear();
        let (answer, _) = self.post("initialize", &params);
        let name = "mcp-session-id: ";
        let id = answer.lines().find_map(|line| line.strip_prefix(name));
        id.unwrap_or_else(|| panic!("{answer}")).clone_into(&mut self.session);
        (self.n_turns, self.shown) = (0, HashMap::new());
    }

    /// Uses a skill, and checks the answer. It must contain instructions that the conversation has not
    /// seen, of a version that was not replaced more than `within` ago, or say that the conversation
    /// has them already.
    pub(crate) fn turn(&mut self, versions: &Versions, within: Duration) -> Turn {
        if self.n_turns == N_TURNS {
            self.begin();
        }
        let skill = SKILLS[self.n_turns % SKILLS.len()];
        self.n_turns += 1;
        let sent = Instant::now();
        let params = json!({"name": "use_skill", "arguments": {"skill": skill}});
        let (answer, is_again) = self.post("tools/call", &params);
        let answered = Instant::now();
        let text = text(&answer);
        let before = self.shown.get(skill).copied();
        let given = text
            .split_once("This is version ")
            .map(|(_, rest)| rest.split_once('.').unwrap().0.parse::<usize>().unwrap());
        let has_it = text.contains("in this conversation already");
        assert!(given.is_some() != has_it, "{text}");
        // The server may have recorded an answer that was then lost, so the shown version is unknown
        // here.
        let known = given.or(if is_again { None } else { before.flatten() });
        if let (Some(given), Some(Some(before))) = (given, before) {
            assert!(given != before || is_again, "`{skill}` was shown twice: the memory is lost");
        }
        assert!(has_it <= (before.is_some() || is_again), "`{skill}` was never shown: {text}");
        self.shown.insert(skill, known);
        let behind = known.map(|known| versions.behind(known, sent, answered)).unwrap_or_default();
        assert!(behind <= within, "version {known:?} of `{skill}`, {behind:?} after it was over");
        Turn { took: answered - sent, is_full: given.is_some(), behind }
    }

    /// Sends a request. Returns the answer, and whether the request was sent more than once.
    fn post(&self, method: &str, params: &Value) -> (String, bool) {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let session = match &*self.session {
            "" => String::new(),
            session => format!("Mcp-Session-Id: {session}\r\n"),
        };
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Authorization: Bearer {TOKEN}\r\n{session}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let is_again = answer.lines().any(|line| line.starts_with(AGAIN));
        (answer, is_again)
    }
}

/// Returns the text of a tool's result.
fn text(answer: &str) -> String {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let last = events.next_back();
    let last = last.unwrap_or_else(|| panic!("{answer}"));
    let text = last["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{last}")).to_owned()
}
