//! Reviews the files of a skill besides its `SKILL.md`: reports hidden files and links that leave the
//! skill, and collects the texts to check.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::diagnostic::{Code, Diagnostic};
use crate::skill::check::links;

/// The most files of a skill that are looked at.
const MAX_FILES: usize = 2_000;
/// The largest text that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Hidden files of common tools that offer no place to hide anything; they are not reported.
const HARMLESS: [&str; 5] =
    [".gitignore", ".gitattributes", ".gitkeep", ".editorconfig", ".DS_Store"];

/// The result of looking through the directory of a skill.
#[derive(Default)]
pub(super) struct Below {
    pub(super) findings: Vec<Diagnostic>,
    /// The files that are text, except for the `SKILL.md`.
    pub(super) texts: Vec<(PathBuf, String)>,
}

/// Looks through the directory of a skill, but not through the directories of its sub-skills.
pub(super) fn below(directory: &Path) -> Below {
    let mut below = Below::default();
    let mut walk = WalkDir::new(directory).min_depth(1).sort_by_file_name().into_iter();
    let mut n_files = 0;
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() && is_skill(entry.path()) {
            walk.skip_current_dir();
            continue;
        }
        n_files += 1;
        if n_files > MAX_FILES {
            let message =
                format!("the skill has more than {MAX_FILES} files; the rest was not looked at");
            let help = "leave out what the skill does not need";
            below.findings.push(Diagnostic::new(Code::HiddenFile, directory, message, help));
            break;
        }
        if below.note(&entry, directory) && entry.file_type().is_dir() {
            walk.skip_current_dir();
        }
    }
    below
}

impl Below {
    /// Examines an entry. Returns true if it is hidden or `node_modules`; such a directory is reported
    /// as a whole.
    fn note(&mut self, entry: &DirEntry, directory: &Path) -> bool {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy();
        let is_hidden = name.starts_with('.') && !HARMLESS.contains(&&*name);
        let is_modules = entry.file_type().is_dir() && name == "node_modules";
        if is_hidden || is_modules {
            let message = format!("`{name}` is in the skill, and no listing of its files shows it");
            let help = "look into it, or remove it: it is installed with the skill, and scripts can read it";
            self.findings.push(Diagnostic::new(Code::HiddenFile, path, message, help));
        }
        if entry.file_type().is_symlink() {
            self.link(path, directory);
        } else if entry.file_type().is_file() && !is_skill_file(&name) {
            self.file(entry);
        }
        is_hidden || is_modules
    }

    fn link(&mut self, path: &Path, directory: &Path) {
        let root = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let target = fs::read_link(path).unwrap_or_default();
        let is_inside = path.canonicalize().map_or_else(
            // The target does not exist, so its path is judged by its names alone.
            |_| {
                let from = path.parent().and_then(|parent| parent.strip_prefix(directory).ok());
                !links::leaves(&from.unwrap_or(Path::new("")).join(&target))
            },
            |leads_to| leads_to.starts_with(&root),
        );
        if is_inside {
            return;
        }
        let message = format!("the link leads out of the skill, to `{}`", target.display());
        let help = "put a copy of the file in its place, or remove it";
        self.findings.push(Diagnostic::new(Code::LeavingLink, path, message, help));
    }

    fn file(&mut self, entry: &DirEntry) {
        let Ok(metadata) = entry.metadata() else { return };
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&metadata) > 1 {
            let message = "the file has another name (a hard link), which may be anywhere";
            let help = "put a copy of the file in its place";
            self.findings.push(Diagnostic::new(Code::LeavingLink, entry.path(), message, help));
        }
        if metadata.len() <= MAX_BYTES
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            self.texts.push((entry.path().to_owned(), text));
        }
    }
}

fn is_skill_file(name: &str) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}

fn is_skill(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name()).any(|name| name.to_str().is_some_and(is_skill_file))
}
