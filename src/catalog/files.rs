//! The files that come with a skill, and the parts of its directory that do not belong to it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use repertoire_system::confined::{Dir, Entry, Kind, Links, plain};
use serde::Serialize;

use super::passed_over::{is_hidden, is_made_by_tools};
use super::provided_files::ProvidedFiles;
use super::scan::is_skill_file;
use super::sub_skill::{Entered, enter, is_skill};
use crate::error::{Error, ErrorCode};
use crate::skill::Skill;

/// The most files that are named beside the instructions of a skill.
pub const MAX_BUNDLED_FILES: usize = 20;

/// The largest text whose lines can be read, in bytes. The whole text is searched for line ends.
pub(crate) const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// The most directory entries that are read in one skill.
pub(crate) const MAX_ENTRIES: usize = 10_000;

/// The files that come with a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BundledFiles {
    /// Paths below the skill's directory, separated by `/`. Files of lower depth come first, in byte
    /// order within each depth: files that the `SKILL.md` refers to are usually near it, and a directory
    /// of a hundred icons further down does not displace them.
    pub files: Vec<String>,
    /// The number of further files, including files that cannot be read: files whose name is not UTF-8
    /// or has a backslash or a control character, files with a second name (hard links), and files over
    /// 16 MiB.
    pub more: usize,
    /// True if the whole directory was read. If it has more than 10,000 entries, or parts that cannot be
    /// read, this is false and `more` is a lower bound.
    pub complete: bool,
}

/// Lists the first `limit` files that come with the skill in `dir`: all regular files below it except
/// for its `SKILL.md`, hidden files and directories, `node_modules`, `__pycache__`, and sub-skills.
/// Links are left out, too.
///
/// Fails with `NOT_FOUND` if the directory cannot be read.
pub fn bundled_files(dir: &Path, limit: usize) -> Result<BundledFiles, Error> {
    let root = Dir::open(dir).map_err(|error| no_directory(dir, &error))?;
    let mut found = find(&root);
    let n_files = found.files.len();
    let readable = found.files.into_iter().filter(|file| is_readable(&dir.join(file)));
    found.files = readable.take(limit).collect();
    found.more += n_files - found.files.len();
    Ok(found)
}

/// Lists the first `limit` files that come with a skill, in its directory or from its provider; see
/// [`bundled_files`]. A skill in memory has none.
///
/// Fails with `NOT_FOUND` if the skill's directory cannot be read.
pub fn files_of(skill: &Skill, limit: usize) -> Result<BundledFiles, Error> {
    if let Some(dir) = skill.dir() {
        return bundled_files(dir, limit);
    }
    let mut found = BundledFiles::none();
    if let Some(files) = ProvidedFiles::of(skill) {
        found.files = files.list();
        found.more = found.files.len().saturating_sub(limit);
        found.files.truncate(limit);
    }
    Ok(found)
}

/// Tells whether the file at `path` can be read as a resource, judged by its metadata alone.
fn is_readable(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|file| has_one_name(&file) && file.len() <= MAX_TEXT_BYTES as u64)
}

/// Tells whether a skill has a directory `path` that may contain its files.
pub fn has_directory(skill: &Skill, path: &str) -> bool {
    let Ok(path) = plain(path) else { return false };
    if path.split('/').any(is_hidden) {
        return false;
    }
    let Some(dir) = skill.dir() else {
        let below = format!("{path}/");
        let files = ProvidedFiles::of(skill).map(|files| files.list()).unwrap_or_default();
        return files.iter().any(|file| file.starts_with(&below));
    };
    Dir::open(dir)
        .and_then(|root| enter(root, Path::new(&path)))
        .is_ok_and(|entered| matches!(entered, Entered::Dir(_)))
}

impl BundledFiles {
    /// Returns the files to name beside the instructions of a skill; none if its directory cannot be read.
    pub(crate) fn of(skill: &Skill) -> BundledFiles {
        files_of(skill, MAX_BUNDLED_FILES).unwrap_or_else(|error| {
            tracing::warn!(%error, "files cannot be listed");
            BundledFiles::none()
        })
    }

    fn none() -> BundledFiles {
        BundledFiles { files: Vec::new(), more: 0, complete: true }
    }
}

/// Returns up to three files of the skill in `root` that `path` may be a misspelling of, the most
/// similar first.
pub(crate) fn nearest_files(root: &Dir, path: &str) -> Vec<String> {
    nearest(find(root).files, path)
}

/// Returns up to three of `files` that `path` may be a misspelling of, the most similar first.
pub(crate) fn nearest(files: Vec<String>, path: &str) -> Vec<String> {
    const LEAST_SIMILARITY: f64 = 0.8;
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let (wanted, wanted_name) = (path.to_lowercase(), name(path));
    let similarity = |file: &String| {
        let of_path = strsim::jaro_winkler(&wanted, &file.to_lowercase());
        of_path.max(strsim::jaro_winkler(&wanted_name, &name(file)))
    };
    let scored = files.into_iter().map(|file| (similarity(&file), file));
    let mut near: Vec<_> = scored.filter(|(score, _)| *score >= LEAST_SIMILARITY).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(3).map(|(_, file)| file).collect()
}

/// Finds all files that have a valid name, whether they can be read or not. Walks the directory
/// breadth-first, so that files near the top are found however much is below them.
fn find(root: &Dir) -> BundledFiles {
    let mut found = BundledFiles { files: Vec::new(), more: 0, complete: true };
    let mut n_left = MAX_ENTRIES;
    let mut level = vec![String::new()];
    while !level.is_empty() {
        let n_shallower = found.files.len();
        let mut deeper = Vec::new();
        for path in level {
            let dir = if path.is_empty() { "." } else { &path };
            let listing =
                root.dir(Path::new(dir), Links::Never).and_then(|dir| list(&dir, &mut n_left));
            let Ok(Listing { entries, complete }) = listing else {
                found.complete = false;
                continue;
            };
            found.complete &= complete;
            // A directory that was only read in part may be a sub-skill, so it is skipped.
            if !path.is_empty() && (!complete || holds_skill(&entries)) {
                continue;
            }
            for Entry { name, kind } in entries.iter().filter(|entry| is_shown(entry, &path)) {
                match (kind, name.to_str()) {
                    (Kind::File, Some(name)) if plain(name).is_ok() => {
                        found.files.push(join(&path, name));
                    }
                    (Kind::File, _) => found.more += 1,
                    (Kind::Dir, Some(name)) if plain(name).is_ok() => {
                        deeper.push(join(&path, name));
                    }
                    (Kind::Dir, _) => found.complete = false,
                    (Kind::Link | Kind::Other, _) => {}
                }
            }
        }
        found.files[n_shallower..].sort_unstable();
        deeper.sort_unstable();
        level = deeper;
    }
    found
}

fn is_shown(entry: &Entry, dir: &str) -> bool {
    let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
    let is_own_skill_file = dir.is_empty() && is_skill_file(&entry.name);
    !(is_hidden || is_own_skill_file || is_made_by_tools(&entry.name))
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

/// The entries of a directory, in byte order of their names.
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// True if `entries` is not cut off.
    pub(crate) complete: bool,
}

/// Lists at most `n_left` entries of `dir`, and lowers `n_left` by their number.
pub(crate) fn list(dir: &Dir, n_left: &mut usize) -> io::Result<Listing> {
    let mut entries = Vec::new();
    let mut complete = true;
    for entry in dir.entries()? {
        if *n_left == 0 {
            complete = false;
            break;
        }
        *n_left -= 1;
        entries.push(entry?);
    }
    entries.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
    Ok(Listing { entries, complete })
}

/// Tells whether a directory with these entries is a skill.
pub(crate) fn holds_skill(entries: &[Entry]) -> bool {
    entries.iter().any(is_skill)
}

/// Tells whether `file` has only the name by which it was found. A file with a second name (hard link)
/// may belong to somebody else, outside of the skill. Always true on systems that do not count names.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no names to count"))]
pub(crate) fn has_one_name(file: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(file) == 1;
    #[cfg(not(unix))]
    return true;
}

/// Tells whether the mode of `file` lets at least one user execute it; always false on systems without
/// modes.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there is no mode to look at"))]
pub(crate) fn is_executable(file: &File) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|metadata| {
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
    });
    #[cfg(not(unix))]
    return false;
}

pub(crate) fn no_directory(dir: &Path, error: &io::Error) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("the skill's directory {} cannot be read: {error}", dir.display()),
        "check that it still exists and may be read; load the skills again if they have moved",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::ffi::OsStr;

    use super::*;

    fn skill(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        dir
    }

    #[test]
    fn files_of_the_skill_come_shallow_first_and_nothing_else() {
        let dir = skill(&[
            "skill.MD",
            "zebra.txt",
            "Alpha.md",
            "a/b/deep.md",
            "references/one.md",
            "references/SKILL.txt",
            ".env",
            ".github/ci.yml",
            ".git/config",
            "x/node_modules/m.js",
            "scripts/__pycache__/a.pyc",
            "scripts/a.py",
            "sub/SKILL.md",
            "sub/other.md",
            "a/sub/skill.md",
            "a/sub/c/other.md",
            "a/sub.md",
        ]);
        let found = bundled_files(dir.path(), 20).unwrap();
        let all = [
            "Alpha.md", "zebra.txt", "a/sub.md", "references/SKILL.txt", "references/one.md",
            "scripts/a.py", "a/b/deep.md",
        ];
        assert_eq!(found.files, all);
        assert_eq!((found.more, found.complete), (0, true));
        let found = bundled_files(dir.path(), 2).unwrap();
        assert_eq!((found.files.as_slice(), found.more), (&all.map(String::from)[..2], 5));
        let error = bundled_files(&dir.path().join("missing"), 2).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
        assert!(error.message().contains("missing"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_files_and_names_nobody_can_write_are_counted() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = skill(&["SKILL.md", "a.md", "back\\slash", "line\nbreak"]);
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff")), "x").unwrap();
        std::os::unix::fs::symlink("a.md", dir.path().join("link.md")).unwrap();
        std::os::unix::fs::symlink("..", dir.path().join("up")).unwrap();
        let found = bundled_files(dir.path(), 20).unwrap();
        assert_eq!(found, BundledFiles { files: vec!["a.md".into()], more: 3, complete: true });
    }

    #[test]
    fn a_huge_directory_ends_the_search_but_not_the_answer() {
        let dir = skill(&["SKILL.md", "near.md", "huge/deep/never.md"]);
        for n in 0..MAX_ENTRIES {
            fs::write(dir.path().join(format!("huge/{n}")), "").unwrap();
        }
        let found = bundled_files(dir.path(), 20).unwrap();
        assert_eq!(found, BundledFiles { files: vec!["near.md".into()], more: 0, complete: false });
    }

    #[test]
    fn misspelt_files_are_recognised_by_path_or_name() {
        let dir = skill(&["SKILL.md", "references/forms.md", "assets/logo.png"]);
        let root = Dir::open(dir.path()).unwrap();
        for (wanted, nearest) in [
            ("reference/forms.md", Some("references/forms.md")),
            ("FORMS.md", Some("references/forms.md")),
            ("logo.png", Some("assets/logo.png")),
            ("quite-different", None),
        ] {
            let found = nearest_files(&root, wanted);
            assert_eq!(found.first().map(String::as_str), nearest, "{wanted}");
        }
    }
}
