//! `init` sets up agents with a first skill, and `init --undo` leaves no trace of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{assert_contains, assert_lacks};
use crate::binary::{Place, Run};

/// Every file and directory below `dir`, with the content of files.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap) {
        let content = entry.file_type().is_file().then(|| fs::read(entry.path()).unwrap());
        found.insert(entry.path().to_owned(), content);
    }
    found
}

/// A home with settings of agents that somebody wrote by hand.
fn home() -> Place {
    let place = Place::new();
    place.write("home/.claude/settings.json", "{\"model\": \"x\", // mine\n \"a\":1}");
    place.write("home/.codex/config.toml", "model = \"x\"\n");
    place.write("home/.gemini/settings.json", "");
    place.write("home/.config/Code/User/settings.json", "{}");
    place.write("home/.copilot/empty/.keep", "");
    place.write("project/README.md", "");
    place
}

fn init(place: &Place, args: &[&str]) -> Run {
    init_in(place, "project", args)
}

fn init_in(place: &Place, dir: &str, args: &[&str]) -> Run {
    let mut command = place.command(["init"].iter().chain(args));
    command.current_dir(place.path().join(dir));
    command.env("HOME", place.path().join("home")).env("PATH", "");
    crate::binary::finish(command, b"")
}

#[test]
fn nobody_is_asked_where_nobody_can_answer() {
    let place = home();
    let before = tree(place.path());
    let run = init(&place, &[]).exits(1);
    let help = "--agent claude-code,codex,gemini,copilot,vscode";
    assert_contains(&run.stderr, &["CONSENT_REQUIRED", help, "--yes", "--dry-run"]);
    let run = init(&place, &["--dry-run"]).exits(0);
    assert_contains(&run.stdout, &["+++ ", "would be changed", "SKILL.md would be written"]);
    for name in ["Release Notes", ""] {
        init(&place, &["--yes", "--skill", name]).exits(2);
    }
    assert_eq!(tree(place.path()), before);
}

#[test]
fn what_is_said_is_true_of_a_home_without_agents() {
    let place = Place::new();
    place.write("home/README.md", "");
    let run = init_in(&place, "home", &["--yes"]).exits(0);
    assert_contains(&run.stdout, &["none of the agents known here was found", "a hook would add"]);
    // No option that this command does not have.
    let place = Place::new();
    place.write("home/.repertoire", "a file, where a directory belongs");
    let run = init_in(&place, "home", &["--yes"]).exits(1);
    assert_contains(&run.stderr, &["cannot write", "home/.repertoire/skills", "--project"]);
    assert_lacks(&run.stderr, &["--dir"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_the_record_cannot_hold_is_refused_before_anything_is_written() {
    use std::os::unix::ffi::OsStrExt as _;

    let place = home();
    let project = Path::new("project").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(place.path().join(&project)).unwrap();
    let before = tree(place.path());
    let mut command = place.command(["init", "--project", "--agent", "claude-code"]);
    command.current_dir(place.path().join(&project)).env("HOME", place.path().join("home"));
    let run = crate::binary::finish(command, b"").exits(1);
    assert_contains(&run.stderr, &["is not UTF-8", "help: "]);
    assert_eq!(tree(place.path()), before);
}

#[test]
fn everything_is_taken_back_byte_for_byte() {
    for options in [&["--yes"][..], &["--yes", "--project"], &["--agent", "cursor,opencode"]] {
        let place = home();
        let before = tree(place.path());
        let run = init(&place, options).exits(0);
        assert_contains(&run.stdout, &["is your first skill", "it fires for", "init --undo"]);
        assert_lacks(&run.stderr, &["twice"]);
        // A second run changes nothing, and forgets nothing.
        let after = tree(place.path());
        let again = init(&place, options).exits(0);
        assert_contains(&again.stdout, &["is set up already", "was here before"]);
        assert_eq!(tree(place.path()), after);
        let whose: &[&str] = if options.contains(&"--project") { &["--project"] } else { &[] };
        let rehearsal = init(&place, &[&["--undo", "--dry-run"], whose].concat()).exits(0);
        assert_contains(&rehearsal.stdout, &["nothing was changed"]);
        assert_eq!(tree(place.path()), after);
        init(&place, &[&["--undo"], whose].concat()).exits(0);
        assert_eq!(tree(place.path()), before, "{options:?}");
        let run = init(&place, &[&["--undo"], whose].concat()).exits(0);
        assert_contains(&run.stdout, &["nothing here that could be taken back"]);
    }
}

#[test]
fn files_that_were_changed_since_keep_the_change() {
    let place = home();
    init(&place, &["--agent", "claude-code,codex,vscode", "--skill", "my-skill"]).exits(0);
    let home = place.path().join("home");
    let skill = home.join(".repertoire/skills/my-skill/SKILL.md");
    let mine = fs::read_to_string(&skill).unwrap() + "\nMine.\n";
    fs::write(&skill, &mine).unwrap();
    let settings = home.join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap().replace("\"a\":1", "\"a\":2");
    fs::write(&settings, &text).unwrap();
    fs::remove_file(home.join(".codex/hooks.json")).unwrap();
    let run = init(&place, &["--undo"]).exits(0);
    let told = ["stays: it was changed since", "only the entry of this program", "is gone already"];
    assert_contains(&run.stdout, &told);
    assert_eq!(fs::read_to_string(&skill).unwrap(), mine);
    let left = fs::read_to_string(&settings).unwrap();
    assert!(left.contains("\"a\":2") && left.contains("// mine"), "{left}");
    assert!(!left.contains("repertoire"), "{left}");
    assert!(!home.join(".config/Code/User/mcp.json").exists());
}

#[test]
fn what_was_done_in_a_project_is_taken_back_from_anywhere_in_it_and_nowhere_else() {
    let place = home();
    for dir in ["project", "other"] {
        place.write(&format!("{dir}/.git/HEAD"), "");
        place.write(&format!("{dir}/below/README.md"), "");
    }
    let before = tree(place.path());
    for dir in ["project", "other/below"] {
        init_in(&place, dir, &["--agent", "claude-code", "--project"]).exits(0);
    }
    let run = init_in(&place, "other", &["--undo", "--project"]).exits(0);
    assert_contains(&run.stdout, &["is removed"]);
    assert!(place.path().join("project/.claude/settings.json").exists());
    let run = init_in(&place, "project/below", &["--undo", "--project"]).exits(0);
    assert_lacks(&run.stdout, &["is gone already"]);
    assert_eq!(tree(place.path()), before);
}

#[test]
fn a_second_run_keeps_what_the_user_changed_between() {
    let place = home();
    let settings = place.path().join("home/.claude/settings.json");
    init(&place, &["--agent", "claude-code"]).exits(0);
    let text = fs::read_to_string(&settings).unwrap().replace("\"a\":1", "\"a\":2");
    fs::write(&settings, text).unwrap();
    // Other options write the hook anew.
    init(&place, &["--agent", "claude-code", "--enable", "code-review"]).exits(0);
    init(&place, &["--undo"]).exits(0);
    let left = fs::read_to_string(&settings).unwrap();
    assert!(left.contains("\"a\":2") && !left.contains("repertoire"), "{left}");
}

#[test]
fn a_first_skill_that_was_edited_is_tried_with_its_own_example() {
    let place = home();
    init(&place, &["--agent", "claude-code"]).exits(0);
    let text = "---\nname: release-notes\ndescription: Brews coffee for visitors.\n\
                examples: {should: [please brew coffee for our visitors]}\n---\nBrew.\n";
    place.write("home/.repertoire/skills/release-notes/SKILL.md", text);
    let run = init(&place, &["--agent", "gemini"]).exits(0);
    assert_contains(&run.stdout, &["it fires for \"please brew coffee for our visitors\""]);
}

#[test]
fn an_agent_whose_settings_cannot_be_read_does_not_keep_others_from_theirs() {
    let place = home();
    place.write("home/.claude/settings.json", "{\"hooks\": 7}");
    let before = tree(place.path());
    let run = init(&place, &["--agent", "claude-code,gemini"]).exits(1);
    assert_contains(&run.stdout, &["Claude Code was left out", "Gemini CLI: hook in", "it fires"]);
    init(&place, &["--undo"]).exits(0);
    assert_eq!(tree(place.path()), before);
}

#[test]
fn what_it_did_is_one_object_of_json() {
    let place = home();
    let run = init(&place, &["--agent", "gemini,vscode", "--json"]).exits(0).json();
    assert_eq!(run["agents"][0]["agent"], "gemini");
    assert_eq!(run["agents"][1]["changed"], true);
    assert_eq!((&run["skill"]["written"], &run["firing"]["fires"]), (&true.into(), &true.into()));
    let undone = init(&place, &["--undo", "--json"]).exits(0).json();
    assert_eq!(undone["undone"].as_array().unwrap().len(), 3);
}
