//! The official conformance suite for servers, with skills that have what it asks for as far as possible.
//! `docs/mcp.md` says how many checks pass, and why the others cannot.

use std::fs;
use std::path::Path;

use crate::binary::{Place, finish};
use crate::command;
use crate::http::{Server, TOKEN};
use crate::inspector::{can_install, node};
use crate::npm::{self, Package};
use crate::support::say;

const SUITE: Package = ("@modelcontextprotocol/conformance", "0.1.16");

/// The variable that runs the suite.
const VARIABLE: &str = "REPERTOIRE_CONFORMANCE";

/// Returns what the suite prints about a server of the skills in `conformance/skills`.
fn run(here: &Path) -> String {
    let (place, skills) = (Place::new(), here.join("skills"));
    let trust = command(&place, &["trust", "add", "--yes"], &[&skills.join("test")]);
    let trust = finish(trust, b"");
    assert_eq!(trust.code, 0, "{trust:?}");
    let (server, _) = Server::start_at(&place, &skills, &[], Some(TOKEN));
    npm::install(SUITE);
    let program = npm::modules(SUITE).join(SUITE.0).join("dist/index.js");
    let mut suite = node();
    suite.arg("-r").arg(here.join("token.cjs")).arg(program);
    suite.args(["server", "--url", &format!("http://{}/mcp", server.address)]);
    let output = suite.env("TOKEN", TOKEN).current_dir(place.path()).output().unwrap();
    server.kill();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_conformance_suite_finds_what_the_documentation_says() {
    if std::env::var_os(VARIABLE).is_none() {
        say(&format!("SKIPPED: `{VARIABLE}=1` runs the conformance suite"));
        return;
    }
    if !can_install("the conformance suite") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let printed = run(&root.join("tests/mcp/conformance"));
    let total = printed.lines().find_map(|line| line.strip_prefix("Total: "));
    let total = total.unwrap_or_else(|| panic!("{printed}"));
    let numbers: Vec<u32> = total.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [n_passed, n_failed] = numbers[..] else { panic!("{total}") };
    let page = fs::read_to_string(root.join("../../docs/mcp.md")).unwrap();
    let sentence = format!("{n_passed} of its {} checks pass", n_passed + n_failed);
    assert!(page.contains(&sentence), "docs/mcp.md lacks: {sentence}\n{printed}");
    // Each scenario that fails has its reason on the page, and none that passes has one.
    let summary = printed.split("=== SUMMARY ===").nth(1).unwrap();
    for line in summary.lines() {
        let Some((mark, rest)) = line.split_once(' ') else { continue };
        let Some((scenario, _)) = rest.split_once(':') else { continue };
        if ["✓", "✗"].contains(&mark) {
            let has_reason = page.contains(&format!("`{scenario}`"));
            assert_eq!(has_reason, mark == "✗", "{scenario}: {printed}");
        }
    }
}
