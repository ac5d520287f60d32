//! Replays conversations of the real programs, which `crates/cli/tests/agents` recorded.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{log, trial};

#[test]
fn each_recorded_conversation_is_answered_as_it_was() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    for agent in ["claude-code", "codex", "gemini", "copilot", "opencode", "qwen"] {
        let file = root.join(agent).join("conversation.json");
        let recorded: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let place = trial::project(recorded["own_skills"].as_str().unwrap());
        fs::create_dir_all(place.path().join(".git")).unwrap();
        let here = place.path().to_str().unwrap();
        let (mut n_full, mut n_files) = (0, 0);
        for (number, one) in recorded["calls"].as_array().unwrap().iter().enumerate() {
            let (call, answer) = (&one["call"], &one["answer"]);
            let input = call.to_string().replace("PLACE", here);
            let run =
                place.run_with(["hook", agent, "--deadline", "60"], input.as_bytes()).exits(0);
            let text = run.stdout.replace(here, "PLACE");
            let given =
                if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
            assert_eq!(&given, answer, "{agent}, call {number}: {call:#}");
            n_full += text.matches(trial::BODY).count();
            n_files += text.matches(trial::FILE_BODY).count();
        }
        // The skill is shown once for the message and, where a compaction is replayed, once more after it.
        let n_times = if ["gemini", "qwen"].contains(&agent) { 1 } else { 2 };
        assert_eq!((n_full, n_files), (n_times, n_times), "{agent}");
        assert_eq!(log(&place), "", "{agent}");
    }
}
