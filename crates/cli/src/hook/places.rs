//! The places of an agent's hooks: those in which they are installed, files that people edit by hand, and plugins.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use repertoire::Error;
use repertoire_agents::{AgentState, HookAgent, HookFiles};
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use super::agents::{self, plugin_words};
use super::settings;
use crate::agent::{LOCAL_SETTINGS, Place, Settings, json, unknown};
use crate::args::Common;
use crate::setup;

/// Returns the places where `agent` looks for hooks, from the widest to the narrowest. Those where this program
/// installs none come first, and only if they have hooks of it.
pub(crate) fn places(agent: HookAgent, common: &Common) -> Vec<Place> {
    let usual: &[Place] = match agent {
        HookAgent::ClaudeCode => &[Place::System, Place::User, Place::Project, Place::Local],
        HookAgent::Codex | HookAgent::Copilot | HookAgent::Gemini | HookAgent::Qwen => {
            &[Place::System, Place::User, Place::Project]
        }
        _ => &[Place::User, Place::Project],
    };
    let others = own_files(agent, common).into_iter().map(|(place, _)| place);
    others.chain(usual.iter().copied()).collect()
}

/// Returns the file with the hooks of `agent` in `place`, and the directory above all that is made for it.
pub(super) fn file(
    agent: HookAgent,
    place: Place,
    common: &Common,
) -> Result<(PathBuf, PathBuf), Error> {
    if !matches!(place, Place::ByHand | Place::Plugin) {
        return agents::file(agent, place, common);
    }
    let found = own_files(agent, common).into_iter().find(|(known, _)| *known == place);
    let (_, file) = found.ok_or_else(|| unknown(agent))?;
    let base = file.parent().unwrap_or(&file).to_owned();
    Ok((file, base))
}

/// Returns the files of [`Place::Plugin`] and [`Place::ByHand`] that run our hook for `agent`, the first of each.
fn own_files(agent: HookAgent, common: &Common) -> Vec<(Place, PathBuf)> {
    let start = setup::start(common);
    let state = agent.state(&start);
    let HookFiles { by_hand, of_plugins, .. } = agent.hook_files(&start, &state);
    let by_hand = beside_the_usual(by_hand, agent, state, common);
    [(Place::Plugin, of_plugins), (Place::ByHand, by_hand)]
        .into_iter()
        .filter_map(|(place, files)| {
            Some((place, files.into_iter().find(|path| runs_own(path, agent))?))
        })
        .collect()
}

/// Returns the files that people edit by hand and in which `hook install` writes nothing.
fn beside_the_usual(
    by_hand: Vec<PathBuf>,
    agent: HookAgent,
    state: AgentState,
    common: &Common,
) -> Vec<PathBuf> {
    let Ok(Settings { project_dir, hooks, .. }) = Settings::of(agent) else { return Vec::new() };
    let of_dirs = |dirs: Vec<PathBuf>, name: &'static str| {
        dirs.into_iter().map(move |dir| dir.join(project_dir).join(name))
    };
    // The agent reads these below the root of the project, too.
    let levels = of_dirs(state.settings_dirs, hooks);
    let levels = levels.chain(of_dirs(state.local_settings_dirs, LOCAL_SETTINGS));
    let standard = [Place::User, Place::Project, Place::Local].into_iter();
    let standard =
        standard.filter_map(|place| absolute(agents::file(agent, place, common).ok()?.0).ok());
    let standard: Vec<PathBuf> = standard.collect();
    let is_other = |path: &PathBuf| absolute(path).is_ok_and(|path| !standard.contains(&path));
    by_hand.into_iter().chain(levels).filter(is_other).collect()
}

fn runs_own(path: &Path, agent: HookAgent) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let Some(text) = is_file.then(|| fs::read_to_string(path).ok()).flatten() else { return false };
    if agent == HookAgent::OpenCode {
        return plugin_words(&text).is_some();
    }
    let own = settings::own(&as_json(&text, path, agent), agent);
    own.is_ok_and(|own| own.is_some())
}

/// Returns the hooks in `text`, the content of the file at `path`, in the form that most files have: Codex also
/// reads TOML, and a `hooks.json` of Droid has the events at its top.
pub(super) fn as_json<'t>(text: &'t str, path: &Path, agent: HookAgent) -> Cow<'t, str> {
    let is_toml = path.extension().is_some_and(|end| end == "toml");
    if is_toml {
        return of_toml(text).unwrap_or_default().to_string().into();
    }
    if agent == HookAgent::Droid && path.ends_with(".factory/hooks.json") {
        return json!({"hooks": json::value(text)}).to_string().into();
    }
    text.into()
}

fn of_toml(text: &str) -> Option<Value> {
    let settings: DocumentMut = text.parse().ok()?;
    let hooks = settings.get("hooks")?.as_table_like()?.iter();
    // Beside the events, there is the trust in each hook.
    let events = hooks.filter(|(_, item)| item.is_array() || item.is_array_of_tables());
    let events = events.map(|(event, item)| (event.to_owned(), value(item)));
    Some(json!({"hooks": events.collect::<Map<_, _>>()}))
}

/// Returns the value in TOML in the form of JSON; a time is `null`.
fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect();
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|table| value(&Item::Table(table.clone()))).collect();
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|element| value(&Item::Value(element.clone()))).collect();
    }
    let text = item.as_str().map(Value::from);
    let number = || item.as_integer().map(Value::from).or_else(|| item.as_float().map(Value::from));
    text.or_else(number).or_else(|| item.as_bool().map(Value::from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_found_in_each_form_that_an_agent_reads() {
        use HookAgent::{Codex, Droid, Gemini};
        let hook = |command: &str| {
            format!("[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n")
        };
        let nested = || r#"{"hooks": {"Stop": [{"hooks": [{"command": "ours"}]}]}}"#.to_owned();
        let flat = || r#"{"Stop": [{"hooks": [{"command": "ours"}]}]}"#.to_owned();
        let group = "[[hooks.Stop]]\n";
        let state = "[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n";
        for (agent, path, text, is_found) in [
            (Codex, "config.toml", format!("{group}{}", hook("ours")), true),
            (
                Codex,
                "config.toml",
                format!("{group}{}{group}{}", hook("theirs"), hook("ours")),
                true,
            ),
            (Codex, "config.toml", format!("{group}{}{state}", hook("ours")), true),
            (Codex, "config.toml", format!("{group}hooks = [{{command = \"ours\"}}]"), true),
            (
                Codex,
                "config.toml",
                "[hooks]\nStop = [{hooks = [{command = \"ours\"}]}]".to_owned(),
                true,
            ),
            (
                Codex,
                "config.toml",
                "hooks.Stop = [{hooks = [{command = \"ours\"}]}]".to_owned(),
                true,
            ),
            (Codex, "config.toml", format!("{group}{}", hook("theirs")), false),
            (Codex, "config.toml", "command = \"ours\"\n".to_owned(), false),
            (Codex, "config.toml", "[hooks".to_owned(), false),
            (Codex, "config.toml", String::new(), false),
            (Codex, "hooks.json", nested(), true),
            (Droid, ".factory/hooks.json", flat(), true),
            // Droid does not run these.
            (Droid, ".factory/hooks.json", nested(), false),
            (Droid, "kit/hooks/hooks.json", nested(), true),
            (Gemini, ".gemini/settings.json", flat(), false),
        ] {
            let text = text.replace("ours", &format!("repertoire hook {agent}"));
            let text = as_json(&text, Path::new(path), agent).into_owned();
            let own = settings::own(&text, agent);
            assert_eq!(own.ok().flatten().is_some(), is_found, "{agent} {text}");
        }
    }
}
