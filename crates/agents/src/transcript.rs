//! Reads the messages that are still in the context from the record that Gemini CLI keeps of a
//! conversation.
//!
//! Gemini announces a compression before each turn, and usually does not compress. Its record, lines of
//! JSON, shows whether it did: the last `{"$set":{"messages":…` and the lines after it are the messages
//! that the model still has.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use repertoire_system::open_options::regular_file;

/// The number of bytes that are read, from the end of the record. If the start of the messages lies
/// before them, the messages are unknown.
const WINDOW: u64 = 16 << 20;

/// The start of a line that replaces all messages.
const MESSAGES: &[u8] = b"{\"$set\":{\"messages\":";

/// Returns the messages that the model still has, as JSON. Returns `None` if the record cannot be read,
/// or if the part that is read does not contain the start of the messages.
pub(super) fn standing(record: &Path) -> Option<String> {
    let mut file = regular_file(record).ok()?;
    let n_bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(n_bytes.saturating_sub(WINDOW))).ok()?;
    let mut bytes = Vec::new();
    file.take(WINDOW).read_to_end(&mut bytes).ok()?;
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
            let found = standing(&record).map(|messages| holds(&messages, "Base: /a \"x\""));
            assert_eq!(found, stands, "{lines:?}");
        }
        assert_eq!(standing(&dir), None, "a directory is not a record");
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(standing(&record), None);
    }
}
