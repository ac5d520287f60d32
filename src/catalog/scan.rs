//! The scan for the skill files below a root.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::inputs::Inputs;
use super::links::{COPY_MARK, Leads, LinkRules, is_hidden};
use super::source::{Source, without_repetitions};
use crate::diagnostic::{Code, Diagnostic};
use crate::provider::Provided;

/// The exact spelling of a skill file's name.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// Tells whether a file of this name holds a skill: `SKILL.md` in any letter case.
pub fn is_skill_file(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(SKILL_FILE)
}

/// The skill files below the root of `source`, one for each directory, in byte order of their paths.
/// Skips `node_modules` and hidden directories.
///
/// Follows links as [`Source`] describes, but reads each directory only once, under its own path if that
/// is below the root. A link into another source of those `among` which this one is used is skipped, as
/// that source has the skill.
pub fn skill_files(source: &Source, among: &[Source]) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let rules = LinkRules::of(source, among);
    let Some(root) = source.root() else { return (Vec::new(), Vec::new()) };
    let Scanned { files, findings, .. } = scan(root, rules, &source.without, &mut Inputs::begin());
    (files, findings)
}

/// The result of a scan.
pub(super) struct Scanned {
    /// The skill files, in byte order of their paths.
    pub(super) files: Vec<PathBuf>,
    /// The real paths of those files that are behind links out of the source, by their paths.
    pub(super) linked: BTreeMap<PathBuf, PathBuf>,
    /// The directories of copies of fetched skills.
    pub(super) copies: Vec<PathBuf>,
    pub(super) findings: Vec<Diagnostic>,
}

/// Finds skill files as [`skill_files`] does, and records the scanned paths in `inputs`.
pub(super) fn scan(
    root: &Path,
    rules: LinkRules,
    without: &[PathBuf],
    inputs: &mut Inputs,
) -> Scanned {
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut scan = Scan {
        rules,
        without,
        real_root: real_root.clone(),
        walked: BTreeSet::new(),
        links: VecDeque::new(),
        found: BTreeMap::new(),
        copies: Vec::new(),
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
    rules: LinkRules,
    /// The real paths of directories that are skipped.
    without: &'a [PathBuf],
    real_root: PathBuf,
    /// The real paths of the directories that were walked.
    walked: BTreeSet<PathBuf>,
    /// Links to directories that were not followed yet.
    links: VecDeque<PathBuf>,
    /// Directory → its skill files, each with its real path if that is outside of the root.
    found: Found,
    copies: Vec<PathBuf>,
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
                let real = real_root.join(below);
                if self.without.contains(&real) || !self.walked.insert(real) {
                    walk.skip_current_dir();
                } else if entry.depth() > 0 && is_skill_file(entry.file_name()) {
                    self.not_a_file(entry.path());
                }
            } else if entry.file_name() == COPY_MARK {
                self.copies.extend(entry.path().parent().map(Path::to_owned));
            } else if is_skill_file(entry.file_name()) {
                let below = entry.path().strip_prefix(root).unwrap_or(Path::new(""));
                self.visit_file(entry.path(), &real_root.join(below), entry.file_type().is_file());
            }
        }
    }

    /// Adds the file at `path`, whose real path is `real`.
    fn visit_file(&mut self, path: &Path, real: &Path, is_file: bool) {
        if is_file {
            let dir = path.parent().unwrap_or(Path::new("")).to_owned();
            let real = (!real.starts_with(&self.real_root)).then(|| real.to_owned());
            self.found.entry(dir).or_default().push((path.to_owned(), real));
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
            Ok(target) if is_skill => {
                if let Some(real) = self.allowed_target(path) {
                    self.visit_file(path, &real, target.is_file());
                }
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
        let Some(target) = self.allowed_target(link) else { return };
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

    /// Returns the real path of a link that may be followed. Reports a link that leaves the source.
    fn allowed_target(&mut self, link: &Path) -> Option<PathBuf> {
        let target = link.canonicalize();
        match self.rules.decide(link, target.as_deref().ok()) {
            Leads::Inside => return target.ok(),
            Leads::ToAnotherSource => return None,
            Leads::Outside => {}
        }
        let target = target.map_or_else(|e| e.to_string(), |target| target.display().to_string());
        self.diagnostics.push(Diagnostic::new(
            Code::LinkOutside,
            link,
            format!("link leaves its source ({target}) and was not followed"),
            "copy the skill into the source, or add its directory as a source of its own",
        ));
        None
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
    fn finish(self) -> Scanned {
        Scanned { copies: self.copies, ..one_in_each(self.found, self.diagnostics) }
    }
}

/// The skill files found, by directory, each with its real path if that is outside of the root.
type Found = BTreeMap<PathBuf, Vec<(PathBuf, Option<PathBuf>)>>;

/// Picks one file of each directory; see [`Scan::finish`].
fn one_in_each(found: Found, mut findings: Vec<Diagnostic>) -> Scanned {
    let mut files = Vec::with_capacity(found.len());
    let mut linked = BTreeMap::new();
    for mut spellings in found.into_values() {
        spellings.sort_by_key(|(path, _)| path.file_name() != Some(SKILL_FILE.as_ref()));
        let (winner, real) = spellings.remove(0);
        for (path, _) in spellings {
            findings.push(Diagnostic::new(
                Code::TwoSpellings,
                &path,
                format!("{} is read instead", winner.display()),
                format!("keep one file, named `{SKILL_FILE}`"),
            ));
        }
        linked.extend(real.map(|real| (winner.clone(), real)));
        files.push(winner);
    }
    files.sort_unstable_by(|a, b| {
        a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
    });
    Scanned { files, linked, copies: Vec::new(), findings }
}

/// Scans each source, lowest precedence first; `None` for skills in memory, and for a directory that is
/// missing. If links of several sources lead to the same file, only the source of the highest precedence has
/// it.
pub(super) fn scan_all<'s>(
    sources: &'s [Source],
    inputs: &mut Inputs,
) -> Vec<(&'s Source, Option<Scanned>)> {
    let mut scan_one = |source: &'s Source| {
        if let Some(provided) = source.provider() {
            return (source, Some(scan_provided(provided, inputs)));
        }
        let root = source.root().filter(|root| root.is_dir());
        (
            source,
            root.map(|root| scan(root, LinkRules::of(source, sources), &source.without, inputs)),
        )
    };
    let mut scanned: Vec<_> = without_repetitions(sources).into_iter().map(&mut scan_one).collect();
    let mut seen = BTreeSet::new();
    for Scanned { files, linked, .. } in scanned.iter_mut().rev().filter_map(|(_, s)| s.as_mut()) {
        files.retain(|file| linked.get(file).is_none_or(|real| seen.insert(real.clone())));
    }
    scanned
}

/// Finds the skill files that a provider lists, by their locations, and records the listing in `inputs`.
fn scan_provided(provided: &Provided, inputs: &mut Inputs) -> Scanned {
    let listing = inputs.listing(provided);
    let mut found = Found::new();
    for path in listing.files.keys() {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_skipped = |part: &str| is_hidden(part.as_ref());
        if is_skill_file(name.as_ref()) && !dir.split('/').any(is_skipped) {
            found.entry(provided.location(dir)).or_default().push((provided.location(path), None));
        }
    }
    let refused = listing.refused.iter().map(|(path, why)| {
        let path = path.escape_debug();
        let message =
            format!("the provider lists `{path}`, which is not the path of a file: {why}");
        let help = "list files by relative paths such as `code-review/SKILL.md`";
        Diagnostic::new(Code::Unreadable, provided.root(), message, help)
    });
    let problem = listing.problem.iter().map(|problem| {
        let message = format!("the files cannot be listed; those known before are used: {problem}");
        let help = "mend what it reports, and refresh the engine";
        Diagnostic::new(Code::Unreadable, provided.root(), message, help)
    });
    one_in_each(found, refused.chain(problem).collect())
}
