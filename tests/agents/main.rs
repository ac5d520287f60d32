//! The real programs of agents, with these hooks, against a model on the loopback that says what it
//! was asked. Needs npm, and some 1.5 GB below `target` for the programs.
#![cfg(all(feature = "cli", target_os = "linux"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/binary.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod binary;
mod model;
#[path = "../support/npm.rs"]
mod npm;
mod programs;

use std::fmt::Write as _;
use std::fs;

use binary::Place;
use model::Model;
use programs::{AGENTS, Agent};
use serde_json::Value;

/// What is looked for in requests. Each stands in one place of one skill.
const BODY: &str = "BODY-7731";
const LIST: &str = "- release-notes: Writes release notes from what was merged.";
const NATIVE_BODY: &str = "BODY-3308";
const NATIVE_LINE: &str = "verse: use this skill: ";

/// What is checked, in the order of the matrix.
const CELLS: [&str; 7] = [
    "list",
    "matching message",
    "resume",
    "second match",
    "its own skill",
    "unrelated",
    "uninstall",
];

/// The page with the matrix, and the lines it stands between.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agents.md");
const FROM: &str = "<!-- matrix: written by tests/agents -->\n";
const TO: &str = "<!-- end of the matrix -->\n";

#[test]
fn what_reaches_the_model_is_what_it_should() {
    if std::env::var_os("CI").is_none() && std::env::var_os("REPERTOIRE_AGENTS").is_none() {
        eprintln!("SKIPPED: the real agents are run in CI, or with `REPERTOIRE_AGENTS=1`");
        return;
    }
    if !npm::has_npm() {
        eprintln!("SKIPPED: there is no npm, or no registry, to install the real agents from");
        return;
    }
    let mut matrix =
        format!("| agent | {} |\n|---|{}\n", CELLS.join(" | "), "---|".repeat(CELLS.len()));
    let mut wrong = Vec::new();
    AGENTS.iter().for_each(Agent::install_program);
    // They mostly wait: all at once take a third of the time.
    let conversations: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> =
            AGENTS.iter().map(|agent| scope.spawn(move || converse(agent))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (agent, cells) in AGENTS.iter().zip(conversations) {
        let _ = write!(matrix, "| {} {} |", agent.title, agent.version);
        for (cell, (is_right, requests)) in CELLS.iter().zip(&cells) {
            matrix.push_str(if *is_right { " ✓ |" } else { " ✗ |" });
            if !is_right {
                wrong.push(format!("{} {}, {cell}: {requests}", agent.title, agent.version));
            }
        }
        matrix.push('\n');
    }
    eprintln!("{matrix}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(FROM).unwrap();
    let (_, after) = rest.split_once(TO).unwrap();
    let new = format!("{before}{FROM}{matrix}{TO}{after}");
    if std::env::var_os("REPERTOIRE_RECORD").is_some() {
        fs::write(PAGE, &new).unwrap();
    } else {
        assert_eq!(page, new, "write the matrix with `REPERTOIRE_RECORD=1`");
    }
}

/// Two conversations of an agent: whether each cell is right, and what was seen.
fn converse(agent: &Agent) -> Vec<(bool, String)> {
    let (place, model) = (project(agent), Model::start());
    agent.configure(&place, &model);
    place.run(["hook", "install", agent.hook]).exits(0);
    let say = |message: &str, resumes: bool| {
        let n_before = model.requests().len();
        let output = agent.run(&place, &model, message, resumes);
        let requests = model.requests().split_off(n_before);
        // Others make a title, or choose a model.
        let to_model = requests.iter().rfind(|request| {
            let tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
            tools && request.to_string().contains(message)
        });
        let Some(request) = to_model else {
            panic!("{}: no request with `{message}`: {output}\n{requests:?}", agent.title)
        };
        request.clone()
    };
    let first = say("draft the release notes for 1.2", false);
    let resumed = say("thanks so far", true);
    let second = say("the release notes once more", true);
    let own = say("a limerick about it, please", true);
    let unrelated = say("what is the capital of France?", true);
    place.run(["hook", "uninstall", agent.hook]).exits(0);
    let without = say("draft the release notes for 1.3", false);
    let seen =
        |request: &Value| [LIST, BODY, NATIVE_LINE, NATIVE_BODY].map(|of| count(request, of));
    let is = |request: &Value, wanted: [usize; 4]| {
        let seen = seen(request);
        (seen == wanted, format!("list, body, line, body of its own: {seen:?}, not {wanted:?}"))
    };
    let one_list = (count(&first, LIST) == 1, format!("{} lists", count(&first, LIST)));
    vec![
        one_list,
        is(&first, [1, 1, 0, 0]),
        is(&resumed, [1, 1, 0, 0]),
        is(&second, [1, 1, 0, 0]),
        is(&own, [1, 1, 1, 0]),
        is(&unrelated, [1, 1, 1, 0]),
        is(&without, [0, 0, 0, 0]),
    ]
}

fn count(request: &Value, text: &str) -> usize {
    request.to_string().matches(text).count()
}

/// A project with a skill of ours, and one that the agent has by itself.
fn project(agent: &Agent) -> Place {
    let place = Place::new();
    place.write(
        ".repertoire/skills/release-notes/SKILL.md",
        format!(
            "---\nname: release-notes\ndescription: Writes release notes from what was merged. Use when a version is about to ship.\n\
             triggers: [release notes]\n---\n{BODY}: write them.\n"
        ),
    );
    place.write(
        &format!("{}/verse/SKILL.md", agent.own_skills),
        format!(
            "---\nname: verse\ndescription: Writes verse. Use for poems.\ntriggers: [limerick]\n---\n\
             {NATIVE_BODY}: count.\n"
        ),
    );
    place.write("README.md", "# A project\n");
    programs::git_init(place.path());
    place
}
