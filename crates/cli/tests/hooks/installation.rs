//! Installation of hooks in the settings of agents, and their removal.

use std::fs;

use serde_json::{Value, json};

use super::{AGENTS, install, run_doctor, uninstall};
use crate::binary::Place;

/// Returns the path of an agent's settings file in a project.
fn settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "gemini" => ".gemini/settings.json",
        "cursor" => ".cursor/hooks.json",
        "qwen" => ".qwen/settings.json",
        "droid" => ".factory/settings.json",
        "copilot" => ".github/hooks/repertoire.json",
        _ => ".opencode/plugins/repertoire.js",
    }
}

#[test]
fn every_agent_is_set_up_once_and_left_without_a_trace() {
    for agent in AGENTS {
        let place = Place::new();
        let path = place.path().join(settings(agent));
        let rehearsal = place.run(["hook", "install", agent, "--project", "--dry-run"]);
        let rehearsal = rehearsal.exits(0).stdout;
        assert!(
            rehearsal.contains("+++ ") && rehearsal.contains("would be changed"),
            "{rehearsal}"
        );
        assert!(!path.exists());
        install(&place, agent).exits(0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(env!("CARGO_BIN_EXE_repertoire")), "{text}");
        let again = install(&place, agent).exits(0);
        assert!(again.stdout.contains("needs no change"), "{again:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let (hooks, code) = match agent {
            "codex" | "copilot" | "gemini" => ("untrusted", 1),
            _ => ("yes", 0),
        };
        let doctor = run_doctor(&place, code);
        let known = doctor["agents"].as_array().unwrap().iter().find(|known| {
            known["agent"] == agent && known["place"] == "project" && known["hooks"] == hooks
        });
        assert!(known.is_some(), "{doctor}");
        uninstall(&place, agent).exits(0);
        assert!(!path.exists(), "{agent}");
        let made = settings(agent).split('/').next().unwrap();
        assert!(!place.path().join(made).exists(), "{agent}: an empty directory is left");
        assert!(uninstall(&place, agent).exits(0).stdout.contains("needs no change"));
    }
}

#[test]
fn agents_wait_longer_than_the_deadline_that_was_asked_for() {
    let waits = |seconds: u64| match seconds {
        3 => ["timeout\": 3", "timeout\": 3000", "timeoutSec\": 3", "patience = 3000"],
        _ => ["timeout\": 31", "timeout\": 31000", "timeoutSec\": 31", "patience = 31000"],
    };
    for agent in AGENTS {
        let place = Place::new();
        let path = place.path().join(settings(agent));
        for (deadline, seconds) in [(None, 3), (Some("0.5"), 3), (Some("29.5"), 31)] {
            let option = deadline.map(|deadline| ["--deadline", deadline]);
            let words = ["hook", "install", agent, "--project"].into_iter();
            place.run(words.chain(option.into_iter().flatten())).exits(0);
            let text = fs::read_to_string(&path).unwrap();
            let [plain, milliseconds, copilot, opencode] = waits(seconds);
            let expected = match agent {
                "gemini" | "qwen" => milliseconds,
                "copilot" => copilot,
                "opencode" => opencode,
                _ => plain,
            };
            assert!(text.contains(expected), "{agent}, {deadline:?}: {text}");
            // When a session ends, Codex allows hooks no more than this.
            let short = text.contains("\"timeout\": 3,") || text.contains("\"timeout\": 3\n");
            assert!(agent != "codex" || short, "{text}");
            let doctor =
                run_doctor(&place, i32::from(["codex", "copilot", "gemini"].contains(&agent)));
            let is_up_to_date = |known: &Value| {
                known["agent"] == agent
                    && known["place"] == "project"
                    && known["hooks"] != "outdated"
            };
            assert!(doctor["agents"].as_array().unwrap().iter().any(is_up_to_date), "{doctor}");
        }
        let wrong = place.run(["hook", "install", agent, "--project", "--deadline", "0"]);
        assert!(wrong.exits(2).stderr.contains("above zero"), "{agent}");
    }
}

#[test]
fn settings_of_others_stay_byte_for_byte() {
    let cases = [
        ("empty", ""),
        ("an empty object", "{}"),
        ("comments", "// mine\n{\n  /* a */ \"model\": \"x\", // b\n}\n// end\n"),
        ("odd indentation", "{\n\t \"a\" : [1,\n2],\n       \"b\":{}\n}"),
        ("tabs", "{\n\t\"model\": \"x\"\n}\n"),
        ("one line", r#"{"model":"x","env":{"A":"1"}}"#),
        ("CRLF", "{\r\n    \"model\": \"x\"\r\n}\r\n"),
        ("a byte order mark", "\u{feff}{\n  \"model\": \"x\"\n}\n"),
        ("empty containers", "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n"),
        (
            "hooks of others",
            "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\"hooks\": [{\"type\": \
             \"command\", \"command\": \"beep\"}]} // keep\n    ],\n    \"Stop\": []\n  }\n}\n",
        ),
    ];
    for (name, before) in cases {
        for agent in ["claude-code", "codex", "gemini"] {
            let place = Place::new();
            let path = place.path().join(settings(agent));
            place.write(settings(agent), before);
            let done = install(&place, agent).exits(0);
            assert!(done.stdout.contains("repertoire-backup"), "{name}: {done:?}");
            let with = fs::read_to_string(&path).unwrap();
            assert!(!with.replace("\r\n", "").contains('\n') || name != "CRLF", "{with:?}");
            let comments = before.lines().filter_map(|line| Some(&line[line.find("//")?..]));
            for comment in comments {
                assert!(with.contains(comment), "{name}: {with}");
            }
            // Uninstalling restores the file byte by byte.
            uninstall(&place, agent).exits(0);
            assert_eq!(fs::read_to_string(&path).unwrap(), before, "{name}");
            assert!(!path.with_extension("json.repertoire-backup").exists());
            // An edit that another program made in between is kept, too.
            install(&place, agent).exits(0);
            let changed = format!("{}\n// later\n", fs::read_to_string(&path).unwrap());
            fs::write(&path, changed).unwrap();
            uninstall(&place, agent).exits(0);
            let after = fs::read_to_string(&path).unwrap();
            assert!(after.ends_with("\n// later\n") && !after.contains("hook claude"), "{after}");
            let keeps = ["model", "beep", "// keep", "/* a */", "SessionStart"];
            for kept in keeps.iter().filter(|kept| before.contains(*kept)) {
                assert!(after.contains(kept), "{name}: `{kept}` in {after}");
            }
        }
    }
}

#[test]
fn what_was_there_before_options_comes_back() {
    for agent in ["claude-code", "codex", "gemini", "cursor"] {
        let place = Place::new();
        let path = place.path().join(settings(agent));
        let before = "{ \"hooks\": {} }\n";
        place.write(settings(agent), before);
        for options in [&["--deadline", "5"][..], &["--deadline", "8", "--inflect"]] {
            let args = ["hook", "install", agent, "--project"];
            place.run(args.iter().chain(options)).exits(0);
        }
        uninstall(&place, agent).exits(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{agent}");
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "{agent}: the backup is left");
    }
}

#[test]
fn a_backup_of_the_original_is_not_overwritten() {
    let place = Place::new();
    place.write(".claude/settings.json", "{}\n");
    install(&place, "claude-code").exits(0);
    let path = place.path().join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}// later\n")).unwrap();
    uninstall(&place, "claude-code").exits(0);
    let backup = place.path().join(".claude/settings.json.repertoire-backup");
    assert_eq!(fs::read_to_string(backup).unwrap(), "{}\n");
}

#[test]
fn hooks_for_the_user_leave_no_directory_behind() {
    for agent in AGENTS {
        let place = Place::new();
        let home = place.path().join("home");
        fs::create_dir_all(home.join(".config")).unwrap();
        place.run(["hook", "install", agent]).exits(0);
        place.run(["hook", "uninstall", agent]).exits(0);
        let left: Vec<_> = fs::read_dir(&home).unwrap().map(|of| of.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == ".config" || name == ".local"), "{agent}: {left:?}");
        assert_eq!(fs::read_dir(home.join(".config")).unwrap().count(), 0, "{agent}");
    }
}

#[test]
fn a_hook_of_another_version_is_replaced() {
    let place = Place::new();
    let old = "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          \
               {\"type\": \"command\", \"command\": \"beep\"},\n          {\"type\": \"command\", \
               \"command\": \"/old/repertoire hook claude-code\"}\n        ]\n      }\n    ]\n  }\n}\n";
    place.write(".claude/settings.json", old);
    let doctor = run_doctor(&place, 1);
    let broken = doctor["broken"][0].as_str().unwrap();
    assert!(broken.contains("runs `/old/repertoire`, which is not a program"), "{doctor}");
    install(&place, "claude-code").exits(0);
    let new = fs::read_to_string(place.path().join(".claude/settings.json")).unwrap();
    assert!(new.contains("beep") && !new.contains("/old/"), "{new}");
    let backup = place.path().join(".claude/settings.json.repertoire-backup");
    assert_eq!(fs::read_to_string(backup).unwrap(), old);
    let new: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(new["hooks"]["UserPromptSubmit"].as_array().unwrap().len(), 2, "{new}");
}

#[test]
fn settings_that_cannot_be_understood_are_not_touched() {
    for (before, wanted) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "settings.json:2:9 is not JSON"),
        ("{\"hooks\": {", "settings.json:1:11 is not JSON"),
        ("[]", "is not a JSON object"),
        ("{\"hooks\": []}", "has `hooks` that are not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks of `Stop` that are not a list"),
        ("{\"hooks\": null}", "has `hooks` that are not an object"),
        ("{\"hooks\": {\"Stop\": []}, \"hooks\": {}}", "has the key `hooks` twice"),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "has the key `Stop` twice"),
    ] {
        let place = Place::new();
        place.write(".claude/settings.json", before);
        for run in [install(&place, "claude-code"), uninstall(&place, "claude-code")] {
            let run = run.exits(1);
            assert!(run.stderr.contains(wanted), "{before}: {run:?}");
        }
        let path = place.path().join(".claude/settings.json");
        assert_eq!(fs::read_to_string(path).unwrap(), before);
        let doctor = run_doctor(&place, 1);
        assert!(doctor["broken"][0].as_str().unwrap().contains(wanted), "{doctor}");
    }
    let place = Place::new();
    place.write(".opencode/plugins/repertoire.js", "export default 1\n");
    let run = install(&place, "opencode").exits(1);
    assert!(run.stderr.contains("was not written by this program"), "{run:?}");
}

#[test]
fn what_stands_in_the_place_of_our_list_is_not_replaced() {
    for value in ["\"mine\"", "null", "true", "7"] {
        let place = Place::new();
        let before = format!("{{\"hooks\": {{\"SessionStart\": {value}}}}}");
        place.write(".claude/settings.json", &before);
        let run = install(&place, "claude-code").exits(1);
        assert!(run.stderr.contains("hooks of `SessionStart` that are not a list"), "{run:?}");
        let path = place.path().join(".claude/settings.json");
        assert_eq!(fs::read_to_string(path).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn settings_that_are_no_file_are_not_read() {
    let place = Place::new();
    let dir = place.path().join(".claude");
    fs::create_dir_all(&dir).unwrap();
    // Reading this pipe would block for ever.
    let made = std::process::Command::new("mkfifo").arg(dir.join("settings.json")).status();
    if made.is_ok_and(|made| made.success()) {
        let run = install(&place, "claude-code").exits(1);
        assert!(run.stderr.contains("settings.json is not a file"), "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_rights_kept_and_read_only_files_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    place.write("dotfiles/claude.json", "{}\n");
    let real = place.path().join("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(place.path().join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", place.path().join(".claude/settings.json")).unwrap();
    install(&place, "claude-code").exits(0);
    assert!(place.path().join(".claude/settings.json").is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hook claude-code"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    uninstall(&place, "claude-code").exits(0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");

    fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
    let run = install(&place, "claude-code").exits(1);
    assert!(run.stderr.contains("error[PERMISSION_DENIED]") && run.stderr.contains("read-only"));
    assert!(run.stderr.contains("make the change that `--dry-run` shows by hand"), "{run:?}");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn options_that_matter_are_in_the_command_and_places_exclude_each_other() {
    let place = Place::new();
    place.write("my skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    let args = ["hook", "install", "codex", "--brand", "acme", "--source", "my skills", "--json"];
    let args = args.iter().chain(&["--inflect", "--by-relevance=2,1,3"]);
    let done = place.run(args).exits(0).json();
    assert_eq!((&done["place"], &done["changed"]), (&json!("user"), &json!(true)));
    let text = fs::read_to_string(place.path().join("home/.codex/hooks.json")).unwrap();
    assert!(text.contains("hook codex --brand acme --source '"), "{text}");
    assert!(text.contains("my skills' --inflect '--by-relevance=2,1,3'"), "{text}");
    let both = ["hook", "install", "codex", "--user", "--project", "."];
    place.run(both).exits(2);
    place.run(["hook", "install", "emacs"]).exits(2);
    place.run(["hook"]).exits(2);
}

#[test]
fn a_source_that_is_missing_is_told_of_and_kept() {
    let place = Place::new();
    place.write("there/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    place.write("file", "");
    for command in ["hook", "mcp"] {
        let args = [command, "install", "codex", "--source", "missing", "--source", "there"];
        let run = place.run(args.iter().chain(&["--source", "file"])).exits(0);
        let told: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(told.len(), 2, "{run:?}");
        for (line, name) in told.iter().zip(["missing", "file"]) {
            let path = place.path().join(name);
            let wanted = format!("warning: `{}` is not a directory; ", path.display());
            assert!(line.starts_with(&wanted), "{run:?}");
        }
    }
    let text = fs::read_to_string(place.path().join("home/.codex/hooks.json")).unwrap();
    assert!(text.contains("/missing --source "), "{text}");
}

/// The settings files of the user that hold both the hooks and the MCP servers of an agent.
const SHARED: [(&str, &str); 2] =
    [("gemini", "home/.gemini/settings.json"), ("qwen", "home/.qwen/settings.json")];

#[test]
fn hooks_and_server_in_one_file_leave_it_as_it_was_in_whatever_order_they_go() {
    let texts = [
        "{\n  // mine\n  \"theme\": \"x\",\n  \"mcpServers\": {\"a\": {\"command\": \"b\"}}\n}\n",
        "{\n\t\"a\" : [1,\n2], // b\n\t\"c\":{}\n}",
        "{}",
        "",
        "{\r\n    \"theme\": \"x\",\r\n    \"hooks\": {},\r\n    \"mcpServers\": {}\r\n}\r\n",
        "\u{feff}{\"theme\":\"x\",}\n// end",
    ];
    let orders = [["hook", "mcp"], ["mcp", "hook"]];
    for (agent, path) in SHARED {
        for (before, order, last) in texts.iter().flat_map(|before| {
            orders.iter().flat_map(move |order| orders.map(|last| (before, order, last)))
        }) {
            let place = Place::new();
            place.write(path, before);
            for (action, kinds) in [("install", *order), ("uninstall", last)] {
                for kind in kinds {
                    place.run([kind, action, agent]).exits(0);
                }
            }
            let file = place.path().join(path);
            let case = format!("{agent} {before:?} {order:?} {last:?}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some(*before), "{case}");
            assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "{case}");
        }
    }
}
