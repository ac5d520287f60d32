//! Siblings of the set-ups of `docs/agents.md`: the same reasons with other agents, directories and spellings.

use std::fs;

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::binary::{Place, finish};
use crate::set_ups::{SKILL, in_project};

const OWN: &str = "p/.repertoire/skills/verse/SKILL.md";
const MESSAGE: &str = "a limerick, please";

/// A set-up: the words of `hook install`, the directory in the project, files, and a part of the sentence that
/// `why` prints about the skill `verse`. In files and sentences, `HERE` is the place of the test.
type SetUp =
    (&'static [&'static str], &'static str, &'static [(&'static str, &'static str)], &'static str);

fn told(set_up: &SetUp) -> (String, String) {
    let (install, start, files, wanted) = set_up;
    let place = Place::new();
    let here = place.path().to_str().unwrap().to_owned();
    let run = in_project(&place, start);
    run(&[&["hook", "install"], *install].concat()).exits(0);
    for (path, content) in *files {
        let content = match content.split_once("=>") {
            Some((old, new)) => SKILL.replace(old, new),
            None => content.replace("HERE", &here).replace("SKILL", SKILL),
        };
        place.write(path, content);
    }
    let printed = run(&["why", "verse", MESSAGE, "--agent", install[0]]).exits(1);
    (format!("{}{}", printed.stdout, printed.stderr), wanted.replace("HERE", &here))
}

fn check(set_ups: &[SetUp]) {
    for set_up in set_ups {
        let (told, wanted) = told(set_up);
        assert!(told.contains(&wanted), "{set_up:?}: {told}");
    }
}

#[test]
fn a_skill_does_not_fire_where_no_hook_runs() {
    const SKILL_FILE: (&str, &str) = (OWN, "SKILL");
    const PARTIAL: &str =
        r#"{"hooks": {"SessionStart": [{"hooks": [{"command": "repertoire hook claude-code"}]}]}}"#;
    const GONE: &str = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"command": "/gone/repertoire hook claude-code"}]}]}}"#;
    const SET_UPS: [SetUp; 17] = [
        (
            &["claude-code", "--project"],
            "sub",
            &[SKILL_FILE],
            "does not read HERE/p/.claude/settings.json",
        ),
        (
            &["gemini", "--project"],
            "sub",
            &[SKILL_FILE],
            "does not read HERE/p/.gemini/settings.json",
        ),
        (&["qwen", "--project"], "sub", &[SKILL_FILE], "does not read HERE/p/.qwen/settings.json"),
        (&["codex"], "", &[SKILL_FILE], "does not run 6 of these 6 hooks until you trust them"),
        (&["codex", "--project"], "", &[SKILL_FILE], "does not trust this project yet"),
        (&["copilot", "--project"], "", &[SKILL_FILE], "does not trust this folder yet"),
        (
            &["qwen", "--project"],
            "",
            &[
                SKILL_FILE,
                ("home/.qwen/settings.json", r#"{"security": {"folderTrust": {"enabled": true}}}"#),
                ("home/.qwen/trustedFolders.json", r#"{"HERE": "DO_NOT_TRUST"}"#),
            ],
            "ignores all of ./.qwen/settings.json because of `DO_NOT_TRUST`",
        ),
        (
            &["claude-code"],
            "",
            &[SKILL_FILE, ("p/.claude/settings.json", r#"{"disableAllHooks": true}"#)],
            "HERE/p/.claude/settings.json turns off all hooks (`disableAllHooks`)",
        ),
        (
            &["codex"],
            "",
            &[SKILL_FILE, ("home/.codex/config.toml", "[features]\nhooks = false\n")],
            "turns off all hooks (`features.hooks = false`)",
        ),
        (
            &["gemini"],
            "",
            &[SKILL_FILE, ("p/.gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#)],
            "turns off all hooks (`hooksConfig.enabled: false`)",
        ),
        (
            &["qwen"],
            "",
            &[SKILL_FILE, ("p/.qwen/settings.json", r#"{"disableAllHooks": true}"#)],
            "HERE/p/.qwen/settings.json turns off all hooks",
        ),
        (
            &["copilot"],
            "",
            &[SKILL_FILE, ("p/.github/copilot/settings.json", r#"{"disableAllHooks": true}"#)],
            "HERE/p/.github/copilot/settings.json turns off all hooks",
        ),
        (
            &["droid"],
            "",
            &[SKILL_FILE, ("p/.factory/hooks.json", r#"{"hooksDisabled": true}"#)],
            "HERE/p/.factory/hooks.json turns off all hooks (`hooksDisabled: true`)",
        ),
        (
            &["claude-code"],
            "",
            &[SKILL_FILE, ("home/.claude/settings.json", GONE)],
            "runs `/gone/repertoire`, which is not a program on this machine",
        ),
        (
            &["claude-code"],
            "",
            &[SKILL_FILE, ("home/.claude/settings.json", PARTIAL)],
            "which is not a program on this machine",
        ),
        // What stands in the way of the skill as well is told first.
        (
            &["codex"],
            "",
            &[(OWN, "[limerick]=>[sonnet]")],
            "verse does not fire: none of its triggers is in the message",
        ),
        (
            &["codex"],
            "",
            &[(OWN, "[limerick]=>[sonnet]")],
            "the agent runs no hook here: Codex does",
        ),
    ];
    check(&SET_UPS);
}

#[test]
fn hooks_without_the_event_for_messages_are_told() {
    for (agent, settings, event) in [
        ("claude-code", "home/.claude/settings.json", "UserPromptSubmit"),
        ("gemini", "home/.gemini/settings.json", "BeforeAgent"),
        ("copilot", "home/.copilot/hooks/repertoire.json", "userPromptSubmitted"),
    ] {
        let place = Place::new();
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        place.run(["hook", "install", agent]).exits(0);
        let why = || place.run(["why", "verse", MESSAGE, "--agent", agent]);
        why().exits(0);
        let file = place.path().join(settings);
        let mut hooks: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        hooks["hooks"].as_object_mut().unwrap().remove(event).unwrap();
        fs::write(&file, hooks.to_string()).unwrap();
        let told = why().exits(1).stdout;
        let wanted =
            format!("has no hook of this program for `{event}`, so no message is answered");
        assert!(told.contains(&wanted), "{told}");
        let doctor = place.run(["doctor", "--bundled=off"]).exits(1).stdout;
        assert!(doctor.contains(&wanted), "{doctor}");
    }
}

#[test]
fn hooks_of_an_administrator_count() {
    for (agent, variable) in
        [("gemini", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"), ("qwen", "QWEN_CODE_SYSTEM_SETTINGS_PATH")]
    {
        let place = Place::new();
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        place.run(["hook", "install", agent]).exits(0);
        let settings = place.path().join(format!("home/.{agent}/settings.json"));
        let system = place.path().join("system.json");
        fs::rename(&settings, &system).unwrap();
        let run = |args: &[&str]| {
            let mut command = place.command(args);
            command.env(variable, &system);
            finish(command, b"")
        };
        let why = ["why", "verse", MESSAGE, "--agent", agent];
        assert!(place.run(why).exits(1).stderr.contains("has no hook here"), "{agent}");
        assert!(run(&why).exits(0).stdout.starts_with("verse fires"), "{agent}");
        let doctor = run(&["doctor", "--bundled=off"]).exits(0).stdout;
        assert!(doctor.contains(&format!("{agent} (system): yes")), "{doctor}");
        run(&["hook", "install", agent]).exits(0);
        let doctor = run(&["doctor", "--bundled=off"]).exits(0).stdout;
        assert!(doctor.contains("answers each message twice"), "{doctor}");
    }
}

#[test]
fn a_server_that_a_setting_takes_away_is_told() {
    let place = Place::new();
    place.write(".repertoire/skills/verse/SKILL.md", SKILL);
    place.write(".gemini/settings.json", r#"{"mcp": {"excluded": ["repertoire"]}}"#);
    place.run(["doctor", "--bundled=off"]).exits(0);
    place.run(["mcp", "install", "gemini"]).exits(0);
    let told = place.run(["doctor", "--bundled=off"]).exits(1).stdout;
    let wanted = "MCP server of gemini: Gemini CLI does not show its tools to the model because of \
                  `mcp.excluded: [\"repertoire\"]` in ";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn a_later_hook_without_trust_silences_no_other() {
    let place = Place::new();
    place.write(".repertoire/skills/verse/SKILL.md", SKILL);
    place.run(["hook", "install", "codex"]).exits(0);
    let why = || place.run(["why", "verse", MESSAGE, "--agent", "codex"]);
    why().exits(1);
    let hooks = place.path().join("home/.codex/hooks.json").canonicalize().unwrap();
    let settings: Value = serde_json::from_str(&fs::read_to_string(&hooks).unwrap()).unwrap();
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    let identity = format!(
        r#"{{"event_name":"user_prompt_submit","hooks":[{{"async":false,"command":{},"timeout":{},"type":"command"}}]}}"#,
        hook["command"], hook["timeout"]
    );
    let hash = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(identity)));
    let key = format!("{}:user_prompt_submit:0:0", hooks.display());
    place.write(
        "home/.codex/config.toml",
        format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{hash}\"\n"),
    );
    assert!(why().exits(0).stdout.starts_with("verse fires"));
    place.run(["doctor", "--bundled=off"]).exits(1);
}

#[test]
fn hooks_of_an_earlier_version_need_trust_as_well() {
    type Edit = fn(&mut Value);
    let only_messages: Edit = |hooks| {
        let hooks = hooks["hooks"].as_object_mut().unwrap();
        hooks.retain(|event, _| event == "UserPromptSubmit");
    };
    let edits: [(Edit, &str); 3] = [
        (
            |hooks| hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"] = 9.into(),
            "does not run 6 of these 6 hooks until you trust them",
        ),
        (only_messages, "does not run 1 of these 1 hooks until you trust them"),
        (
            |hooks| drop(hooks["hooks"].as_object_mut().unwrap().remove("SessionEnd")),
            "does not run 5 of these 5 hooks until you trust them",
        ),
    ];
    for (edit, wanted) in edits {
        let place = Place::new();
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        place.run(["hook", "install", "codex"]).exits(0);
        let file = place.path().join("home/.codex/hooks.json");
        let mut hooks = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        edit(&mut hooks);
        fs::write(&file, hooks.to_string()).unwrap();
        let why = place.run(["why", "verse", MESSAGE, "--agent", "codex"]).exits(1).stdout;
        assert!(why.contains("does not fire") && why.contains(wanted), "{why}");
        let doctor = place.run(["doctor", "--bundled=off"]).exits(1).stdout;
        assert!(doctor.contains(wanted), "{doctor}");
    }
    // Of a project that nobody trusts.
    for (agent, file) in
        [("codex", ".codex/hooks.json"), ("copilot", ".github/hooks/repertoire.json")]
    {
        let place = Place::new();
        place.run(["hook", "install", agent, "--project", "--deadline", "9"]).exits(0);
        let text = fs::read_to_string(place.path().join(file)).unwrap();
        place.write(file, text.replace("10", "11"));
        let doctor = place.run(["doctor", "--bundled=off"]).exits(1).stdout;
        assert!(doctor.contains("does not trust this"), "{agent}: {doctor}");
    }
}

#[test]
fn triggers_that_nothing_reads_are_named() {
    check(&[
        (&["claude-code"], "", &[(OWN, "triggers:=>trigers:")], "nothing reads its key `trigers`"),
        (
            &["gemini"],
            "",
            &[(OWN, "triggers:=>metadata:\n  trigger:")],
            "write `triggers` in place of `trigger`",
        ),
        (
            &["claude-code"],
            "",
            &[(OWN, "triggers:=>keywords:")],
            "its key `keywords` is read only below `triggers`",
        ),
        (&["copilot"], "", &[(OWN, "]\n---=>]")], "its front matter is never closed"),
        (&["claude-code"], "", &[(OWN, "triggers:=>license:")], "it declares no triggers"),
    ]);
}

#[test]
fn skills_in_other_directories_are_found() {
    check(&[
        (
            &["claude-code"],
            "sub",
            &[("p/.claude/commands/verse.md", "SKILL")],
            "HERE/p/.claude/commands/verse.md is a command, which Claude Code lists to its model by itself",
        ),
        (
            &["claude-code"],
            "",
            &[("home/.claude/commands/verse.md", "Rhyme it.")],
            "HERE/home/.claude/commands/verse.md is a command",
        ),
        (
            &["claude-code"],
            "",
            &[
                ("p/.claude/commands/verse.md", "Rhyme it."),
                ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#),
            ],
            "HERE/p/.claude/commands/verse.md is a command, which the model of Claude Code cannot call because of \
             `skillOverrides: {\"verse\": \"off\"}` in HERE/p/.claude/settings.json",
        ),
        (
            &["claude-code"],
            "",
            &[("p/.claude/commands/poems/verse.md", "Rhyme it.")],
            "no skill `poems:verse` here: HERE/p/.claude/commands/poems/verse.md is a command",
        ),
        (&["codex"], "", &[("p/.claude/commands/verse.md", "SKILL")], "no skill `verse`\n"),
        (
            &["claude-code"],
            "",
            &[("p/.claude/skill/verse/SKILL.md", "SKILL")],
            "rename it to `skills`",
        ),
        (&["codex"], "", &[("p/.agents/Skills/verse/SKILL.md", "SKILL")], "rename it to `skills`"),
        (
            &["gemini"],
            "sub",
            &[("p/skills/verse/SKILL.md", "SKILL")],
            "nobody looks into HERE/p/skills",
        ),
        (
            &["claude-code"],
            "",
            &[("p/web/app/.repertoire/skills/verse/SKILL.md", "SKILL")],
            "Claude Code looks into HERE/p/web/app/.repertoire/skills only if it works in HERE/p/web/app",
        ),
        (
            &["gemini"],
            "",
            &[("p/web/.gemini/skills/verse/SKILL.md", "SKILL")],
            "Gemini CLI looks into HERE/p/web/.gemini/skills only if it works in HERE/p/web",
        ),
        (
            &["codex"],
            "",
            &[("p/node_modules/x/.agents/skills/verse/SKILL.md", "SKILL")],
            "no skill `verse`\n",
        ),
        (
            &["codex"],
            "",
            &[("p/.codex/skills/verse/skills.md", "SKILL")],
            "rename it to `SKILL.md`",
        ),
    ]);
}
