//! The trust that an agent requires from its user before it runs hooks: Codex for each hook and for
//! the project, Copilot and Gemini for the folder of the project. Observed with Codex 0.169.0, Copilot CLI
//! 1.0.102 and Gemini CLI 0.61.0.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use data_encoding::HEXLOWER;
use repertoire_agents::HookAgent;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toml_edit::{DocumentMut, Item};

use super::entry;
use super::places::{self, as_json};
use crate::agent::{Place, json, user_dir};
use crate::args::Common;
use crate::setup;

/// The timeout, in seconds, that Codex assumes for a hook without one.
const CODEX_TIMEOUT: u64 = 600;

/// Explains why `agent` does not run our hooks in `text`, its settings in `place`, although the
/// hooks are correct: the user has not trusted them, or the project. `None` if it runs them.
pub(super) fn missing(
    agent: HookAgent,
    place: Place,
    text: &str,
    common: &Common,
) -> Option<String> {
    let user_dir = user_dir(agent, common).ok()?;
    let (path, _) = places::file(agent, place, common).ok()?;
    let is_project = is_of_project(place, &path, &user_dir);
    match agent {
        HookAgent::Codex => {
            let config = fs::read_to_string(user_dir.join("config.toml")).unwrap_or_default();
            // Codex itself reports an invalid configuration.
            let config: DocumentMut = config.parse().ok()?;
            if is_project && !trusts_project(&config, &common.project) {
                return Some(
                    "Codex does not trust this project yet, and runs no hook of it: start Codex \
                     there and say that you do"
                        .to_owned(),
                );
            }
            let hooks = codex_hooks(text);
            let n_hooks = hooks.len();
            let sources = sources(&path, &user_dir);
            let is_trusted =
                |hook: &&CodexHook| sources.iter().any(|source| trusts_hook(&config, source, hook));
            let n_untrusted = n_hooks - hooks.iter().filter(is_trusted).count();
            (n_untrusted > 0).then(|| {
                format!(
                    "Codex does not run {n_untrusted} of these {n_hooks} hooks until you trust \
                     them: open `/hooks` in Codex"
                )
            })
        }
        HookAgent::Copilot if is_project => {
            let config = fs::read_to_string(user_dir.join("config.json")).unwrap_or_default();
            let config = json::value(&config);
            let trusted = config["trustedFolders"].as_array().into_iter().flatten();
            let project = forms(&common.project);
            let is_inside = |folder: &Value| {
                folder.as_str().is_some_and(|f| project.iter().any(|p| p.starts_with(f)))
            };
            (!trusted.into_iter().any(is_inside)).then(|| {
                "Copilot does not trust this folder yet, and runs no hook of it: start Copilot \
                 there and say that you do for future sessions, too"
                    .to_owned()
            })
        }
        HookAgent::Gemini if is_project => untrusted_folder(agent, common),
        _ => None,
    }
}

/// Explains why `agent` does not start here without a terminal, where it could ask for trust: nobody has given it yet.
pub(crate) fn untrusted_folder(agent: HookAgent, common: &Common) -> Option<String> {
    let state = agent.state(&setup::start(&common.for_agent(agent)));
    state.asks_for_trust.then(|| {
        format!(
            "{} does not trust this folder yet, and `{agent} -p` does not start here: start `{agent}` here and say \
             that you do",
            agent.title()
        )
    })
}

/// Tells whether `agent` runs our hook for messages in its settings of `place`, although it needs trust for
/// others: a hook that a later version added.
pub(super) fn answers_messages(agent: HookAgent, place: Place, common: &Common) -> bool {
    let read = || {
        let user_dir = user_dir(agent, common).ok().filter(|_| agent == HookAgent::Codex)?;
        let config = fs::read_to_string(user_dir.join("config.toml")).ok()?;
        let (path, _) = places::file(agent, place, common).ok()?;
        Some((user_dir, config.parse::<DocumentMut>().ok()?, path))
    };
    let Some((user_dir, config, path)) = read() else { return false };
    let text = fs::read_to_string(&path).unwrap_or_default();
    let hooks = codex_hooks(&as_json(&text, &path, agent));
    let mut of_messages = hooks.iter().filter(|hook| hook.place.starts_with("user_prompt_submit:"));
    let sources = sources(&path, &user_dir);
    let is_trusted =
        |hook: &CodexHook| sources.iter().any(|source| trusts_hook(&config, source, hook));
    (!is_of_project(place, &path, &user_dir) || trusts_project(&config, &common.project))
        && of_messages.any(is_trusted)
}

/// Tells whether the settings of `place`, at `path`, belong to the project.
fn is_of_project(place: Place, path: &Path, user_dir: &Path) -> bool {
    match place {
        Place::Project | Place::Local => true,
        Place::ByHand => !path.starts_with(user_dir),
        Place::User | Place::System | Place::Plugin => false,
    }
}

/// Returns the names that Codex may give the file at `path`: its path, or for one of a plugin, which is in
/// `plugins/cache/MARKETPLACE/PLUGIN/VERSION`, the plugin and the path in it.
fn sources(path: &Path, user_dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        forms(path).iter().map(|path| path.display().to_string()).collect();
    if let Ok(inside) = path.strip_prefix(user_dir.join("plugins/cache")) {
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        if let [marketplace, plugin, _, rest @ ..] = &*parts {
            names.push(format!("{plugin}@{marketplace}:{}", rest.join("/")));
        }
    }
    names
}

/// One of our hooks, with the name and the hash that Codex gives it.
#[derive(Debug, PartialEq)]
struct CodexHook {
    /// The part of the name that follows the path of the file.
    place: String,
    hash: String,
}

/// Returns our hooks in Codex's settings.
fn codex_hooks(text: &str) -> Vec<CodexHook> {
    let settings = json::value(text);
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let event = snake(event);
        for (n_group, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (n_hook, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if entry::is_own(hook, HookAgent::Codex) {
                    let place = format!("{event}:{n_group}:{n_hook}");
                    found.push(CodexHook {
                        place,
                        hash: codex_hash(&event, &group["matcher"], hook),
                    });
                }
            }
        }
    }
    found
}

/// Computes the hash by which Codex recognises a hook.
fn codex_hash(event: &str, matcher: &Value, hook: &Value) -> String {
    let timeout = hook["timeout"].as_u64().unwrap_or(CODEX_TIMEOUT).max(1);
    // Codex hashes the fields in alphabetical order.
    let mut identity = json!({
        "event_name": event,
        "hooks": [{
            "async": hook["async"] == true, "command": hook["command"], "timeout": timeout,
            "type": "command",
        }],
    });
    // These events have no matcher, whatever the file says.
    if matcher.is_string() && !matches!(event, "user_prompt_submit" | "stop") {
        identity["matcher"] = matcher.clone();
    }
    if hook["statusMessage"].is_string() {
        identity["hooks"][0]["statusMessage"] = hook["statusMessage"].clone();
    }
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(identity.to_string())))
}

/// Converts `SessionStart` to `session_start`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

fn trusts_hook(config: &DocumentMut, source: &str, hook: &CodexHook) -> bool {
    let states = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let key = format!("{source}:{}", hook.place);
    let Some(state) = states.and_then(|states| states.get(&key)) else { return false };
    let is_off = state.get("enabled").and_then(Item::as_bool) == Some(false);
    // For a plugin, a hash of the plugin follows.
    let trusted = state.get("trusted_hash").and_then(Item::as_str);
    !is_off && trusted.and_then(|hash| hash.split('/').next()) == Some(&hook.hash)
}

fn trusts_project(config: &DocumentMut, project: &Path) -> bool {
    let Some(projects) = config.get("projects") else { return false };
    forms(project).iter().any(|project| {
        let level = projects.get(&*project.to_string_lossy()).and_then(|p| p.get("trust_level"));
        level.and_then(Item::as_str) == Some("trusted")
    })
}

/// Returns the forms in which an agent may write `path`: absolute, and with links followed.
fn forms(path: &Path) -> Vec<PathBuf> {
    absolute(path).into_iter().chain(path.canonicalize()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_in_a_configuration_are_named_and_hashed_as_codex_does() {
        let text = r#"
            [[hooks.PostToolUse]]
            matcher = ""
            [[hooks.PostToolUse.hooks]]
            type = "command"
            command = "repertoire hook codex R"
            timeout = 3
            statusMessage = "s"
            async = true
            [[hooks.SessionStart]]
            hooks = [{type = "command", command = "repertoire hook codex R"}]
            [[hooks.UserPromptSubmit]]
            matcher = "x"
            hooks = [{type = "command", command = "repertoire hook codex R", timeout = 3}]
        "#;
        let found = codex_hooks(&as_json(text, Path::new("config.toml"), HookAgent::Codex));
        // As reported by `hooks/list` of Codex's app server.
        let known = [
            (
                "post_tool_use:0:0",
                "940335c53b685a0783a128e538a22ad28094cde8c3c3cd0518acfbbb3fd549e9",
            ),
            (
                "session_start:0:0",
                "7c9ff3998001fb142520dba3fd832ecf5e5cced1ef6a5502345d26c71901121e",
            ),
            (
                "user_prompt_submit:0:0",
                "843adbb838ed1ff3a0e5c0482acf9c7363cd1f4fff160837f9808f8b1f648a17",
            ),
        ];
        let known = known.map(|(place, hash)| CodexHook {
            place: place.to_owned(),
            hash: format!("sha256:{hash}"),
        });
        assert_eq!(found, known);
    }

    #[test]
    fn a_file_of_a_plugin_is_named_by_the_plugin() {
        let path = Path::new("/h/.codex/plugins/cache/m/kit/1.0.0/hooks/hooks.json");
        let names = sources(path, Path::new("/h/.codex"));
        assert_eq!(names, [&*path.display().to_string(), "kit@m:hooks/hooks.json"]);
        assert_eq!(sources(Path::new("/p/.codex/hooks.json"), Path::new("/h/.codex")).len(), 1);
    }

    #[test]
    fn hooks_are_named_and_hashed_as_codex_does() {
        let command = "repertoire hook codex";
        let hook = json!({"type": "command", "command": command, "timeout": 3});
        let settings = json!({"hooks": {
            "PostToolUse": [{"hooks": [{"command": "beep"}]}, {"matcher": "apply_patch", "hooks": [hook]}],
            "SessionStart": [{"hooks": [{"command": "beep"}, hook]}],
        }});
        // As reported by `hooks/list` of Codex's app server.
        let known = [
            (
                "post_tool_use:1:0",
                "sha256:7a9baa2e8935b84ecdfcee1fed971239d62b312f798e5d5196ca313117ebf7d2",
            ),
            (
                "session_start:0:1",
                "sha256:2445daa3608a1999674b9c918cdbab737f7e4733b2e3284ff96b9e74a88cfd80",
            ),
        ];
        let known =
            known.map(|(place, hash)| CodexHook { place: place.to_owned(), hash: hash.to_owned() });
        assert_eq!(codex_hooks(&settings.to_string()), known);
    }
}
