//! Finding the skill files below a root.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::diagnostic::{Code, Diagnostic};

/// The exact spelling of a skill file's name.
const SKILL_FILE: &str = "SKILL.md";

/// A scan in progress: what it has found, and what went wrong.
struct Scan<'a> {
    root: &'a Path,
    /// The root without links; `None` if links may leave it.
    confined_to: Option<PathBuf>,
    /// Directory → its skill files.
    found: BTreeMap<PathBuf, Vec<PathBuf>>,
    diagnostics: Vec<Diagnostic>,
}

/// The skill files below `root`, one a directory, in byte order of their paths; never from
/// `node_modules` or hidden directories. Links inside the root are followed; one that leaves it is
/// reported, unless `links_outside`.
pub fn skill_files(root: &Path, links_outside: bool) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let mut scan = Scan {
        root,
        confined_to: if links_outside { None } else { root.canonicalize().ok() },
        found: BTreeMap::new(),
        diagnostics: Vec::new(),
    };
    let mut walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        match entry {
            Ok(entry) if scan.is_skipped(&entry) => {
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            }
            Ok(entry) => scan.visit(&entry),
            Err(error) => scan.report(&error),
        }
    }
    scan.finish()
}

impl Scan<'_> {
    fn is_skipped(&mut self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return false;
        }
        let name = entry.file_name().as_encoded_bytes();
        let is_dir = entry.file_type().is_dir();
        if is_dir && (name.starts_with(b".") || name == b"node_modules") {
            return true;
        }
        entry.path_is_symlink()
            && (is_dir || is_skill_file(entry.file_name()))
            && self.leaves_root(entry)
    }

    fn leaves_root(&mut self, entry: &DirEntry) -> bool {
        let Some(root) = &self.confined_to else { return false };
        let target = entry.path().canonicalize();
        if target.as_ref().is_ok_and(|target| target.starts_with(root)) {
            return false;
        }
        let target = target.map_or_else(|e| e.to_string(), |target| target.display().to_string());
        self.diagnostics.push(Diagnostic::new(
            Code::LinkOutside,
            entry.path(),
            format!("link leaves its source ({target}) and was not followed"),
            "copy the skill into the source, or add its directory as a source of its own",
        ));
        true
    }

    fn visit(&mut self, entry: &DirEntry) {
        if !is_skill_file(entry.file_name()) || entry.depth() == 0 {
            return;
        }
        if !entry.file_type().is_file() {
            self.diagnostics.push(Diagnostic::new(
                Code::NotAFile,
                entry.path(),
                format!("`{SKILL_FILE}` is not a file"),
                "put the skill's instructions into a file of that name, or rename this",
            ));
            return;
        }
        let dir = entry.path().parent().unwrap_or(self.root).to_owned();
        self.found.entry(dir).or_default().push(entry.path().to_owned());
    }

    fn report(&mut self, error: &walkdir::Error) {
        let path = error.path().unwrap_or(self.root);
        let finding = if let Some(ancestor) = error.loop_ancestor() {
            Diagnostic::new(
                Code::LinkLoop,
                path,
                format!("link leads back to {}", ancestor.display()),
                "remove the link",
            )
        } else if path.is_symlink() {
            Diagnostic::new(Code::LinkBroken, path, "link leads nowhere", "remove or mend the link")
        } else {
            let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
            let help = "check the permissions of the directory";
            Diagnostic::new(Code::Unreadable, path, format!("cannot be read: {cause}"), help)
        };
        self.diagnostics.push(finding);
    }

    /// Of two spellings in one directory, the exact one wins, else the first in byte order.
    fn finish(mut self) -> (Vec<PathBuf>, Vec<Diagnostic>) {
        let mut files = Vec::with_capacity(self.found.len());
        for spellings in std::mem::take(&mut self.found).into_values() {
            let exact = spellings.iter().position(|p| p.file_name() == Some(SKILL_FILE.as_ref()));
            let winner = exact.unwrap_or(0);
            for (place, path) in spellings.iter().enumerate() {
                if place == winner {
                    files.push(path.clone());
                } else {
                    self.diagnostics.push(Diagnostic::new(
                        Code::TwoSpellings,
                        path,
                        format!("{} is read instead", spellings[winner].display()),
                        format!("keep one file, named `{SKILL_FILE}`"),
                    ));
                }
            }
        }
        files.sort_unstable_by(|a, b| {
            a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
        });
        (files, self.diagnostics)
    }
}

fn is_skill_file(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(SKILL_FILE)
}
