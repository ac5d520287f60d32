//! Settings of `config.toml`, in the command line, the hooks and the MCP server.

use std::fs;

use serde_json::{Value, json};

use crate::binary::{self, Place, Run};

pub(super) const USER: &str = "home/.repertoire/config.toml";
pub(super) const PROJECT: &str = ".repertoire/config.toml";

/// Creates a project with two skills, and a user with one.
fn place() -> Place {
    let place = Place::new();
    for dir in [".agents/skills/alpha", ".agents/skills/beta", "home/.agents/skills/gamma"] {
        skill(&place, dir);
    }
    place
}

/// Writes a skill that has its name as its keyword.
pub(super) fn skill(place: &Place, dir: &str) {
    let name = dir.rsplit('/').next().unwrap();
    let front_matter = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{name}]");
    place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\nDo {name}.\n"));
}

fn list(place: &Place, args: &[&str]) -> Value {
    place.run(["list", "--json"].iter().chain(args)).exits(0).json()
}

/// Returns the skill with this id from the output of `list`.
fn listed(place: &Place, id: &str, args: &[&str]) -> Value {
    let listed = list(place, args);
    let skill = listed["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == id);
    skill.unwrap_or_else(|| panic!("{id}: {listed}")).clone()
}

fn hook(place: &Place, session: &str, message: &str, args: &[&str]) -> Run {
    let call = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": message,
        "cwd": place.path(),
    });
    let args = ["hook", "claude-code", "--deadline", "60"].iter().chain(args);
    place.run_with(args, call.to_string().as_bytes()).exits(0)
}

fn log(place: &Place) -> String {
    let log = place.path().join("home/.local/state/repertoire/hook.log");
    fs::read_to_string(log).unwrap_or_default()
}

fn settings(place: &Place, args: &[&str]) -> Vec<Value> {
    let shown = place.run(["config", "--json"].iter().chain(args)).json();
    shown["settings"].as_array().unwrap().clone()
}

fn setting(place: &Place, key: &str, args: &[&str]) -> Value {
    let found = settings(place, args).into_iter().rfind(|setting| setting["key"] == key);
    found.unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn a_skill_is_turned_off_and_on_again() {
    let place = place();
    let disclosed = |id: &str| {
        place.run(["disclose", &format!("use {id}"), "--json"]).exits(0).json()["full"].clone()
    };
    assert_eq!(disclosed("alpha"), json!(["alpha"]));
    place.write(USER, "# mine\n[limits]\nmax_skills = 2 # few\n");
    let done = place.run(["disable", "alpha", "gamma", "--json"]).exits(0).json();
    assert_eq!(done["disabled"], json!(["alpha", "gamma"]));
    assert!(done["file"].as_str().unwrap().ends_with(USER), "{done}");
    let text = fs::read_to_string(place.path().join(USER)).unwrap();
    let wanted =
        "# mine\n[limits]\nmax_skills = 2 # few\n\n[skills]\ndisabled = [\"alpha\", \"gamma\"]\n";
    assert_eq!(text, wanted);
    for id in ["alpha", "gamma"] {
        let off = listed(&place, id, &[]);
        assert_eq!(off["status"], "disabled");
        assert!(off["reason"].as_str().unwrap().contains(USER), "{off}");
        assert_eq!(disclosed(id), json!([]));
    }
    assert_eq!(listed(&place, "alpha", &["--enable", "alpha"])["status"], "available");
    assert_eq!(listed(&place, "beta", &[])["status"], "available");
    // Disabling a skill a second time changes nothing.
    place.run(["disable", "alpha"]).exits(0);
    assert_eq!(fs::read_to_string(place.path().join(USER)).unwrap(), wanted);

    // The project overrides the user's setting in its own file.
    place.run(["enable", "alpha", "--project"]).exits(0);
    let project = fs::read_to_string(place.path().join(PROJECT)).unwrap();
    assert_eq!(project, "[skills]\nenabled = [\"alpha\"]\n");
    assert_eq!(disclosed("alpha"), json!(["alpha"]));
    let run = place.run(["disable", "alpha", "--user"]).exits(0);
    assert!(run.stderr.contains("still on"), "{run:?}");
    fs::remove_file(place.path().join(PROJECT)).unwrap();
    place.run(["enable", "alpha", "gamma"]).exits(0);
    assert_eq!((disclosed("alpha"), disclosed("gamma")), (json!(["alpha"]), json!(["gamma"])));
    let text = fs::read_to_string(place.path().join(USER)).unwrap();
    assert!(text.starts_with("# mine\n[limits]\nmax_skills = 2 # few\n"), "{text}");
}

#[test]
fn what_cannot_be_changed_is_left_alone() {
    let place = place();
    let unknown = place.run(["disable", "alhpa"]).exits(1);
    assert!(unknown.stderr.contains("alpha"), "{unknown:?}");
    assert!(!place.path().join(USER).exists(), "nothing is written for it");
    place.write(USER, "[skills\n");
    let broken = place.run(["disable", "alpha"]).exits(1);
    assert!(broken.stderr.contains("line 1") && broken.stderr.contains(USER), "{broken:?}");
    assert_eq!(fs::read_to_string(place.path().join(USER)).unwrap(), "[skills\n");
    place.run(["disable"]).exits(2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        // The user's file may be a symbolic link, and stays one. A project's link must not lead out of
        // the project.
        fs::remove_file(place.path().join(USER)).unwrap();
        place.write("home/dotfiles/config.toml", "");
        symlink("../dotfiles/config.toml", place.path().join(USER)).unwrap();
        place.run(["disable", "alpha"]).exits(0);
        assert!(place.path().join(USER).is_symlink());
        let text = fs::read_to_string(place.path().join("home/dotfiles/config.toml")).unwrap();
        assert!(text.contains("alpha"), "{text}");
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::create_dir_all(place.path().join(".repertoire")).unwrap();
        symlink(outside.path(), place.path().join(PROJECT)).unwrap();
        let refused = place.run(["disable", "beta", "--project"]).exits(1);
        assert!(refused.stderr.contains("leaves the project"), "{refused:?}");
        assert_eq!(fs::read_to_string(outside.path()).unwrap(), "");
    }
}

#[test]
fn what_is_in_force_is_shown_with_where_it_is_from() {
    let place = place();
    place.write(USER, "[limits]\nmax_skills = 1\nmax_lines = 9\n[skills]\ndisabled = [\"beta\"]\n");
    place.write(PROJECT, "[limits]\n\nmax-lines = 4\n[skills]\ndisabled = [\"gamma\"]\n");
    let of = |key: &str| {
        let setting = setting(&place, key, &[]);
        (setting["value"].clone(), setting["from"].clone(), setting["line"].clone())
    };
    assert_eq!(of("limits.max_skills"), (json!(1), json!("user"), json!(2)));
    assert_eq!(of("limits.max_lines"), (json!(4), json!("project"), json!(3)));
    assert_eq!(of("limits.max_all_skills"), (json!(10), json!("default"), Value::Null));
    let lists = settings(&place, &[]).into_iter().filter(|s| s["key"] == "skills.disabled");
    assert_eq!(lists.count(), 2, "lists of both files are in force");
    let bundled = setting(&place, "bundled.hooks", &["--bundled"]);
    assert_eq!((&bundled["value"], &bundled["from"]), (&json!(true), &json!("command line")));
    let mut command = place.command(["config", "--json"]);
    command.env("REPERTOIRE_MAX_SKILLS", "9");
    let shown = binary::finish(command, b"").exits(0).json();
    let max =
        shown["settings"].as_array().unwrap().iter().find(|s| s["key"] == "limits.max_skills");
    assert_eq!((&max.unwrap()["value"], &max.unwrap()["from"]), (&json!(9), &json!("environment")));
    let page = place.run(["config"]).exits(0).stdout;
    assert!(
        page.contains("project:3") && page.contains(USER) && page.contains("max_lines"),
        "{page}"
    );
}

#[test]
fn settings_reach_commands_and_hooks_and_options_win() {
    let place = place();
    let message = "alpha beta and beta alpha";
    let full = |args: &[&str]| {
        let all = ["disclose", message, "--json"].into_iter().chain(args.iter().copied());
        place.run(all).exits(0).json()["full"].as_array().unwrap().len()
    };
    let shown =
        |session: &str| hook(&place, session, message, &[]).stdout.matches("## Skill").count();
    assert_eq!((full(&[]), shown("a")), (2, 2));
    place.write(PROJECT, "[limits]\nmax_skills = 1\n");
    assert_eq!((full(&[]), shown("b")), (1, 1));
    assert_eq!(full(&["--max-skills", "2"]), 2);
    place.write(USER, "[limits]\nbudget = 5\n");
    assert_eq!((full(&[]), shown("c")), (0, 0), "hooks take the smaller budget");
    place.write(PROJECT, "");
    place.write(USER, "[meta_phrases]\nregistry = [\"which tricks do you know\"]\n");
    let tricks = place.run(["disclose", "Which tricks do you know?", "--json"]).exits(0).json();
    assert_eq!(tricks["tier"], 2, "{tricks}");
    place.write(USER, "[routing]\ninflect = true\n[limits]\nbudget = 1_000_000\n");
    let verb = "---\nname: garden\ndescription: d\ntriggers: {verbs: [mow]}\n---\nMow it.\n";
    place.write(".agents/skills/garden/SKILL.md", verb);
    let matched = place.run(["match", "we are mowing", "--json"]).exits(0).json();
    assert_eq!(matched["matches"].as_array().unwrap().len(), 1, "{matched}");
    assert!(hook(&place, "d", "we are mowing", &[]).stdout.contains("Mow it."));
    place.write(USER, "[limits]\nwindow = 1000\nprompt_budget = \"1%\"\n");
    let prompt = place.run(["prompt", "--json"]).exits(0).json();
    assert_ne!(prompt["omitted"], json!([]), "{prompt}");
    assert_eq!(log(&place), "");
}

#[test]
fn bundled_skills_are_off_in_agents_unless_asked_for() {
    let place = place();
    let message = "write a commit message";
    let shows = |session: &str, args: &[&str]| {
        hook(&place, session, message, args).stdout.contains("## Skill: commit-message")
    };
    assert!(place.run(["disclose", message]).exits(0).stdout.contains("## Skill: commit-message"));
    assert!(
        !shows("a", &[])
            && shows("b", &["--bundled"])
            && shows("c", &["--enable", "commit-message"])
    );
    place.write(USER, "[bundled]\nhooks = true\n");
    assert!(shows("d", &[]) && !shows("e", &["--bundled=off"]));
    place.write(USER, "[bundled]\ncommand_line = false\n");
    let off = listed(&place, "commit-message", &[]);
    assert_eq!(off["status"], "disabled");
    assert!(off["reason"].as_str().unwrap().contains(USER), "{off}");
    assert_eq!(listed(&place, "commit-message", &["--bundled"])["status"], "available");
    // A bundled skill can be enabled by its name.
    place.run(["enable", "commit-message"]).exits(0);
    assert!(shows("f", &[]));
    assert!(!hook(&place, "g", "review this dockerfile", &[]).stdout.contains("## Skill"));
    // The installed hook command has the same option.
    place.run(["hook", "install", "claude-code", "--bundled"]).exits(0);
    let settings = fs::read_to_string(place.path().join("home/.claude/settings.json")).unwrap();
    assert!(settings.contains("--bundled=on"), "{settings}");
}

#[test]
fn the_server_has_bundled_skills_when_asked_for() {
    let place = place();
    let found = |args: &[&str]| {
        let request = |id: u32, method: &str, params: Value| {
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        };
        let client = json!({"name": "raw", "version": "1"});
        let start =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        let query = json!({"name": "find_skills", "arguments": {"query": "commit message"}});
        let input = [
            request(0, "initialize", start),
            initialized.to_owned(),
            request(1, "tools/call", query),
        ];
        let args = ["mcp"].iter().chain(args);
        place.run_with(args, input.concat().as_bytes()).exits(0).stdout
    };
    assert!(!found(&[]).contains("commit-message"));
    assert!(found(&["--bundled"]).contains("commit-message"));
    place.write(PROJECT, "[bundled]\nmcp = true\n");
    assert!(found(&[]).contains("commit-message"));
}

#[test]
fn sources_are_added_and_replaced() {
    let place = place();
    skill(&place, "shared/delta");
    skill(&place, "home/mine/alpha");
    place.write(USER, "[sources]\nadd = [\"~/mine\"]\n");
    place.write(PROJECT, "[sources]\nadd = [\"shared\"]\n");
    assert_eq!(listed(&place, "delta", &[])["source"], "project");
    assert!(listed(&place, "alpha", &[])["path"].as_str().unwrap().contains(".agents"));
    assert!(hook(&place, "a", "use delta", &[]).stdout.contains("Do delta."));
    place.write(PROJECT, "[sources]\nstandard = false\nadd = [\"shared\"]\n");
    let alpha = listed(&place, "alpha", &[]);
    assert!(alpha["path"].as_str().unwrap().ends_with("mine/alpha/SKILL.md"), "{alpha}");
    let ids = list(&place, &["--source", "shared"]);
    assert_eq!(ids["skills"].as_array().unwrap().len(), 1, "the command line replaces them: {ids}");
}

#[test]
fn what_is_wrong_is_told_everywhere_and_stops_nobody() {
    let place = place();
    place.write(USER, "[limits]\nmax_skils = 1\n[skills]\ndisabled = [\"beta\"]\n");
    place.write(PROJECT, "[scripts]\nnetwork = true\nenv = [\"SECRET\"]\n");
    let wanted = ["refused-setting", "unknown-setting"];
    let codes = |diagnostics: &Value| {
        let codes = diagnostics.as_array().unwrap().iter();
        codes
            .map(|d| (d["code"].as_str().unwrap().to_owned(), d["line"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    let listed_codes = codes(&list(&place, &[])["diagnostics"]);
    for (code, line) in [("refused-setting", 3), ("unknown-setting", 2)] {
        assert!(listed_codes.contains(&(code.to_owned(), line)), "{code}: {listed_codes:?}");
    }
    assert_eq!(listed(&place, "beta", &[])["status"], "disabled", "what is right holds");
    let check = place.run(["check"]).exits(0).stdout;
    assert!(check.contains("max_skils = 1\n") && check.contains("^^^^^^^^^"), "{check}");
    assert!(check.contains("did you mean `max_skills`?"), "{check}");
    let doctor = place.run(["doctor", "--json"]).json();
    assert_eq!(doctor["config"]["findings"].as_array().unwrap().len(), 2, "{doctor}");
    let page = place.run(["doctor"]).stdout;
    let shown = place.run(["config"]).exits(1).stderr;
    for session in ["a", "b", "c"] {
        let answer = hook(&place, session, "use alpha", &[]);
        assert!(answer.stdout.contains("Do alpha."), "{answer:?}");
    }
    let log = log(&place);
    for code in wanted {
        assert!(page.contains(code) && shown.contains(code), "{code}: {page} {shown}");
        assert_eq!(log.matches(code).count(), 1, "{code} once: {log}");
    }
}

#[test]
fn a_file_that_is_not_toml_is_left_out_and_told() {
    let place = place();
    place.write(USER, "[skills]\ndisabled = [\"beta\"]\n[limits]\nmax_lines = = 3\n");
    let check = place.run(["check"]).exits(1).stdout;
    assert!(check.contains("config.toml:4:13") && check.contains("max_lines = = 3\n"), "{check}");
    assert!(check.contains("invalid-toml") && check.contains("            ^"), "{check}");
    assert_eq!(listed(&place, "beta", &[])["status"], "available");
    let required = setting(&place, "signatures.required", &[]);
    assert_eq!((&required["value"], &required["line"]), (&json!(true), &json!(4)));
    assert!(hook(&place, "a", "use alpha", &[]).stdout.contains("Do alpha."));
    assert!(log(&place).contains("invalid-toml"), "{}", log(&place));
}

#[test]
fn a_snapshot_is_of_one_configuration() {
    let place = place();
    let shows =
        |session: &str| hook(&place, session, "use alpha", &[]).stdout.contains("Do alpha.");
    // A snapshot is kept only once all files are at least two seconds old, and the first run of all writes the
    // bundled skills.
    assert!(shows("a"));
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(shows("b") && shows("e"));
    let snapshots = place.path().join("home/.cache/repertoire/snapshots");
    let n_files = || fs::read_dir(&snapshots).map_or(0, Iterator::count);
    assert_eq!(n_files(), 1);
    place.write(USER, "[skills]\ndisabled = [\"alpha\"]\n");
    assert!(!shows("c"));
    assert_eq!(n_files(), 2);
    fs::remove_file(place.path().join(USER)).unwrap();
    assert!(shows("d"));
    assert_eq!(n_files(), 2, "that of before serves again");
}
