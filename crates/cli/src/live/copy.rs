//! A copy of the settings and skills that an agent finds from the user's working directory. The copy has
//! the same layout below a temporary directory, so paths between its parts mean the same.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::clean::{self, Rules};
use crate::hook;

/// The directories in which agents, and this program, keep settings and skills of a project or a user.
const HOLDERS: [&str; 12] = [
    ".agent", ".agents", ".claude", ".codex", ".copilot", ".cursor", ".factory", ".gemini",
    ".github", ".opencode", ".qwen", ".config/opencode",
];

/// The settings files in such a directory. Files with credentials are not among them.
const FILES: [&str; 9] = [
    "config.json", "config.toml", "hooks.json", "opencode.json", "opencode.jsonc", "settings.json",
    "settings.local.json", "trustedFolders.json", "installed_plugins.json",
];

/// The directories in such a directory with skills, hooks and plugins.
const DIRS: [&str; 8] =
    ["copilot", "extensions", "hooks", "installed-plugins", "plugin", "plugins", "skill", "skills"];

/// Settings files of `OpenCode` that are in the project itself.
const LOOSE_FILES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// Directories that hold neither skills nor settings.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// The largest file that is copied, in bytes; skills and settings are smaller.
const MAX_BYTES: u64 = 1 << 20;
/// The largest number of files that are copied.
const MAX_FILES: usize = 20_000;
/// The depth of directories that are copied, so that a link to a directory above ends.
const MAX_DEPTH: usize = 12;

/// The places of a user, of which the settings are copied.
pub(super) struct Original {
    pub(super) agent: HookAgent,
    pub(super) home: PathBuf,
    /// The directory of the user's settings for the agent.
    pub(super) user_dir: PathBuf,
    pub(super) project: PathBuf,
    /// The directory in which the agent is started.
    pub(super) here: PathBuf,
    /// The brand of this program, whose directories are copied as well.
    pub(super) brand: String,
}

/// The copy; deleted when it is dropped.
pub(super) struct Copy {
    dir: TempDir,
    n_files: usize,
    /// Settings files to clean, and links to set, when all files are there.
    settings: Vec<(PathBuf, PathBuf)>,
    links: Vec<(PathBuf, PathBuf)>,
    /// True if the settings run this program's hook.
    pub(super) has_hook: bool,
}

impl Copy {
    /// Copies the settings and skills that `original` finds. Fails if they are too many.
    pub(super) fn of(original: &Original) -> anyhow::Result<Copy> {
        let mut copy = Copy {
            dir: TempDir::new()?,
            n_files: 0,
            settings: Vec::new(),
            links: Vec::new(),
            has_hook: false,
        };
        let own = format!(".{}", original.brand);
        let above = original.here.ancestors().chain([original.home.as_path()]);
        for base in above {
            for holder in HOLDERS.into_iter().chain([own.as_str()]) {
                copy.holder(&base.join(holder))?;
            }
            for name in LOOSE_FILES {
                copy.entry(&base.join(name), 0)?;
            }
        }
        copy.holder(&original.user_dir)?;
        fs::create_dir_all(copy.path(&original.here))?;
        fs::create_dir_all(copy.path(&original.home))?;
        if original.project.join(".git").exists() {
            fs::create_dir_all(copy.path(&original.project).join(".git"))?;
        }
        copy.link()?;
        copy.clean(original)?;
        Ok(copy)
    }

    /// Returns the place of `path` in the copy.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        self.dir.path().join(names.collect::<PathBuf>())
    }

    /// Makes `link` lead to `target`.
    pub(super) fn link_to(target: &Path, link: &Path) -> io::Result<()> {
        fs::create_dir_all(link.parent().unwrap_or(link))?;
        set_link(target, link)
    }

    /// Returns the directory of the copy, which is deleted when it is dropped.
    pub(super) fn into_dir(self) -> TempDir {
        self.dir
    }

    fn holder(&mut self, dir: &Path) -> anyhow::Result<()> {
        for name in FILES.into_iter().chain(DIRS) {
            self.entry(&dir.join(name), 0)?;
        }
        Ok(())
    }

    /// Copies the file or directory at `path`, unless it was copied already.
    fn entry(&mut self, path: &Path, depth: usize) -> anyhow::Result<()> {
        let to = self.path(path);
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        if to.exists() || depth > MAX_DEPTH || self.links.iter().any(|(link, _)| *link == to) {
            return Ok(());
        }
        if metadata.is_symlink() && is_in_skills(path) {
            // Agents treat some links differently from directories, so a skill's link stays one.
            self.links.extend(path.canonicalize().ok().map(|target| (to, target)));
            return Ok(());
        }
        let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
        if metadata.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let is_wanted = |name: &str| !SKIPPED.contains(&name);
            for entry in entries.filter(|entry| is_wanted(&entry.file_name().to_string_lossy())) {
                self.entry(&entry.path(), depth + 1)?;
            }
            return Ok(());
        }
        if metadata.is_file() && metadata.len() <= MAX_BYTES {
            self.file(path, &to)
        } else {
            Ok(())
        }
    }

    /// Copies a file, if it holds a skill or settings. Programs are not copied, except our own plugin.
    fn file(&mut self, path: &Path, to: &Path) -> anyhow::Result<()> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let is_plugin =
            || fs::read_to_string(path).is_ok_and(|text| hook::plugin_words(&text).is_some());
        let is_settings = matches!(&*extension, "json" | "jsonc" | "toml");
        let is_text = matches!(&*extension, "md" | "yaml" | "yml");
        if !(is_settings || is_text || extension == "js" && is_plugin()) {
            return Ok(());
        }
        self.n_files += 1;
        if self.n_files > MAX_FILES {
            let message = format!("there are more than {MAX_FILES} files of skills and settings");
            let help = "remove plugins that are not used, or run it in another directory";
            return Err(Error::new(ErrorCode::InvalidParam, message, help).into());
        }
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        if is_settings {
            // The copy is written when all paths that it may name are there.
            self.settings.push((path.to_owned(), to.to_owned()));
            fs::write(to, "")?;
        } else {
            self.has_hook |= extension == "js";
            fs::copy(path, to)?;
        }
        Ok(())
    }

    /// Sets the links of skills to their targets, in the copy if they are there.
    fn link(&self) -> io::Result<()> {
        for (link, target) in &self.links {
            let copied = self.path(target);
            let target = if copied.exists() { &copied } else { target };
            Copy::link_to(target, link)?;
        }
        Ok(())
    }

    fn clean(&mut self, original: &Original) -> io::Result<()> {
        let has_hook = Cell::new(self.has_hook);
        let is_own = |entry: &Json| {
            let is_own = hook::is_own(entry, original.agent);
            has_hook.set(has_hook.get() || is_own);
            is_own
        };
        let moved = |text: &str| self.moved(text, original);
        let keeps_model = original.agent == HookAgent::ClaudeCode;
        let rules = Rules { is_own: &is_own, moved: &moved, keeps_model };
        for (path, to) in &self.settings {
            match clean::read(path) {
                Some(settings) if is_own_settings(path, original) => {
                    clean::write(to, &without_sessions(settings))?;
                }
                Some(settings) => clean::write(to, &rules.clean(&settings))?,
                // The agent meets the same fault.
                None => fs::write(to, "{")?,
            }
        }
        let found = has_hook.get();
        self.has_hook = found;
        Ok(())
    }

    /// Returns `text` with a path at its beginning replaced by that in the copy, if there is one.
    fn moved(&self, text: &str, original: &Original) -> String {
        if let Some(rest) = text.strip_prefix("~/") {
            let path = original.home.join(rest);
            let is_elsewhere = path.exists() && !self.path(&path).exists();
            return if is_elsewhere { path.display().to_string() } else { text.to_owned() };
        }
        // A key of Codex begins with the path of a file: `FILE:EVENT:GROUP:HOOK`.
        let (path, rest) = text.split_once(':').unwrap_or((text, ""));
        let copied = self.path(Path::new(path));
        if Path::new(path).is_absolute() && copied.exists() {
            let colon = if rest.is_empty() { "" } else { ":" };
            return format!("{}{colon}{rest}", copied.display());
        }
        text.to_owned()
    }
}

/// Tells whether `path` is below a directory of skills.
fn is_in_skills(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("skills" | "skill")))
}

/// Tells whether `path` is a file of settings of this program.
fn is_own_settings(path: &Path, original: &Original) -> bool {
    path.parent().is_some_and(|dir| dir.ends_with(format!(".{}", original.brand)))
}

/// Takes out the store of sessions, in which the trial must not write.
fn without_sessions(mut settings: Json) -> Json {
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("sessions");
    }
    settings
}

#[cfg(unix)]
fn set_link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn set_link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(target, link)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn settings_and_skills_from_the_working_directory_up_are_copied_without_secrets() {
        let dir = TempDir::new().unwrap();
        let at = |path: &str| dir.path().canonicalize().unwrap().join(path);
        write(&at("home/p/.git/HEAD"), "");
        write(&at("home/p/.claude/settings.json"), r#"{"disableAllHooks": true, "apiKey": "k"}"#);
        write(&at("home/p/.claude/plugins/run.js"), "send()");
        write(&at("home/p/sub/.agents/skills/a/SKILL.md"), "---\nname: a\n---\n");
        write(&at("home/src/linked/SKILL.md"), "---\nname: linked\n---\n");
        write(&at("home/.claude/.credentials.json"), r#"{"token": "k"}"#);
        let trusted = format!(r#"{{"projects": {{"{}": {{}}}}}}"#, at("home/p").display());
        write(&at("home/.claude/settings.json"), &trusted);
        fs::create_dir_all(at("home/.claude/skills")).unwrap();
        set_link(&at("home/src/linked"), &at("home/.claude/skills/linked")).unwrap();
        let original = Original {
            agent: HookAgent::ClaudeCode,
            home: at("home"),
            user_dir: at("home/.claude"),
            project: at("home/p"),
            here: at("home/p/sub"),
            brand: "repertoire".to_owned(),
        };
        let copy = Copy::of(&original).unwrap();
        let text = |path: &str| fs::read_to_string(copy.path(&at(path))).ok();
        let settings = text("home/p/.claude/settings.json");
        assert_eq!(settings.as_deref(), Some(r#"{"disableAllHooks":true}"#));
        assert_eq!(text("home/.claude/.credentials.json"), None);
        assert_eq!(text("home/p/.claude/plugins/run.js"), None);
        assert!(text("home/p/sub/.agents/skills/a/SKILL.md").is_some());
        let user = text("home/.claude/settings.json").unwrap();
        assert!(user.contains(&copy.path(&at("home/p")).display().to_string()), "{user}");
        // A link out of everything that is copied leads where it led.
        let link = fs::read_link(copy.path(&at("home/.claude/skills/linked"))).unwrap();
        assert_eq!(link, at("home/src/linked"));
        assert!(copy.path(&at("home/p/.git")).is_dir() && !copy.has_hook);
    }
}
