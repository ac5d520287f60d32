//! The command `doctor`: its checks of skills, hooks, state and code.

use std::fs;

use serde_json::{Value, json};

use super::{hook, install, run_doctor, state, uninstall};
use crate::binary::{Place, finish};

#[test]
fn the_doctor_tells_what_is_there_and_what_is_broken() {
    let place = Place::new();
    place.write("low/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    place.write("high/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    place.write("high/b/SKILL.md", "---\nname: b\ndescription: d\n---\n");
    let args = ["doctor", "--json", "--source", "low", "--source", "high"];
    let well = place.run(args).exits(0).json();
    assert_eq!(well["sources"][1]["skills"], 2);
    assert_eq!(well["unused"][0]["status"], "shadowed");
    assert_eq!((&well["code"], &well["broken"]), (&json!([]), &json!([])));
    assert!(!state(&place, "sessions.sqlite").exists(), "looking made a store");

    place.write("high/c/SKILL.md", "");
    place.write("home/.local/state/repertoire/trust.json", "noise");
    hook(&place, "claude-code", "bad").exits(0);
    let ill = place.run(args).exits(1).json();
    assert_eq!(ill["broken"].as_array().unwrap().len(), 2, "{ill}");
    let line = ill["state"]["last_log_lines"][0].as_str().unwrap();
    assert!(line.contains("is not JSON"), "{ill}");
    let page = place.run(["doctor"]).stdout;
    for heading in ["Skills", "Hooks", "State", "Tools and scripts"] {
        assert!(page.contains(heading), "{page}");
    }
}

#[test]
fn what_cannot_run_is_broken() {
    for (fields, file, text, told) in [
        ("toolsets: ['../x:Y']", "a", "", "is not a `path:Class`"),
        ("scripts: [../no.sh]", "a", "", "is not a script of the skill"),
        ("toolsets: ['toolsets/none:None']", "a", "", "has no library"),
        ("scripts: [no.sh]", "a", "", "cannot be read"),
        ("scripts: [notes.txt]", "scripts/notes.txt", "", "no extension that says what runs it"),
        ("", "scripts/a.sh", "#!/usr/bin/env no-such-program\n", "needs `no-such-program`"),
        // A file that scripts read is not itself a script.
        ("", "scripts/requirements.txt", "left-pad\n", ""),
    ] {
        let place = Place::new();
        let front_matter = format!("---\nname: s\ndescription: d\n{fields}\n---\n");
        place.write("skills/s/SKILL.md", front_matter);
        place.write(&format!("skills/s/{file}"), text);
        let args = ["doctor", "--source", "skills"];
        let code = i32::from(!told.is_empty());
        let page = place.run(args).exits(code).stdout;
        let end = page.rsplit_once("1 thing broken:\n  ").map_or("", |(_, end)| end);
        assert!(end.contains(told) && end.lines().count() == usize::from(code == 1), "{page}");
        assert_eq!(page.ends_with("Nothing is broken.\n"), code == 0, "{fields} {file}: {page}");
        assert_eq!(page.contains("  all can run"), code == 0, "{fields} {file}: {page}");
        assert!(page.contains(told), "{fields} {file}: {page}");
        let broken = place.run(args.iter().chain(&["--json"])).exits(code).json()["broken"].clone();
        assert_eq!(broken.as_array().unwrap().len(), usize::from(code == 1), "{broken}");
        assert!(broken.to_string().contains(told), "{fields} {file}: {broken}");
    }
    // A bundled skill contains the source of its library, whether or not the library is built.
    let bundled = Place::new().run(["doctor", "--json"]).exits(0).json();
    assert_eq!(bundled["broken"], json!([]));
}

#[test]
fn code_that_nobody_trusted_yet_is_named_and_is_not_a_fault() {
    let place = Place::new();
    place.write("skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
    place.write("skills/s/scripts/a.sh", "echo a\n");
    let args = ["doctor", "--source", "skills"];
    let page = place.run(args).exits(0).stdout;
    assert!(page.contains("`code` does not run: it is not trusted yet"), "{page}");
    place.run(["trust", "add", "s", "--yes", "--source", "skills"]).exits(0);
    let page = place.run(args).exits(0).stdout;
    assert!(page.contains("  all can run"), "{page}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_lies_elsewhere_is_broken() {
    let place = Place::new();
    place
        .write("skills/s/SKILL.md", "---\nname: s\ndescription: d\ntoolsets: ['tools/x:X']\n---\n");
    place.write("skills/s/tools/note", "");
    place.write("elsewhere.so", "");
    let link = place.path().join("skills/s/tools/libx.so");
    std::os::unix::fs::symlink(place.path().join("elsewhere.so"), link).unwrap();
    let doctor = place.run(["doctor", "--json", "--source", "skills"]).exits(1).json();
    assert!(doctor["broken"][0].as_str().unwrap().contains("cannot open"), "{doctor}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_tells_of_the_sandbox_that_scripts_have() {
    let place = Place::new();
    place.write("skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
    place.write("skills/s/scripts/a.sh", "#!/bin/sh\n");
    let sources = ["--source", "skills"];
    place.run(["trust", "add", "--yes", "s"].iter().chain(&sources)).exits(0);
    let run = place.run(["run", "--json", "s", "a.sh"].iter().chain(&sources)).exits(0).json();
    let reached = &run["data"]["sandbox"];
    let doctor = place.run(["doctor", "--json"].iter().chain(&sources)).exits(0).json();
    assert_eq!(doctor["sandbox"]["filesystem"], reached["filesystem"], "{doctor}");
    assert_eq!(doctor["sandbox"]["seccomp"], reached["contained"], "{doctor}");
    assert_eq!(doctor["sandbox"]["landlock"], reached["filesystem"] != "none", "{doctor}");
}

#[test]
fn the_doctor_sees_hooks_that_cannot_work_and_those_that_work_twice() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    let twice = place.run(["hook", "install", "claude-code"]).exits(0);
    assert!(twice.stderr.contains("answers each message twice"), "{twice:?}");
    let doctor = run_doctor(&place, 0);
    assert!(doctor["notes"][0].as_str().unwrap().contains("answers each message twice"));
    assert!(place.run(["doctor", "--source", "no-skills"]).stdout.contains("each message twice"));

    let path = place.path().join(".claude/settings.json");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(&path, settings.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    let doctor = run_doctor(&place, 1);
    assert!(doctor["broken"][0].as_str().unwrap().contains("`disableAllHooks`"), "{doctor}");

    let place = Place::new();
    place.write("home/.local", "a file");
    place.write("home/.cache", "a file");
    let doctor = run_doctor(&place, 1);
    let broken = doctor["broken"].to_string();
    let page = place.run(["doctor"]).stdout;
    for dir in [".local", ".cache"] {
        let told = format!("home/{dir} is not a directory");
        assert!(broken.contains(&told) && page.contains(&told), "{doctor} {page}");
    }
}

#[test]
fn skills_that_an_agent_does_not_list_are_named_with_the_reason() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    place.write(
        ".claude/skills/marked/SKILL.md",
        "\u{feff}---\ndescription: Is marked.\n---\nBe.\n",
    );
    place.write(".claude/skills/lower/skill.md", "---\ndescription: Is small.\n---\nBe.\n");
    let notes = place.run(["doctor", "--json"]).json()["notes"].to_string();
    let told = "Claude Code does not list 1 skill of its own directories, which the hook adds like any \
                other: `lower`, because its file is `skill.md`, not `SKILL.md`";
    assert!(notes.contains(told), "{notes}");
    let list = ["list", "--agent", "claude-code", "--bundled=off"];
    let page = place.run(list).stdout;
    assert_eq!(
        page.matches("does not list it by itself, because its file is").count(),
        1,
        "{page}"
    );
    let listed = place.run([&list[..], &["--json"]].concat()).json();
    let skills = listed["skills"].as_array().unwrap().iter();
    let refusals: Vec<_> = skills.map(|skill| (&skill["id"], &skill["refusal"])).collect();
    let reason = json!("its file is `skill.md`, not `SKILL.md`");
    let wanted = [(&json!("lower"), &reason), (&json!("marked"), &Value::Null)];
    assert_eq!(refusals, wanted, "{listed}");
}

#[test]
fn the_doctor_sees_hooks_in_the_local_settings_of_a_project() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    let shared = place.path().join(".claude/settings.json");
    let local = place.path().join(".claude/settings.local.json");
    fs::rename(&shared, &local).unwrap();
    let known = |hooks: &str| {
        let doctor = run_doctor(&place, i32::from(hooks == "in vain"));
        let agents = doctor["agents"].as_array().unwrap().iter();
        let mut agents = agents.filter(|known| known["hooks"] != "no");
        let only = agents.next().unwrap().clone();
        assert_eq!((&only["place"], &only["hooks"]), (&json!("local"), &json!(hooks)), "{doctor}");
        assert_eq!(agents.next(), None, "{doctor}");
        assert!(only["detail"].as_str().unwrap().contains("settings.local.json"), "{doctor}");
    };
    known("yes");
    // An entry written by hand, which does not cover all events.
    let command = format!("{} hook claude-code --inflect", env!("CARGO_BIN_EXE_repertoire"));
    let hook = json!({"hooks": [{"type": "command", "command": command}]});
    let by_hand = json!({"hooks": {"UserPromptSubmit": [hook]}}).to_string();
    fs::write(&local, &by_hand).unwrap();
    known("yes");
    fs::write(&local, by_hand.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    known("in vain");
    fs::write(&local, &by_hand).unwrap();

    let twice = install(&place, "claude-code").exits(0);
    let wanted = "for this project and for you in this project (`settings.local.json`), and answers \
                  each message twice";
    assert!(twice.stderr.contains(wanted), "{twice:?}");
    assert!(run_doctor(&place, 0)["notes"][0].as_str().unwrap().contains(wanted));
    uninstall(&place, "claude-code").exits(0);
    assert_eq!(fs::read_to_string(&local).unwrap(), by_hand);
}

#[test]
fn hooks_that_wait_for_trust_are_named_until_it_is_given() {
    let place = Place::new();
    let root = place.path().canonicalize().unwrap();
    let root = root.display();
    let hooks = |agent: &str, of: &str, code: i32| {
        let doctor = run_doctor(&place, code);
        let reports = doctor["agents"].as_array().unwrap();
        let known = reports.iter().find(|known| known["agent"] == agent && known["place"] == of);
        let known = known.unwrap();
        [&known["hooks"], &known["detail"]].map(|field| field.as_str().unwrap().to_owned())
    };
    // For Copilot, trusting a parent folder is enough, and user hooks need no trust.
    let told = place.run(["hook", "install", "copilot"]).exits(0);
    assert!(!told.stderr.contains("trust"), "{told:?}");
    place.run(["hook", "uninstall", "copilot"]).exits(0);
    let told = install(&place, "copilot").exits(0);
    assert!(told.stderr.contains("Copilot does not trust this folder yet"), "{told:?}");
    assert_eq!(hooks("copilot", "project", 1)[0], "untrusted");
    let above = place.path().canonicalize().unwrap();
    let folders = serde_json::json!({"trustedFolders": [above.parent()]});
    place.write("home/.copilot/config.json", format!("// managed\n{folders}"));
    assert_eq!(hooks("copilot", "project", 0)[0], "yes");

    let told = install(&place, "codex").exits(0);
    assert!(told.stderr.contains("Codex does not trust this project yet"), "{told:?}");
    let trusted = format!("[projects.\"{root}\"]\ntrust_level = \"trusted\"\n");
    place.write("home/.codex/config.toml", &trusted);
    let [state, detail] = hooks("codex", "project", 1);
    assert!(state == "untrusted" && detail.contains("6 of these 6 hooks"), "{state}: {detail}");
    // A hook whose trusted hash differs has changed since it was trusted.
    let key = format!("{root}/.codex/hooks.json:session_start:0:0");
    let state = format!("{trusted}[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:00\"\n");
    place.write("home/.codex/config.toml", state);
    let [_, detail] = hooks("codex", "project", 1);
    assert!(detail.contains("6 of these 6 hooks"), "{detail}");
}

#[test]
fn an_agent_that_cannot_be_run_names_those_that_can() {
    let run = Place::new().run(["doctor", "--live", "cursor"]).exits(2);
    assert!(run.stderr.contains("cursor cannot be run without its window"), "{run:?}");
    let known = "name one of `claude-code`, `codex`, `gemini`, `copilot`, `opencode`, `qwen`; ";
    assert!(run.stderr.contains(known), "{run:?}");
}

#[test]
fn the_doctor_reads_the_settings_that_an_agent_reads_where_it_is_started() {
    let run_in = |place: &Place, dir: &str, code: i32| {
        let mut command = place.command(["doctor", "--json", "--bundled=off"]);
        command.current_dir(place.path().join(dir));
        finish(command, b"").exits(code).json()
    };
    let place = || {
        let place = Place::new();
        place.write("p/.git/HEAD", "");
        place.write("p/sub/x", "");
        place
    };
    let install = |place: &Place, agent: &str, dir: &str, options: &[&str]| {
        let args = ["hook", "install", agent].into_iter().chain(options.iter().copied());
        let mut command = place.command(args);
        command.current_dir(place.path().join(dir));
        finish(command, b"").exits(0);
    };
    // The settings in each of which all hooks can be turned off, by the place where the agent is started.
    let trusted = "[projects.\"HERE/p\"]\ntrust_level = \"trusted\"\n";
    for (agent, start, file, setting) in [
        ("claude-code", "p", "p/.claude/settings.json", r#"{"disableAllHooks": true}"#),
        ("claude-code", "p", "p/.claude/settings.local.json", r#"{"disableAllHooks": true}"#),
        ("claude-code", "p/sub", "p/.claude/settings.local.json", r#"{"disableAllHooks": true}"#),
        ("codex", "p", "home/.codex/config.toml", "[features]\nhooks = false\n"),
        ("codex", "p/sub", "p/.codex/config.toml", "[features]\nhooks = false\n"),
        ("gemini", "p", "p/.gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#),
        ("copilot", "p/sub", "p/.github/copilot/settings.json", r#"{"disableAllHooks": true}"#),
        ("copilot", "p", "p/.claude/settings.json", r#"{"disableAllHooks": true}"#),
        ("qwen", "p", "p/.qwen/settings.json", r#"{"disableAllHooks": true}"#),
        ("droid", "p/sub", "p/.factory/settings.json", r#"{"hooks": {"hooksDisabled": true}}"#),
    ] {
        let place = place();
        let here = place.path().to_str().unwrap();
        install(&place, agent, "p", &[]);
        place.write("home/.codex/config.toml", trusted.replace("HERE", here));
        place.write(file, setting);
        let doctor = run_in(&place, start, 1);
        let broken = doctor["broken"][0].as_str().unwrap();
        let wanted = format!("{file} turns off all hooks (`");
        assert!(broken.contains(&wanted) && broken.contains(agent), "{broken}");
    }
    // The switch of Copilot's user settings has no effect.
    let copilot = place();
    install(&copilot, "copilot", "p", &[]);
    copilot.write("home/.copilot/settings.json", r#"{"disableAllHooks": true}"#);
    run_in(&copilot, "p", 0);
    for (agent, variable) in [("claude-code", "CLAUDE_CODE_SIMPLE"), ("opencode", "OPENCODE_PURE")]
    {
        let place = place();
        install(&place, agent, "p", &[]);
        let mut command = place.command(["doctor", "--json", "--bundled=off"]);
        command.current_dir(place.path().join("p")).env(variable, "1");
        let doctor = finish(command, b"").exits(1).json();
        let broken = doctor["broken"][0].as_str().unwrap();
        assert!(broken.contains(&format!("turns off all hooks (`{variable}=1`)")), "{broken}");
    }
    let disabled = place();
    install(&disabled, "claude-code", "p", &[]);
    disabled.write("p/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    disabled.write("p/.claude/settings.local.json", r#"{"disableAllHooks": false}"#);
    run_in(&disabled, "p", 0);

    // Claude Code and Gemini CLI do not read the settings of a root above them.
    for (agent, title) in [("claude-code", "Claude Code"), ("gemini", "Gemini CLI")] {
        let place = place();
        let trusted = json!({place.path().join("p").to_str().unwrap(): "TRUST_FOLDER"});
        place.write("home/.gemini/trustedFolders.json", trusted.to_string());
        install(&place, agent, "p", &["--project"]);
        run_in(&place, "p", 0);
        let doctor = run_in(&place, "p/sub", 1);
        let broken = doctor["broken"][0].as_str().unwrap();
        assert!(broken.contains(&format!("{title} does not read ")), "{broken}");
        assert!(broken.contains("p/sub: start it in "), "{broken}");
    }
    // In a worktree, Codex reads the hooks of the main checkout.
    let worktree = place();
    worktree
        .write("wt/.git", format!("gitdir: {}/p/.git/worktrees/wt\n", worktree.path().display()));
    worktree
        .write("p/.git/worktrees/wt/gitdir", format!("{}/wt/.git\n", worktree.path().display()));
    worktree.write("p/.git/worktrees/wt/commondir", "../..\n");
    install(&worktree, "codex", "wt", &["--project"]);
    let doctor = run_in(&worktree, "wt", 1);
    let broken = doctor["broken"][0].as_str().unwrap();
    assert!(broken.contains("Codex reads the hooks of ") && broken.contains("/p if"), "{broken}");

    let nested = place();
    install(&nested, "opencode", "p", &["--project"]);
    run_in(&nested, "p/sub", 0);
}

#[test]
fn a_value_by_which_a_file_with_hooks_is_ignored_is_named() {
    for (agent, file, setting, told) in [
        ("claude-code", ".claude/settings.json", r#""model": 7"#, "because of `model: 7`"),
        (
            "claude-code",
            ".claude/settings.json",
            r#"/* mine */ "x": 1"#,
            "because of `key must be a string at line 1 column 2`",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            r#""disableAllHooks": "false""#,
            "because of `disableAllHooks: \"false\"`",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            r#""permissions": {"deny": "Read"}"#,
            "because of `permissions.deny: \"Read\"`",
        ),
        (
            "copilot",
            ".github/hooks/repertoire.json",
            r#""disableAllHooks": true"#,
            "because of `disableAllHooks: true`",
        ),
    ] {
        let place = Place::new();
        install(&place, agent).exits(0);
        let path = place.path().join(file);
        let settings = fs::read_to_string(&path).unwrap();
        fs::write(&path, settings.replacen('{', &format!("{{{setting},"), 1)).unwrap();
        let doctor = run_doctor(&place, 1);
        let broken = doctor["broken"][0].as_str().unwrap();
        assert!(
            broken.contains(" ignores all of ") && broken.contains(told),
            "{setting}: {broken}"
        );
    }
}

#[test]
fn a_variable_of_the_users_settings_turns_hooks_off_as_one_of_the_environment() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    let settings = r#"{"env": {"CLAUDE_CODE_SAFE_MODE": "yes"}}"#;
    place.write("home/.claude/settings.json", settings);
    let doctor = run_doctor(&place, 1);
    let broken = doctor["broken"][0].as_str().unwrap();
    assert!(broken.contains("turns off all hooks (`env: {\"CLAUDE_CODE_SAFE_MODE\": \"yes\"}`)"));
}
