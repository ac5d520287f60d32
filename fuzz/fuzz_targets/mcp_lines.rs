//! Fuzzes the lines that a client sends to the MCP server. Every line that is written back must be a message of
//! JSON-RPC, and the server must end when its client has left.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use repertoire::{Engine, Skill};
use repertoire_mcp::{McpOptions, McpServer};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::{Builder, Runtime};

/// The room of the streams: less than an answer, so that writing waits as it does for a slow client.
const ROOM: usize = 256;
/// Longer than the server waits for calls after its client has left.
const PATIENCE: Duration = Duration::from_secs(8);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().unwrap());

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let text =
        "---\nname: deploy\ndescription: Deploys a service.\ntriggers: [deploy]\n---\nRun it.\n";
    let skill: Skill = text.parse().unwrap();
    Engine::builder().skill(skill).build().unwrap()
});

async fn talk(lines: &[u8]) {
    let (ours, theirs) = tokio::io::duplex(ROOM);
    let (mut reader, mut writer) = tokio::io::split(ours);
    let (server_reader, server_writer) = tokio::io::split(theirs);
    let server = McpServer::new(&ENGINE, McpOptions::default());
    let never = std::future::pending();
    let serve = tokio::spawn(server.serve_lines_until(server_reader, server_writer, never));
    let listen = tokio::spawn(async move {
        let mut answers = Vec::new();
        let _ = reader.read_to_end(&mut answers).await;
        answers
    });
    // The server may refuse to go on before it has read everything.
    let _ = writer.write_all(lines).await;
    let _ = writer.shutdown().await;
    let ended = tokio::time::timeout(PATIENCE, serve).await;
    // Both a connection that ends and one that is given up are answers; a panic is not.
    let _ = ended.expect("the server goes on without its client").unwrap();
    drop(writer);
    let answers = tokio::time::timeout(PATIENCE, listen).await;
    let answers = answers.expect("the server keeps its stream").unwrap();
    for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
    }
}

fuzz_target!(|lines: &[u8]| RUNTIME.block_on(talk(lines)));
