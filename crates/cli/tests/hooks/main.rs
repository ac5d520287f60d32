//! The hooks of agents: recorded calls and their answers, installation, and failures.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/binary.rs"]
mod binary;
mod by_hand;
mod conversations;
mod doctor;
mod droid_hooks;
mod entries;
mod failures;
mod fields;
mod folder_trust;
mod installation;
mod linked_settings;
mod listed_once;
mod listing;
#[cfg(unix)]
mod matrix;
mod missed;
mod options;
mod projects;
mod protocol;
mod replay;
#[cfg(unix)]
mod server_off;
#[cfg(all(unix, feature = "postgres"))]
#[path = "../../../../tests/support/servers.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod servers;
mod set_ups;
mod shared_sessions;
mod siblings;
mod stats;
#[path = "../support/trial.rs"]
mod trial;
mod unread_files;
mod variables;
mod why;

use std::fs;
use std::path::PathBuf;

use binary::{Place, Run};
use serde_json::{Value, json};

const AGENTS: [&str; 8] =
    ["claude-code", "codex", "gemini", "cursor", "copilot", "opencode", "qwen", "droid"];

/// Creates a project with four skills: one for messages, one for files, a long one, and one that Claude
/// Code reads itself.
fn place() -> Place {
    let place = Place::new();
    let skill = |dir: &str, front_matter: &str, body: &str| {
        place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\n{body}\n"));
    };
    let skills = ".repertoire/skills";
    skill(
        &format!("{skills}/deploy"),
        "name: deploy\ndescription: Deploys the site.\ntriggers: [deploy]",
        "Run the pipeline. $ARGUMENTS",
    );
    skill(
        &format!("{skills}/styles"),
        "name: styles\ndescription: Writes style sheets.\npaths: ['**/*.css']",
        "No `!important`.",
    );
    skill(
        &format!("{skills}/long"),
        "name: long\ndescription: Knows it all.\ntriggers: [encyclopedia]",
        &"All there is to know. ".repeat(600),
    );
    skill(".claude/skills/native", "name: native\ndescription: d\ntriggers: [native]", "Native.");
    fs::create_dir_all(place.path().join(".git")).unwrap();
    place
}

/// Runs the hook of `agent` with the skills of the project only.
fn hook(place: &Place, agent: &str, input: &str) -> Run {
    hook_with(place, agent, input.as_bytes())
}

/// Runs the hook of `agent` with an input that need not be text.
fn hook_with(place: &Place, agent: &str, input: &[u8]) -> Run {
    let skills = place.path().join(".repertoire/skills");
    let native = place.path().join(".claude/skills");
    let (native, skills) = (native.to_str().unwrap(), skills.to_str().unwrap());
    let args = ["hook", agent, "--deadline", "60", "--source", native, "--source", skills];
    place.run_with(args, input)
}

fn prompt(session: &str, text: &str) -> String {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text})
        .to_string()
}

fn state(place: &Place, name: &str) -> PathBuf {
    place.path().join("home/.local/state/repertoire").join(name)
}

fn log(place: &Place) -> String {
    fs::read_to_string(state(place, "hook.log")).unwrap_or_default()
}

fn install(place: &Place, agent: &str) -> Run {
    place.run(["hook", "install", agent, "--project"])
}

fn uninstall(place: &Place, agent: &str) -> Run {
    place.run(["hook", "uninstall", agent, "--project"])
}

fn run_doctor(place: &Place, code: i32) -> Value {
    let source = place.path().join("no-skills");
    fs::create_dir_all(&source).unwrap();
    let args = ["doctor", "--json", "--source", "no-skills"];
    place.run(args).exits(code).json()
}
