//! Descriptions of native skills that the agent's own list cuts.

use std::fs;

use serde_json::{Value, json};

use super::install;
use crate::binary::Place;

const N_SKILLS: usize = 100;

/// A project with many native skills, of which the user has used the last one in Claude Code.
fn place() -> Place {
    let place = Place::new();
    for n in 0..N_SKILLS {
        let text = format!(
            "---\nname: s{n:02}\ndescription: Handles the matter {n} {}.\ntriggers: [matter {n}]\n---\nB\n",
            "of the office ".repeat(12)
        );
        place.write(&format!(".claude/skills/s{n:02}/SKILL.md"), &text);
        place.write(&format!(".agents/skills/s{n:02}/SKILL.md"), &text);
    }
    place.write(".git/HEAD", "");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let used =
        json!({"skillUsage": {"s99": {"usageCount": 2, "lastUsedAt": now.as_millis() as u64}}});
    place.write("home/.claude.json", used.to_string());
    place
}

/// Returns what the hook adds.
fn context(place: &Place, agent: &str, input: &Value) -> String {
    let args = ["hook", agent, "--deadline", "60"];
    let run = place.run_with(args, input.to_string().as_bytes()).exits(0);
    assert_eq!(run.stderr, "");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let contexts = ["/hookSpecificOutput/additionalContext", "/additionalContext"];
    let context = contexts.into_iter().find_map(|at| answer.pointer(at)?.as_str());
    context.unwrap_or_default().to_owned()
}

/// Returns the ids of the described skills, in their order.
fn described(place: &Place, agent: &str, input: &Value) -> Vec<String> {
    let context = context(place, agent, input);
    assert!(context.chars().count() <= 6_000, "{context}");
    let Some((_, list)) = context.split_once("without a description; load one as that list says.")
    else {
        return Vec::new();
    };
    let lines = list.lines().filter_map(|line| line.strip_prefix("- "));
    let lines = lines.map(|line| {
        let (id, description) = line.split_once(": ").unwrap();
        assert!(description.contains("Handles the matter"), "{line}");
        id.to_owned()
    });
    lines.collect()
}

fn start(session: &str, model: Option<&str>) -> Value {
    let mut start =
        json!({"hook_event_name": "SessionStart", "session_id": session, "source": "startup"});
    if let Some(model) = model {
        start["model"] = json!(model);
    }
    start
}

#[test]
fn what_claude_code_cuts_is_described_the_most_used_first() {
    let place = place();
    // All descriptions fit in the list for a large window.
    let cut = |session: &str, model| described(&place, "claude-code", &start(session, model));
    assert_eq!(cut("a", None), [""; 0]);
    let some = cut("b", Some("claude-haiku-4-5"));
    assert!((50..N_SKILLS).contains(&some.len()), "{some:?}");
    assert!(!some.contains(&"s99".to_owned()), "it is in use, so its description is kept");
    // A skill that a message of an earlier conversation called for comes first.
    let last = some.last().unwrap().clone();
    let prompt = format!("the matter {}", last.trim_start_matches(['s', '0']));
    let call = json!({"hook_event_name": "UserPromptSubmit", "session_id": "c", "prompt": prompt});
    place
        .run_with(["hook", "claude-code", "--deadline", "60"], call.to_string().as_bytes())
        .exits(0);
    let ended = cut("d", Some("claude-haiku-4-5"));
    assert_eq!(ended.len(), some.len());

    install(&place, "claude-code").exits(0);
    place.write(".claude/settings.local.json", r#"{"model": "haiku"}"#);
    let doctor = place.run(["doctor", "--json", "--bundled=off"]).json();
    let note = doctor["notes"].to_string();
    assert!(note.contains("Claude Code lists 100 skills, "), "{note}");
    assert!(note.contains(" without a description; the hook adds "), "{note}");
}

#[test]
fn what_codex_cuts_is_described() {
    let place = place();
    assert_eq!(
        described(&place, "codex", &start("a", None)),
        [""; 0],
        "the default window is large"
    );
    place.write("home/.codex/config.toml", "model_context_window = 32000\n");
    let cut = described(&place, "codex", &start("b", None));
    assert!(cut.len() >= 50, "{cut:?}");
    place.write("home/.codex/config.toml", "model_context_window = 1000000\n");
    assert_eq!(described(&place, "codex", &start("c", None)), [""; 0]);
}

#[test]
fn what_copilot_only_names_is_described() {
    let place = place();
    // Measured with 1.0.102: its list describes 58 such skills in 15,000 characters, and only names the rest.
    let cut = described(&place, "copilot", &start("a", None));
    assert!(cut.contains(&"s99".to_owned()) && !cut.contains(&"s00".to_owned()), "{cut:?}");
    for n in 10..60 {
        let dir = place.path().join(format!(".claude/skills/s{n}"));
        fs::remove_dir_all(dir).unwrap();
        fs::remove_dir_all(place.path().join(format!(".agents/skills/s{n}"))).unwrap();
    }
    assert_eq!(described(&place, "copilot", &start("b", None)), [""; 0]);
}

#[test]
fn what_droid_only_names_is_described() {
    let place = place();
    let cut = described(&place, "droid", &start("a", None));
    assert!(cut.contains(&"s99".to_owned()) && !cut.contains(&"s00".to_owned()), "{cut:?}");
    place.write("home/.factory/settings.json", r#"{"compactionTokenLimit": 1000000}"#);
    assert_eq!(described(&place, "droid", &start("b", None)), [""; 0]);
}

/// Copilot's list describes some fifty of 200 skills, and the hook 75 more, those first that the project's README is
/// about. The rest is described by the messages that they are relevant to.
#[test]
fn what_neither_list_has_room_for_is_described_by_a_message() {
    let place = Place::new();
    for n in 0..200 {
        let text = format!(
            "---\nname: s{n:03}\ndescription: Use this skill when the user keeps book{n:03} {}.\n\
             triggers: [matter {n:03}]\n---\nB\n",
            "of the office ".repeat(12)
        );
        place.write(&format!(".agents/skills/s{n:03}/SKILL.md"), text);
    }
    place.write(".git/HEAD", "");
    place.write("README.md", "# Accounts\n\nHere is all that belongs to book190 and book180.\n");
    let within = |mut call: Value| {
        call["cwd"] = json!(place.path());
        context(&place, "copilot", &call)
    };
    let list = within(start("a", None));
    let lines: Vec<&str> = list.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 75, "{list}");
    let mut first: Vec<&str> = lines[..2].iter().map(|line| &line[..21]).collect();
    first.sort_unstable();
    assert_eq!(first, ["- s180: keeps book180", "- s190: keeps book190"]);

    let said = |message: &str| within(json!({"sessionId": "a", "prompt": message}));
    let is_left = |n: &usize| !lines.iter().any(|line| line.starts_with(&format!("- s{n}: ")));
    let left: Vec<usize> = (100..180).rev().filter(is_left).collect();
    let first = left[0];
    let relevant = format!("which entries does book{first} lack?");
    let line = format!(
        "\n- s{first}: to use it, call the `skill` tool with `s{first}`; Use this skill when the user \
         keeps book{first} "
    );
    let shown = said(&relevant);
    assert!(shown.contains(&line), "{shown}");
    assert!(!said(&relevant).contains(&line), "once");
    for described in ["190", "000"] {
        let said = said(&format!("which entries does book{described} lack?"));
        assert!(!said.contains(&format!("- s{described}: ")), "{said}");
    }
    // The names are alike, so the first message may have shown others, too; which, the directory's name decides.
    let is_new = |n: &&usize| !shown.contains(&format!("- s{n}: "));
    let second = left[1..].iter().find(is_new).expect("one that no message has shown");
    let fires = said(&format!("about matter {second}, please"));
    let line = format!("- s{second}: use this skill: call the `skill` tool with `s{second}`; Use ");
    assert!(fires.starts_with(&line), "{fires}");
    let fires = said("about matter 000, please");
    assert_eq!(fires, "- s000: use this skill: call the `skill` tool with `s000`");
    // A question about the skills is answered in whole.
    let all = said("show all skills");
    assert!(
        all.starts_with("## Available skills\n\n- ") && all.ends_with(" skills available]"),
        "{all}"
    );
}
