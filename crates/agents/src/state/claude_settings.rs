//! The settings files of Claude Code: which of them it reads from a starting directory, which it ignores,
//! and the environment variables that they set. Observed with 2.1.332 and a fake model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude_schema::wrong_type;
use super::options::{Options, PLACE, added_directories, without_source};
use super::settings::{Settings, Syntax, entries};
use super::start::means_yes;
use super::{Obstacle, Start};

/// The directory of managed settings, relative to the root of the system.
pub(super) const MANAGED: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/ClaudeCode"
} else {
    "etc/claude-code"
};

/// The settings files. In a subdirectory, the shared ones of the project's root are not read.
pub(super) struct Files {
    user: Option<Settings>,
    /// The files of the project, and of the user in the project, lowest precedence first.
    project: Vec<Settings>,
    /// The name of the directory of plugins beside the user's settings.
    pub(super) plugins_dir: &'static str,
    /// The files in directories that an option adds.
    added: Vec<Settings>,
    /// The files of the administrator, which win over the others.
    pub(super) managed: Vec<Settings>,
    /// The paths of those files, whether they can be read or not; the first is always the same.
    pub(super) managed_paths: Vec<PathBuf>,
    /// The files that have a setting of a wrong type, of which Claude Code then ignores all, each with that
    /// setting.
    pub(super) ignored: Vec<(PathBuf, Obstacle)>,
}

impl Files {
    pub(super) fn read(start: &Start, user_dir: Option<&Path>) -> Files {
        let dir = start.dir();
        let local =
            local_dirs(start).into_iter().map(|dir| dir.join(".claude/settings.local.json"));
        let project = std::iter::once(dir.join(".claude/settings.json")).chain(local);
        let managed = start.in_system(MANAGED);
        let parts = entries(&managed.join("managed-settings.d")).into_iter();
        let parts = parts.filter(|path| is_part(path));
        let managed_paths: Vec<PathBuf> =
            std::iter::once(managed.join("managed-settings.json")).chain(parts).collect();
        let mut ignored = Vec::new();
        let mut valid = |path: PathBuf| {
            let is_local = path.ends_with("settings.local.json");
            let of_user = user_dir.is_some_and(|dir| path.parent() == Some(dir));
            let source = if is_local {
                "local"
            } else if of_user {
                "user"
            } else {
                "project"
            };
            if let Some(by) = without_source(start, source) {
                ignored.push((path, by));
                return None;
            }
            let file = Settings::read_valid(path, Syntax::Json)?;
            let wrong = |file: &Settings| {
                let (name, value) = wrong_type(&file.value)?;
                Some(Obstacle::new(format!("{name}: {value}"), &file.path))
            };
            let file = file.and_then(|file| wrong(&file).map_or(Ok(file), Err));
            file.map_err(|by| ignored.push((by.file.clone(), by))).ok()
        };
        let options = Options::of(start);
        let usual = user_dir.map(|dir| dir.join("settings.json"));
        let other = usual.as_deref().and_then(|path| cowork(start, path));
        let [name, plugins_dir] = match &other {
            None => ["settings.json", "plugins"],
            Some(_) => ["cowork_settings.json", "cowork_plugins"],
        };
        let user = user_dir.and_then(|dir| valid(dir.join(name)));
        let project: Vec<Settings> = project.filter_map(&mut valid).collect();
        let added = added_directories(start).into_iter().flat_map(|dir| {
            ["settings.json", "settings.local.json"].map(|name| dir.join(".claude").join(name))
        });
        let added = added.filter_map(&mut valid).collect();
        ignored.extend(usual.zip(other));
        let given = options.values(&["--settings"]).into_iter().filter_map(|given| {
            let file = || Settings::read(dir.join(given));
            Settings::parse(given, PathBuf::from(PLACE))
                .filter(|_| given.starts_with('{'))
                .or_else(file)
        });
        Files {
            user,
            plugins_dir,
            project: project.into_iter().chain(given).collect(),
            added,
            managed: with_given(managed_paths.iter().filter_map(Settings::read).collect(), options),
            managed_paths,
            ignored,
        }
    }

    /// Returns the files, lowest precedence first.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &Settings> {
        self.user.iter().chain(&self.project).chain(&self.managed)
    }

    /// Returns the switches of plugins, by `NAME@MARKETPLACE`, each with the file that decides. Of the settings
    /// in directories that an option adds, only these count.
    pub(super) fn enabled_plugins(&self) -> BTreeMap<String, (bool, &Path)> {
        let mut enabled = BTreeMap::new();
        for file in self.added.iter().chain(self.all()) {
            for (id, value) in file.value["enabledPlugins"].as_object().into_iter().flatten() {
                enabled.insert(id.clone(), (*value == Value::Bool(true), &*file.path));
            }
        }
        enabled
    }

    /// Returns the directory of a marketplace that the user or the administrator names. Those of a project need trust.
    pub(super) fn marketplace(&self, name: &str) -> Option<PathBuf> {
        let mut files = self.managed.iter().rev().chain(&self.user);
        let path = |file: &'_ Settings| {
            let source = &file.value["extraKnownMarketplaces"][name]["source"];
            source["path"].as_str().map(PathBuf::from)
        };
        files.find_map(path)
    }

    /// Returns the value of an environment variable, and what sets it: the settings of the user or the
    /// administrator, or else the environment. Those of a project come too late for these variables.
    pub(super) fn variable(&self, start: &Start, name: &str) -> Option<(OsString, Obstacle)> {
        let set = |file: &Settings| {
            let value = file.value["env"][name].as_str()?;
            let setting = format!("env: {{\"{name}\": \"{value}\"}}");
            Some((OsString::from(value), Obstacle::new(setting, &file.path)))
        };
        self.managed.iter().rev().chain(&self.user).find_map(set).or_else(|| {
            let value = start.variables.get(name)?;
            Some((value.clone(), Obstacle::of_variable(name, &value.to_string_lossy())))
        })
    }

    /// Returns what sets the environment variable `name` to a value that means yes.
    pub(super) fn turned_on(&self, start: &Start, name: &str) -> Option<Obstacle> {
        let (value, by) = self.variable(start, name)?;
        means_yes(&value).then_some(by)
    }

    /// Tells whether the agent's own skills are in its list.
    pub(super) fn has_own_skills(&self, start: &Start) -> bool {
        let decides = self.all().rev().find_map(|file| file.switch("/disableBundledSkills"));
        let variable = self.turned_on(start, "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS");
        decides != Some(true) && variable.is_none()
    }

    /// Returns the setting of the administrator by which only those `things` count that plugins bring.
    pub(super) fn plugins_only(&self, things: &str) -> Option<Obstacle> {
        const KEY: &str = "strictPluginOnlyCustomization";
        let file = self.managed.iter().rev().find(|file| !file.value[KEY].is_null())?;
        let value = &file.value[KEY];
        let named = value.as_array().is_some_and(|list| list.iter().any(|thing| thing == things));
        (*value == Value::Bool(true) || named)
            .then(|| Obstacle::new(format!("{KEY}: {value}"), &file.path))
    }
}

/// Returns the administrator's settings with those that the program above Claude Code gives it. They count if there
/// are no others, or if those let them.
fn with_given(mut managed: Vec<Settings>, options: Options<'_>) -> Vec<Settings> {
    const KEY: &str = "parentSettingsBehavior";
    let is_open = managed.is_empty() || managed.iter().any(|file| file.value[KEY] == "merge");
    let given = options.values(&["--managed-settings"]).into_iter().next_back();
    let given = given.and_then(|given| Settings::parse(given, PathBuf::from(PLACE)));
    managed.splice(0..0, given.filter(|_| is_open));
    managed
}

/// Returns what makes Claude Code read another file than `usual` as the user's settings: a variable of the
/// environment, or of these settings.
fn cowork(start: &Start, usual: &Path) -> Option<Obstacle> {
    const NAME: &str = "CLAUDE_CODE_USE_COWORK_PLUGINS";
    start.turned_on(NAME).or_else(|| {
        let file = Settings::read_valid(usual, Syntax::Json)?.ok()?;
        let value = file.value["env"][NAME].as_str().filter(|value| means_yes(value.as_ref()))?;
        Some(Obstacle::new(format!("env: {{\"{NAME}\": \"{value}\"}}"), usual))
    })
}

/// Tells whether a file beside the administrator's settings is a part of them: one that is not hidden, with `.json`
/// at its end in this letter case.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && path.extension().is_some_and(|end| end == "json") && path.is_file()
}

/// Returns the directories whose `settings.local.json` is read, lowest precedence first: the starting
/// directory, and the root of the repository, which for a worktree is that of the main checkout.
pub(super) fn local_dirs(start: &Start) -> Vec<PathBuf> {
    let root = start.main_checkout().or_else(|| start.project_with_git());
    let dir = start.dir();
    let root = root.filter(|root| *root != dir);
    std::iter::once(dir).chain(root).collect()
}
