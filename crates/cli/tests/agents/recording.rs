//! Recordings of the calls that an agent makes to its hooks, and of the answers. They are kept in
//! `crates/cli/tests/hooks/AGENT/conversation.json`, which the tests of hooks replay.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::binary::Place;
use crate::programs::Agent;

/// The directory of the recorded calls, below that of a trial.
const CALLS: &str = "home/calls";

/// Tells whether to write the files in the repository again.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("REPERTOIRE_RECORD").is_some()
}

/// Puts a program between the agent and its hook that records the input and output of each call.
pub(crate) fn begin(agent: &Agent, place: &Place) {
    let program = env!("CARGO_BIN_EXE_repertoire");
    let calls = place.path().join(CALLS);
    let calls = calls.display();
    let script = format!(
        "#!/bin/sh\ncall={calls}/$(date +%s%N)-$$\ncat >$call.in\n\
         {program} \"$@\" <$call.in >$call.out\ncat $call.out\n"
    );
    place.write(&format!("{CALLS}/repertoire"), script);
    let recorder = place.path().join(CALLS).join("repertoire");
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = place.path().join("home").join(agent.hook_settings);
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains(program), "{}: {text}", settings.display());
    fs::write(&settings, text.replace(program, recorder.to_str().unwrap())).unwrap();
}

/// A conversation, as the hooks saw it.
pub(crate) struct Recording(Vec<Value>);

impl Recording {
    /// Reads the calls so far, in order.
    pub(crate) fn read(agent: &Agent, place: &Place) -> Recording {
        let names =
            fs::read_dir(place.path().join(CALLS)).unwrap().map(|name| name.unwrap().path());
        let mut names: Vec<PathBuf> =
            names.filter(|name| name.extension().is_some_and(|end| end == "in")).collect();
        names.sort();
        let calls = names.iter().map(|name| {
            let value = |path: &Path| {
                let text = portable(&fs::read_to_string(path).unwrap(), place);
                if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
            };
            json!({"call": value(name), "answer": value(&name.with_extension("out"))})
        });
        let calls = calls.collect::<Vec<_>>();
        assert!(!calls.is_empty(), "{} called no hook", agent.program.title);
        Recording(calls)
    }

    /// Returns what was added to each message.
    pub(crate) fn added(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let one = |one: &Value| {
            let (call, answer) = (&one["call"], &one["answer"]);
            let message = call["prompt"].as_str()?.trim_matches('"').to_owned();
            let added = [
                &answer["hookSpecificOutput"]["additionalContext"],
                &answer["additionalContext"],
                &answer["context"],
            ];
            Some((message, added.map(text).concat()))
        };
        self.0.iter().filter_map(one).collect()
    }

    /// Compares the fields of the calls with those of the recorded ones, and returns the difference. If
    /// `is_wanted`, writes the recording instead.
    pub(crate) fn differs(&self, agent: &Agent) -> Option<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
        let file = root.join(agent.program.agent).join("conversation.json");
        if is_wanted() {
            let kept = json!({
                "version": agent.version, "own_skills": agent.own_skills, "calls": self.0,
            });
            fs::write(&file, format!("{kept:#}\n")).unwrap();
            return None;
        }
        let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let [kept, seen] = [kept["calls"].as_array().unwrap(), &self.0].map(|calls| shapes(calls));
        let title = agent.program.title;
        (kept != seen).then(|| format!("{title}, calls of hooks: {seen:#?}, not {kept:#?}"))
    }
}

/// Replaces names that are specific to this run.
fn portable(text: &str, place: &Place) -> String {
    let dir = place.path().to_str().unwrap();
    let name = place.path().file_name().unwrap().to_str().unwrap();
    // Some agents derive a directory's name from the name of the project.
    let text = text.replace(dir, "PLACE").replace(&dir.replace(['/', '.'], "-"), "-PLACE");
    text.replace(&name.trim_start_matches('.').to_lowercase(), "place")
}

/// Returns the fields of each kind of call.
fn shapes(calls: &[Value]) -> BTreeSet<String> {
    let shape = |one: &Value| {
        let call = one["call"].as_object().unwrap();
        let kind = ["hook_event_name", "tool_name", "toolName"].map(|name| call.get(name));
        let fields: BTreeSet<&String> = call.keys().collect();
        format!("{kind:?}: {fields:?}")
    };
    calls.iter().map(shape).collect()
}
