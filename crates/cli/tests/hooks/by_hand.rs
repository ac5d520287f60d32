//! Hooks where `hook install` puts none: in files that people edit by hand, and in plugins.

use serde_json::{Value, json};

use crate::binary::{Place, finish};

/// The form of the hooks in a file.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Groups of hooks, below `hooks`.
    Groups,
    /// The same with the events at the top.
    Bare,
    /// Hooks without groups.
    Flat,
    Toml,
    /// The plugin for `OpenCode`.
    Script,
    /// A manifest that names this file, which has groups.
    Names(&'static str),
}
use Form::{Bare, Flat, Groups, Names, Script, Toml};

const CODEX_PLUGIN: &str = "home/.codex/plugins/cache/m/kit/1.0.0";

/// Each place in which an agent runs a hook or, by the same table, does not. `HERE` is the directory of the test.
const PLACES: &[(&str, &str, Form, &str)] = &[
    ("claude-code", "p/sub/.claude/settings.json", Groups, "by hand"),
    ("claude-code", "p/sub/.claude/settings.local.json", Groups, "by hand"),
    ("claude-code", "kit/hooks/hooks.json", Groups, "plugin"),
    ("claude-code", "kit/.claude-plugin/plugin.json", Groups, "plugin"),
    ("claude-code", "kit/.claude-plugin/plugin.json", Names("./more.json"), "plugin"),
    ("claude-code", "home/.claude/settings.local.json", Groups, ""),
    ("claude-code", "p/sub/.claude/hooks/hooks.json", Groups, ""),
    ("codex", "home/.codex/config.toml", Toml, "by hand"),
    ("codex", "p/.codex/config.toml", Toml, "by hand"),
    ("codex", "p/sub/.codex/config.toml", Toml, "by hand"),
    ("codex", "p/sub/.codex/hooks.json", Groups, "by hand"),
    ("codex", "home/.codex/plugins/cache/m/kit/1.0.0/hooks/hooks.json", Groups, "plugin"),
    ("gemini", "p/sub/.gemini/settings.json", Groups, "by hand"),
    ("gemini", "home/.gemini/extensions/kit/hooks/hooks.json", Groups, "plugin"),
    ("gemini", "home/.gemini/hooks.json", Groups, ""),
    ("qwen", "p/sub/.qwen/settings.json", Groups, "by hand"),
    ("qwen", "home/.qwen/extensions/kit/hooks/hooks.json", Groups, "plugin"),
    ("qwen", "home/.qwen/extensions/kit/qwen-extension.json", Groups, "plugin"),
    ("qwen", "p/sub/.qwen/settings.local.json", Groups, ""),
    ("copilot", "home/.copilot/settings.json", Flat, "by hand"),
    ("copilot", "home/.copilot/hooks/mine.json", Flat, "by hand"),
    ("copilot", "p/.github/hooks/mine.json", Groups, "by hand"),
    ("copilot", "p/.github/hooks/team/mine.json", Flat, "by hand"),
    ("copilot", "p/.github/copilot/settings.json", Flat, "by hand"),
    ("copilot", "p/.github/copilot/settings.local.json", Flat, "by hand"),
    ("copilot", "p/.claude/settings.json", Groups, "by hand"),
    ("copilot", "p/.claude/settings.local.json", Groups, "by hand"),
    ("copilot", "market/kit/hooks.json", Flat, "plugin"),
    ("copilot", "market/kit/hooks/hooks.json", Flat, "plugin"),
    ("copilot", "market/kit/plugin.json", Names("more.json"), "plugin"),
    ("copilot", "p/sub/.github/hooks/mine.json", Flat, ""),
    ("copilot", "home/.copilot/config.json", Flat, ""),
    ("opencode", "p/sub/.opencode/plugin/mine.js", Script, "by hand"),
    ("opencode", "home/.opencode/plugins/mine.js", Script, "by hand"),
    ("opencode", "home/.config/opencode/plugin/mine.js", Script, "by hand"),
    ("opencode", "p/.opencode/plugins/more/mine.js", Script, ""),
    ("droid", "home/.factory/hooks.json", Bare, "by hand"),
    ("droid", "p/.factory/hooks.json", Bare, "by hand"),
    ("droid", "p/sub/.factory/settings.json", Groups, "by hand"),
    ("droid", "kit/hooks/hooks.json", Groups, "plugin"),
    ("droid", "p/.factory/hooks.json", Groups, ""),
    ("droid", "p/.factory/settings.local.json", Groups, ""),
];

/// The files by which a plugin `kit` is installed and on.
const INSTALLED: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        "home/.claude/plugins/installed_plugins.json",
        r#"{"version": 2, "plugins": {"kit@m": [{"installPath": "HERE/kit"}]}}"#,
    ),
    ("claude-code", "home/.claude/settings.json", r#"{"enabledPlugins": {"kit@m": true}}"#),
    ("codex", "home/.codex/config.toml", "plugins.\"kit@m\".enabled = true\n"),
    (
        "codex",
        "home/.codex/plugins/cache/m/kit/1.0.0/.codex-plugin/plugin.json",
        r#"{"name": "kit"}"#,
    ),
    (
        "gemini",
        "home/.gemini/extensions/kit/gemini-extension.json",
        r#"{"name": "kit", "version": "1.0.0"}"#,
    ),
    (
        "qwen",
        "home/.qwen/extensions/kit/qwen-extension.json",
        r#"{"name": "kit", "version": "1.0.0"}"#,
    ),
    (
        "copilot",
        "market/.claude-plugin/marketplace.json",
        r#"{"plugins": [{"name": "kit", "source": "./kit"}]}"#,
    ),
    (
        "copilot",
        "home/.copilot/settings.json",
        r#"{"enabledPlugins": {"kit@m": true},
            "extraKnownMarketplaces": {"m": {"source": {"source": "directory", "path": "HERE/market"}}}}"#,
    ),
    (
        "droid",
        "home/.factory/plugins/installed_plugins/kit.json",
        r#"{"pluginId": "kit@m", "entry": {"installPath": "HERE/kit"}}"#,
    ),
    ("droid", "home/.factory/settings.json", r#"{"enabledPlugins": {"kit@m": true}}"#),
];

/// The event of a message, by agent.
fn event(agent: &str) -> &'static str {
    match agent {
        "gemini" => "BeforeAgent",
        "copilot" => "userPromptSubmitted",
        _ => "UserPromptSubmit",
    }
}

fn command(agent: &str) -> String {
    format!("{} hook {agent} --inflect", env!("CARGO_BIN_EXE_repertoire"))
}

/// Writes the hook of `agent` into the file, and what turns a plugin on.
fn write(place: &Place, agent: &str, file: &str, form: Form) {
    let here = place.path().to_str().unwrap();
    place.write("p/.git/HEAD", "");
    place.write("p/sub/x", "");
    for (_, path, text) in INSTALLED.iter().filter(|(of, ..)| *of == agent) {
        place.write(path, text.replace("HERE", here));
    }
    let hook = json!({"type": "command", "command": command(agent)});
    let groups = json!({event(agent): [{"hooks": [hook]}]});
    let text = match form {
        Groups => json!({"name": "kit", "version": "1.0.0", "hooks": groups}).to_string(),
        Bare => groups.to_string(),
        Flat => json!({"version": 1, "hooks": {event(agent): [hook]}}).to_string(),
        Toml => format!(
            "[[hooks.{}]]\nhooks = [{{type = \"command\", command = {:?}}}]\n",
            event(agent),
            command(agent)
        ),
        Names(more) => {
            let dir = file.split_once(if file.starts_with("kit") { "kit" } else { "/kit" });
            let dir = dir.map(|(above, _)| format!("{above}/kit")).unwrap();
            let path = format!("{}/{more}", dir.trim_start_matches('/'));
            place.write(&path, json!({"version": 1, "hooks": groups}).to_string());
            json!({"name": "kit", "hooks": more}).to_string()
        }
        Script => {
            place.run(["hook", "install", "opencode"]).exits(0);
            let plugin = place.path().join("home/.config/opencode/plugins/repertoire.js");
            let text = std::fs::read_to_string(&plugin).unwrap();
            std::fs::remove_file(plugin).unwrap();
            text
        }
    };
    place.write(file, text);
}

fn run_in_sub(place: &Place, args: &[&str]) -> crate::binary::Run {
    let mut command = place.command(args);
    command.current_dir(place.path().join("p/sub"));
    finish(command, b"")
}

/// Returns the reports of `doctor` about hooks of `agent` that are there.
fn reports(place: &Place, agent: &str) -> Vec<Value> {
    let doctor = run_in_sub(place, &["doctor", "--json", "--bundled=off"]).json();
    let all = doctor["agents"].as_array().unwrap().iter();
    let of_agent = all.filter(|report| report["agent"] == agent && report["hooks"] != "no");
    of_agent.cloned().collect()
}

#[test]
fn the_doctor_finds_our_hook_in_each_place_where_an_agent_runs_one() {
    for (agent, file, form, wanted) in PLACES {
        let place = Place::new();
        write(&place, agent, file, *form);
        let found = reports(&place, agent);
        let found: Vec<&str> = found.iter().map(|of| of["place"].as_str().unwrap()).collect();
        let wanted: Vec<&str> =
            Some(*wanted).filter(|place| !place.is_empty()).into_iter().collect();
        assert_eq!(found, wanted, "{agent} {file} {form:?}");
        let why = run_in_sub(&place, &["why", "x", "y", "--agent", agent]);
        let is_unknown = why.stderr.contains("has no hook here");
        assert_eq!(is_unknown, wanted.is_empty(), "{agent} {file} {form:?}: {}", why.stderr);
    }
}

#[test]
fn a_package_beside_installed_hooks_is_named() {
    for (agent, file) in [
        ("claude-code", "kit/hooks/hooks.json"),
        ("gemini", "home/.gemini/extensions/kit/hooks/hooks.json"),
    ] {
        let place = Place::new();
        write(&place, agent, file, Groups);
        let told = run_in_sub(&place, &["hook", "install", agent]).exits(0).stderr;
        let wanted =
            format!("{agent} has hooks in a plugin ({}", place.path().join(file).display());
        assert!(told.contains(&wanted) && told.contains("answers each message twice"), "{told}");
        assert!(told.contains("or uninstall the plugin"), "{told}");
        let doctor = run_in_sub(&place, &["doctor", "--bundled=off"]).stdout;
        assert!(doctor.contains(&wanted), "{doctor}");
    }
}

#[test]
fn codex_runs_hooks_of_a_configuration_once_they_are_trusted() {
    for (file, form, name, is_of_project) in [
        ("home/.codex/config.toml", Toml, "HERE/home/.codex/config.toml", false),
        ("p/.codex/config.toml", Toml, "HERE/p/.codex/config.toml", true),
        (&format!("{CODEX_PLUGIN}/hooks/hooks.json"), Groups, "kit@m:hooks/hooks.json", false),
    ] {
        let place = Place::new();
        write(&place, "codex", file, form);
        let here = place.path().to_str().unwrap();
        let state = || {
            let found = reports(&place, "codex").pop().unwrap();
            [&found["hooks"], &found["detail"]].map(|of| of.as_str().unwrap().to_owned())
        };
        let config = place.path().join("home/.codex/config.toml");
        let before = std::fs::read_to_string(&config).unwrap();
        let project = format!("[projects.\"{here}/p\"]\ntrust_level = \"trusted\"\n");
        if is_of_project {
            assert!(state()[1].contains("does not trust this project"), "{file}");
        }
        std::fs::write(&config, format!("{before}{project}")).unwrap();
        let [found, detail] = state();
        assert!(found == "untrusted" && detail.contains("1 of these 1 hook"), "{file}: {detail}");

        let identity = json!({
            "event_name": "user_prompt_submit",
            "hooks": [{"async": false, "command": command("codex"), "timeout": 600, "type": "command"}],
        });
        let hash = sha256(&identity.to_string());
        // Behind the hash of a plugin's hook is one of the plugin.
        let more = if name.contains('@') { "/sha256:00" } else { "" };
        let trust = format!(
            "[hooks.state.\"{}:user_prompt_submit:0:0\"]\ntrusted_hash = \"sha256:{hash}{more}\"\n",
            name.replace("HERE", here)
        );
        std::fs::write(&config, format!("{before}{project}{trust}")).unwrap();
        assert_eq!(state()[0], "yes", "{file}");
    }
}

fn sha256(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    data_encoding::HEXLOWER.encode(&Sha256::digest(text))
}
