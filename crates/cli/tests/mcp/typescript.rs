//! The official TypeScript clients, with each protocol version, over standard streams and HTTP.

use std::path::Path;

use serde_json::{Value, json};

use crate::http::{Server, TOKEN};
use crate::inspector::{can_install, node};
use crate::npm::{self, Package};
use crate::{skills, trusted};

/// The SDK, which only knows the older handshake, and its successor, which also knows the newest
/// protocol.
const CLIENTS: [(Package, &[&str]); 2] = [
    (("@modelcontextprotocol/sdk", "1.32.2"), &["2024-11-05", "2025-03-26", "2025-11-25"]),
    (("@modelcontextprotocol/client", "2.3.1"), &["2025-03-26", "2026-07-28"]),
];

/// Returns the client's view of a server.
fn use_server(package: Package, version: &str, home: &Path, server: &[&str]) -> Value {
    npm::install(package);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.mjs");
    let mut command = node();
    command.arg(script).arg(npm::modules(package)).arg(version).args(server);
    command.env("CLIENT", package.0).env("HOME", home).current_dir(home);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{package:?}, {version}, {server:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_official_typescript_clients_use_everything() {
    if !can_install("the TypeScript clients") {
        return;
    }
    let skills = skills();
    let place = trusted(skills.path());
    let home = place.path().join("home");
    let (server, _) = Server::start(&[], Some(TOKEN));
    let url = format!("http://{}/mcp", server.address);
    let stdio =
        [env!("CARGO_BIN_EXE_repertoire"), "mcp", "--source", skills.path().to_str().unwrap()];
    for (package, versions) in CLIENTS {
        for version in versions {
            for (what, address) in [("stdio", &stdio[..]), ("http", &[&*url, TOKEN])] {
                let seen = use_server(package, version, &home, address);
                let case = format!("{package:?}, {version}, {what}: {seen}");
                assert_eq!(seen["server"], "repertoire", "{case}");
                assert_eq!(seen["extension"], json!({"directoryRead": true}), "{case}");
                assert_eq!(seen["tools"], 8, "{case}");
                assert!(
                    seen["prompts"].as_array().unwrap().contains(&"user_only".into()),
                    "{case}"
                );
                assert!(seen["used"].as_str().unwrap().contains("Review 7."), "{case}");
                assert_eq!(seen["wrong"], true, "{case}");
                // These clients drop a step that arrives together with the answer.
                let steps = [json!([0.5, 1]), json!([0.5])];
                assert!(steps.contains(&seen["progress"]), "{case}");
                assert!(seen["prompt"].as_str().unwrap().contains("Review PR 42."), "{case}");
                assert_eq!(seen["file"], "Look twice.\n", "{case}");
                assert!(seen["skill"].as_str().unwrap().contains("Review $ARGUMENTS."), "{case}");
                if package.0.ends_with("/sdk") {
                    assert_eq!(seen["skills"][2], "skill://review/SKILL.md", "{case}");
                }
            }
        }
    }
}
