//! The scan for the skill files below a root.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::inputs::Inputs;
use crate::diagnostic::{Code, Diagnostic};

/// The exact spelling of a skill file's name.
const SKILL_FILE: &str = "SKILL.md";

/// Tells whether a file of this name holds a skill: `SKILL.md` in any letter case.
pub fn is_skill_file(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(SKILL_FILE)
}

/// The skill files below `root`, one for each directory, in byte order of their paths. Skips
/// `node_modules` and hidden directories.
///
/// Follows links inside the root, but reads each directory only once, under its own path if that is
/// below the root. Reports links that leave the root, or follows them if `links_outside` is true.
pub fn skill_files(root: &Path, links_outside: bool) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    scan(root, links_outside, &mut Inputs::begin())
}

/// Finds skill files as [`skill_files`] does, and records the scanned paths in `inputs`.
pub(super) fn scan(
    root: &Path,
    links_outside: bool,
    inputs: &mut Inputs,
) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut scan = Scan {
        confined_to: (!links_outside).then(|| real_root.clone()),
        walked: BTreeSet::new(),
        links: VecDeque::new(),
        found: BTreeMap::new(),
        diagnostics: Vec::new(),
        inputs,
    };
    scan.walk(root, &real_root);
    // Follow links only after everything else was walked: a directory is then found under its own path
    // first, and no loop is walked twice.
    while let Some(link) = scan.links.pop_front() {
        scan.follow(&link);
    }
    scan.finish()
}

/// A scan in progress: the files found, and the problems.
struct Scan<'a> {
    /// The real path of the root; `None` if links may leave it.
    confined_to: Option<PathBuf>,
    /// The real paths of the directories that were walked.
    walked: BTreeSet<PathBuf>,
    /// Links to directories that were not followed yet.
    links: VecDeque<PathBuf>,
    /// Directory → its skill files.
    found: BTreeMap<PathBuf, Vec<PathBuf>>,
    diagnostics: Vec<Diagnostic>,
    inputs: &'a mut Inputs,
}

impl Scan<'_> {
    /// Walks `root`, whose real path is `real_root`. Queues the links below it instead of following
    /// them.
    fn walk(&mut self, root: &Path, real_root: &Path) {
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unreadable(&error, root);
                    continue;
                }
            };
            if entry.depth() > 0 && is_hidden(entry.file_name()) && !entry.file_type().is_file() {
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            } else if entry.depth() > 0 && entry.path_is_symlink() {
                self.visit_link(&entry);
            } else if entry.depth() == 0 || entry.file_type().is_dir() {
                let below = entry.path().strip_prefix(root).unwrap_or(Path::new(""));
                self.inputs.path(entry.path());
                if !self.walked.insert(real_root.join(below)) {
                    walk.skip_current_dir();
                } else if entry.depth() > 0 && is_skill_file(entry.file_name()) {
                    self.not_a_file(entry.path());
                }
            } else if is_skill_file(entry.file_name()) {
                self.visit_file(entry.path(), entry.file_type().is_file());
            }
        }
    }

    fn visit_file(&mut self, path: &Path, is_file: bool) {
        if is_file {
            let dir = path.parent().unwrap_or(Path::new("")).to_owned();
            self.found.entry(dir).or_default().push(path.to_owned());
        } else {
            self.not_a_file(path);
        }
    }

    fn visit_link(&mut self, entry: &DirEntry) {
        let path = entry.path();
        self.inputs.path(path);
        let is_skill = is_skill_file(entry.file_name());
        match fs::metadata(path) {
            Ok(target) if target.is_dir() => self.links.push_back(path.to_owned()),
            Ok(target) if is_skill && !self.leaves_root(path) => {
                self.visit_file(path, target.is_file());
            }
            Ok(_) => {}
            // A name with an extension suggests a file, which cannot hold a skill: do not report it.
            Err(_) if !is_skill && path.extension().is_some() => {}
            Err(error) => self.diagnostics.push(Diagnostic::new(
                Code::LinkBroken,
                path,
                format!("link leads nowhere: {error}"),
                "remove or fix the link",
            )),
        }
    }

    /// Walks the directory behind a link, unless it was walked already.
    fn follow(&mut self, link: &Path) {
        let Ok(target) = link.canonicalize() else { return };
        if self.leaves_root(link) {
            return;
        }
        let here = link.parent().and_then(|dir| dir.canonicalize().ok()).unwrap_or_default();
        if here.starts_with(&target) {
            self.diagnostics.push(Diagnostic::new(
                Code::LinkLoop,
                link,
                format!("link leads back to {}", target.display()),
                "remove the link",
            ));
        } else if !self.walked.contains(&target) {
            self.walk(link, &target);
        }
    }

    fn leaves_root(&mut self, link: &Path) -> bool {
        let Some(root) = &self.confined_to else { return false };
        let target = link.canonicalize();
        if target.as_ref().is_ok_and(|target| target.starts_with(root)) {
            return false;
        }
        let target = target.map_or_else(|e| e.to_string(), |target| target.display().to_string());
        self.diagnostics.push(Diagnostic::new(
            Code::LinkOutside,
            link,
            format!("link leaves its source ({target}) and was not followed"),
            "copy the skill into the source, or add its directory as a source of its own",
        ));
        true
    }

    fn not_a_file(&mut self, path: &Path) {
        self.diagnostics.push(Diagnostic::new(
            Code::NotAFile,
            path,
            format!("`{SKILL_FILE}` is not a file"),
            "put the skill's instructions into a file of that name, or rename this",
        ));
    }

    fn unreadable(&mut self, error: &walkdir::Error, root: &Path) {
        let path = error.path().unwrap_or(root);
        let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
        let help = "check the permissions of the directory";
        let message = format!("cannot be read: {cause}");
        self.diagnostics.push(Diagnostic::new(Code::Unreadable, path, message, help));
    }

    /// Returns the files found. If a directory has several spellings of the name, picks the exact one,
    /// or else the first in byte order.
    fn finish(mut self) -> (Vec<PathBuf>, Vec<Diagnostic>) {
        let mut files = Vec::with_capacity(self.found.len());
        for mut spellings in std::mem::take(&mut self.found).into_values() {
            spellings.sort_by_key(|path| path.file_name() != Some(SKILL_FILE.as_ref()));
            let winner = spellings.remove(0);
            for path in spellings {
                self.diagnostics.push(Diagnostic::new(
                    Code::TwoSpellings,
                    &path,
                    format!("{} is read instead", winner.display()),
                    format!("keep one file, named `{SKILL_FILE}`"),
                ));
            }
            files.push(winner);
        }
        files.sort_unstable_by(|a, b| {
            a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
        });
        (files, self.diagnostics)
    }
}

fn is_hidden(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || name == b"node_modules"
}
