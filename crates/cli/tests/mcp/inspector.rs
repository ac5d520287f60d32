//! The MCP Inspector, which checks the Skills extension with `skills/list --verify` and more.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::http::{Server, TOKEN};
use crate::npm::{self, NODE, Package};
use crate::support::say;

const INSPECTOR: Package = ("@modelcontextprotocol/inspector", "2.12.0");

/// Tells whether an optional tool can be installed. Fails the test if it cannot although `CI` is set.
pub(crate) fn can_install(what: &str) -> bool {
    if npm::has_npm() {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "no npm, or no registry, to install {what} from");
    say(&format!("SKIPPED: there is no npm, or no registry, to install {what} from"));
    false
}

/// Returns a command line of Node that finds programs of npm packages.
pub(crate) fn node() -> Command {
    npm::install(NODE);
    let mut command = Command::new(npm::bin(NODE).join("node"));
    command.env_remove("NODE_OPTIONS");
    command
}

/// Runs the inspector. Returns its exit status, its output lines and its complaints.
fn inspect(home: &Path, args: &[&str]) -> (i32, Vec<Value>, String) {
    npm::install(INSPECTOR);
    let program = npm::modules(INSPECTOR)
        .join("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut command = node();
    command.arg(program).arg("--cli").args(args).current_dir(home).env("HOME", home);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = stdout.lines().map(|line| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
    });
    (output.status.code().unwrap(), lines.collect(), stderr)
}

#[test]
fn the_inspector_verifies_every_skill() {
    if !can_install("the MCP Inspector") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let skills = crate::skills();
    // A skill that strict readers reject, and one whose path differs from its id.
    for (file, text) in [
        ("Loose One/skill.md", "---\nname: Größe\ndescription: use: it\n---\nLook.\n"),
        ("number/SKILL.md", "---\nname: number\ndescription: d\nmetadata: {n: .inf}\n---\n"),
        ("typed/SKILL.md", "---\nname: typed\ndescription: d\nmetadata: {n: 1.0, b: no}\n---\n"),
        ("sven/deep/SKILL.md", "---\nname: deeper\ndescription: d\n---\n"),
        ("sven/deep/ü b.md", "Umlaut.\n"),
        ("long/SKILL.md", &format!("---\ndescription: {}\n---\n", "long ".repeat(300))),
    ] {
        let path = skills.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (program, source) = (env!("CARGO_BIN_EXE_repertoire"), skills.path().to_str().unwrap());
    let stdio = [program, "mcp", "--source", source];
    let list = ["--method", "skills/list", "--verify", "--require-digests"];
    let (status, reports, stderr) = inspect(home.path(), &[&stdio[..], &list].concat());
    assert_eq!(status, 0, "{reports:?} {stderr}");
    assert_eq!(reports.len(), 11, "{reports:?}");
    for report in &reports {
        let findings = [&report["conformance"], &report["frontmatter"]];
        assert!(findings.iter().all(|list| **list == serde_json::json!([])), "{report}");
        assert_eq!(report["outcome"], "verified", "{report}");
    }

    let get = ["--method", "skills/get", "--verify", "--uri", "skill://sven/deep/deeper/SKILL.md"];
    let (status, reports, stderr) = inspect(home.path(), &[&stdio[..], &get].concat());
    assert_eq!((status, reports.len()), (0, 1), "{stderr}");

    let (server, _) = Server::start(&["--source", source], Some(TOKEN));
    let url = format!("http://{}/mcp", server.address);
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let http = [&*url, "--transport", "http", "--header", &bearer];
    let (status, reports, stderr) = inspect(home.path(), &[&http[..], &list].concat());
    assert_eq!((status, reports.len()), (0, 11), "{stderr}");
}
