//! The official Python client, if it can be installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::binary::Place;
use crate::http::{Server, TOKEN};
use crate::support::say;
use crate::{skills, trusted};

/// The version of the client that the test installs.
const CLIENT: &str = "mcp==2.3.0";

/// Returns a Python with the client, which is installed once below the target directory.
fn python() -> Result<PathBuf, String> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-mcp-2.3.0");
    let python = home.join("bin/python");
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let last = String::from_utf8_lossy(&output.stderr).lines().last().map(str::to_owned);
        if output.status.success() { Ok(()) } else { Err(last.unwrap_or_default()) }
    };
    if run(&python, &["-c", "import mcp"]).is_err() {
        run(Path::new("python3"), &["-m", "venv", &home.to_string_lossy()])?;
        run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", CLIENT])?;
    }
    Ok(python)
}

#[test]
fn the_official_python_client_uses_everything() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return say(&format!("SKIPPED: {CLIENT} cannot be installed: {why}")),
    };
    let skills = skills();
    let place = trusted(skills.path());
    let source = skills.path().to_str().unwrap();
    let (server, _) = Server::start(&[], Some(TOKEN));
    let url = format!("http://{}/mcp", server.address);
    // Over HTTP the user is not asked for consent here, because with the newest protocol each call is a
    // session.
    for (server, n_questions) in
        [([env!("CARGO_BIN_EXE_repertoire"), source], 1), ([&*url, TOKEN], 0)]
    {
        use_server(&python, &place, server, n_questions);
    }
}

fn use_server(python: &Path, place: &Place, server: [&str; 2], n_questions: usize) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let output = Command::new(python)
        .arg(script)
        .args(server)
        .current_dir(place.path())
        .env("HOME", place.path().join("home"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    for lifecycle in ["legacy", "auto"] {
        let seen = &seen[lifecycle];
        assert_eq!(seen["server"], "repertoire", "{seen}");
        assert_eq!(seen["tools"].as_array().unwrap().len(), 8, "{seen}");
        assert!(seen["prompts"].as_array().unwrap().contains(&"user_only".into()), "{seen}");
        assert_eq!(seen["greeted"], "Hello, Ada!");
        assert!(seen["used"].as_str().unwrap().contains("Review 7."), "{seen}");
        assert_eq!(seen["wrong"], true);
        assert_eq!(seen["prompt"], true);
        assert_eq!(seen["resource"], "Look twice.\n");
        assert_eq!(seen["progress"], serde_json::json!([0.5, 1.0]), "{seen}");
        assert_eq!(seen["questions"], n_questions, "{seen}");
    }
}
