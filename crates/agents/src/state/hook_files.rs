//! The files in which an agent runs hooks beside those in which they are installed: files that people edit by hand,
//! and those of plugins. Observed with a hook in each of them, with the versions that `docs/agents.md` names.

use std::path::{Path, PathBuf};

use super::manifest_path::{below, each_below};
use super::options::Options;
use super::settings::{Settings, entries};
use super::{AgentState, Start};
use crate::agent::HookAgent;

/// The manifests of plugins and extensions, which may name files of hooks or have hooks themselves.
const MANIFESTS: [&str; 7] = [
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".factory-plugin/plugin.json",
    ".github/plugin/plugin.json",
    "plugin.json",
    "gemini-extension.json",
    "qwen-extension.json",
];
/// The files of hooks of a plugin whose manifest names none.
const USUAL: [&str; 2] = ["hooks/hooks.json", "hooks.json"];
/// The number of directories below one with files of hooks in which Copilot CLI looks.
const DEPTH: usize = 4;

/// Files in which an agent may have hooks, whether they exist or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookFiles {
    /// The files that people edit by hand.
    pub by_hand: Vec<PathBuf>,
    /// The files of the plugins that are on.
    pub of_plugins: Vec<PathBuf>,
}

impl HookAgent {
    /// Returns the files beside those of `hook install` in which the agent, whose `state` this is, runs hooks. Reads
    /// the manifests of plugins.
    pub fn hook_files(self, start: &Start, state: &AgentState) -> HookFiles {
        let mut plugins: Vec<&PathBuf> =
            state.roots.iter().filter_map(|root| root.plugin_dir.as_ref()).collect();
        plugins.dedup();
        HookFiles {
            by_hand: by_hand(self, start, state),
            of_plugins: plugins.into_iter().flat_map(|dir| of_plugin(dir)).collect(),
        }
    }
}

fn by_hand(agent: HookAgent, start: &Start, state: &AgentState) -> Vec<PathBuf> {
    let user_dir = agent.user_dir(start);
    let of_user = |name: &str| user_dir.iter().map(|dir| dir.join(name)).collect::<Vec<_>>();
    let of_project = |names: &[&str]| {
        let dirs = state.settings_dirs.iter();
        dirs.flat_map(|dir| names.iter().map(|name| dir.join(name))).collect::<Vec<_>>()
    };
    let options = Options::of(start);
    match agent {
        HookAgent::ClaudeCode => {
            let given = options.values(&["--settings"]).into_iter();
            given.map(|given| start.dir().join(given)).collect()
        }
        HookAgent::Codex => {
            let profiles = options.values(&["-p", "--profile"]).into_iter();
            let profiles = profiles.flat_map(|name| {
                user_dir.iter().filter_map(move |dir| below(dir, &format!("{name}.config.toml")))
            });
            let files = of_user("config.toml").into_iter().chain(profiles);
            files.chain(of_project(&[".codex/config.toml"])).collect()
        }
        HookAgent::Copilot => {
            const OF_PROJECT: [&str; 4] = [
                ".github/copilot/settings.json",
                ".github/copilot/settings.local.json",
                ".claude/settings.json",
                ".claude/settings.local.json",
            ];
            let dirs = of_user("hooks").into_iter().chain(of_project(&[".github/hooks"]));
            let files = dirs.flat_map(|dir| files_below(&dir, "json", DEPTH));
            let settings = of_user("settings.json").into_iter().chain(of_project(&OF_PROJECT));
            settings.chain(files).collect()
        }
        HookAgent::OpenCode => {
            let home = start.in_home(".opencode").into_iter();
            let dirs = user_dir.into_iter().chain(home).chain(of_project(&[".opencode"]));
            let dirs = dirs.flat_map(|dir| ["plugin", "plugins"].map(|name| dir.join(name)));
            dirs.flat_map(|dir| files_below(&dir, "js", 0)).collect()
        }
        HookAgent::Droid => {
            of_user("hooks.json").into_iter().chain(of_project(&[".factory/hooks.json"])).collect()
        }
        HookAgent::Gemini | HookAgent::Qwen | HookAgent::Cursor => Vec::new(),
    }
}

/// Returns the files in `dir` with the given end of their names, down to `depth` directories.
fn files_below(dir: &Path, end: &str, depth: usize) -> Vec<PathBuf> {
    let files = |path: PathBuf| match path.is_dir() {
        true if depth > 0 => files_below(&path, end, depth - 1),
        true => Vec::new(),
        false => Some(path)
            .filter(|path| path.extension().is_some_and(|is| is == end))
            .into_iter()
            .collect(),
    };
    entries(dir).into_iter().flat_map(files).collect()
}

/// Returns the files in which the plugin in `dir` may have hooks.
fn of_plugin(dir: &Path) -> Vec<PathBuf> {
    let manifests = MANIFESTS.iter().filter_map(|name| Settings::read(dir.join(name)));
    let with_named = |manifest: Settings| {
        let named = each_below(dir, &manifest.value["hooks"]);
        std::iter::once(manifest.path).chain(named)
    };
    manifests.flat_map(with_named).chain(USUAL.map(|name| dir.join(name))).collect()
}
