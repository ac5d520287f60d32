//! Reads the messages that are still in the context from the record that an agent keeps of a conversation, lines of
//! JSON.
//!
//! Gemini CLI announces a compression before each turn, and usually does not compress. Its record shows whether it did:
//! the last `{"$set":{"messages":…` and the lines after it are the messages that the model still has.
//!
//! Claude Code lets the user rewind a conversation, and tells no hook. Each line of its record names the one before it
//! (`parentUuid`): the lines from the last message back to the first are those that stand. A rewind that is not followed
//! by a message yet is a line that names the last message itself (`leafUuid`, with `explicit`).

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use repertoire_system::open_options::regular_file;
use serde::Deserialize;

use super::agent::HookAgent;

/// The number of bytes that are read, from the end of the record. If the start of the messages lies
/// before them, the messages are unknown.
const WINDOW: u64 = 16 << 20;

/// The same for the record of Claude Code, which has more than the messages.
const CHAIN_WINDOW: u64 = 4 << 20;

/// The start of a line that replaces all messages.
const MESSAGES: &[u8] = b"{\"$set\":{\"messages\":";

/// The parts of a line in the record of Claude Code that say where it stands.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    uuid: Option<String>,
    parent_uuid: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    leaf_uuid: Option<String>,
    #[serde(default)]
    explicit: bool,
}

/// Returns the messages that the model of `agent` still has, as JSON. Returns `None` if the record cannot be read,
/// or if the part that is read does not contain the start of the messages.
pub(super) fn standing(record: &Path, agent: HookAgent) -> Option<String> {
    match agent {
        HookAgent::ClaudeCode => chain(&end_of(record, CHAIN_WINDOW)?),
        _ => since_the_last_set(&end_of(record, WINDOW)?),
    }
}

/// Returns the last bytes of a file, at most `n`.
fn end_of(file: &Path, n: u64) -> Option<Vec<u8>> {
    let mut file = regular_file(file).ok()?;
    let n_bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(n_bytes.saturating_sub(n))).ok()?;
    let mut bytes = Vec::new();
    file.take(n).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the lines of the messages from the last one back to the first.
fn chain(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut standing = String::new();
    // The next line, as it names itself; at first, any message is the last one.
    let mut wanted: Option<(String, String)> = None;
    for line in text.rsplit('\n') {
        // Most lines are of other branches or no messages, and are not read.
        if wanted.as_ref().is_some_and(|(_, named)| !line.contains(named.as_str())) {
            continue;
        }
        let Ok(row) = serde_json::from_str::<Row>(line) else { continue };
        let is_next = match &wanted {
            Some((uuid, _)) => row.uuid.as_ref() == Some(uuid),
            None => row.uuid.is_some() && !row.is_sidechain,
        };
        let next = if is_next {
            standing.push_str(line);
            row.parent_uuid
        } else if wanted.is_none() && row.explicit && row.leaf_uuid.is_some() {
            row.leaf_uuid
        } else {
            continue;
        };
        let Some(next) = next else { return Some(standing) };
        let named = format!("\"uuid\":\"{next}\"");
        wanted = Some((next, named));
    }
    None
}

fn since_the_last_set(bytes: &[u8]) -> Option<String> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let starts = lines.scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let (start, _) = starts.filter(|(_, line)| line.starts_with(MESSAGES)).last()?;
    Some(String::from_utf8_lossy(&bytes[start..]).into_owned())
}

/// Tells whether `text` is in these messages.
pub(super) fn holds(messages: &str, text: &str) -> bool {
    let quoted = serde_json::Value::from(text).to_string();
    messages.contains(quoted.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_no_longer_stands() {
        let dir = std::env::temp_dir().join(format!("repertoire-record-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let record = dir.join("chat.jsonl");
        let set = |text: &str| format!("{{\"$set\":{{\"messages\":[{{\"text\":\"{text}\"}}]}}}}\n");
        let line = |text: &str| format!("{{\"type\":\"user\",\"text\":\"{text}\"}}\n");
        for (lines, stands) in [
            (vec![set("env"), line("Base: /a \\\"x\\\"")], Some(true)),
            (vec![set("env"), line("Base: /a \\\"x\\\""), set("env"), line("b")], Some(false)),
            (vec![set("env"), line("b"), set("Base: /a \\\"x\\\"")], Some(true)),
            (vec![line("Base: /a \\\"x\\\"")], None),
            (vec![], None),
        ] {
            std::fs::write(&record, lines.concat()).unwrap();
            let found = standing(&record, HookAgent::Gemini)
                .map(|messages| holds(&messages, "Base: /a \"x\""));
            assert_eq!(found, stands, "{lines:?}");
        }
        assert_eq!(standing(&dir, HookAgent::Gemini), None, "a directory is not a record");
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(standing(&record, HookAgent::Gemini), None);
    }

    #[test]
    fn what_was_rewound_no_longer_stands() {
        let row = |uuid: &str, parent: Option<&str>, text: &str| {
            let row = serde_json::json!({"parentUuid": parent, "isSidechain": false, "message": text, "uuid": uuid});
            format!("{row}\n")
        };
        let (a, b) = (row("a", None, "hello"), row("b", Some("a"), "the body"));
        let c = row("c", Some("b"), "thanks");
        let rewound = "{\"type\":\"last-prompt\",\"leafUuid\":\"a\",\"explicit\":true}\n";
        let told = "{\"type\":\"last-prompt\",\"leafUuid\":\"a\"}\n{\"type\":\"mode\"}\n";
        let side = row("s", Some("a"), "of a task")
            .replace("\"isSidechain\":false", "\"isSidechain\":true");
        let quoted = row("q", Some("c"), "see \"uuid\":\"b\"");
        for (lines, stands) in [
            (vec![&*a, &b, &c, told], Some(true)),
            (vec![&a, &b, &c, &side], Some(true)),
            (vec![&a, &b, &c, &quoted], Some(true)),
            (vec![&a, &b, &c, rewound], Some(false)),
            (vec![&a, &b, &c, &row("d", Some("a"), "again")], Some(false)),
            (vec![&a, &b, &c, rewound, &row("d", Some("a"), "again"), told], Some(false)),
            (vec![&b, &c], None),
            (vec!["not JSON\n"], None),
            (vec![], None),
        ] {
            let lines = lines.concat();
            let found = chain(lines.as_bytes()).map(|messages| holds(&messages, "the body"));
            assert_eq!(found, stands, "{lines}");
        }
    }
}
