//! Finds files that git ignores: users who fetch the skills from a repository do not get them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;
use repertoire_fetch::{
    Fetcher, FileCallback, Location, LockedFile, SourceProvider, SourceTree, TreeEntry,
};

/// Returns the files that are fetched from the directory `dir`, but that other users do not get, or
/// get with other content, if they fetch from the repository that contains it. Paths are those in a
/// copy.
pub(super) fn missing_for_others(
    fetcher: &Fetcher,
    dir: &Path,
    settings: &FetchSettings,
) -> Result<Vec<String>, Error> {
    let ignored = ignored(dir);
    if ignored.is_empty() {
        return Ok(Vec::new());
    }
    let ours = fetcher.fetch(settings, dir)?.files;
    let provider = fetcher.provider(&Location::parse(&settings.source, dir)?, None)?;
    let theirs = match fetcher.fetch_from(&Visible { provider, ignored }, settings, None) {
        Ok(others) => others.files,
        // Git ignores all skills.
        Err(error) if error.code() == ErrorCode::NotFound => BTreeMap::new(),
        Err(error) => return Err(error),
    };
    let is_missing = |(path, file): &(String, LockedFile)| {
        theirs.get(path).is_none_or(|same| same.sha256 != file.sha256)
    };
    Ok(ours.into_iter().filter(is_missing).map(|(path, _)| path).collect())
}

/// Returns the files below a directory that git ignores, by their paths in it; none without a
/// repository or without git.
fn ignored(dir: &Path) -> BTreeSet<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(["-c", "core.fsmonitor=false"]);
    git.args(["ls-files", "--others", "--ignored", "--exclude-standard", "-z"]);
    // The directory may be somebody else's, unpacked with its `.git/config`. What is missing there is not asked for:
    // that would run a program which this file names. Versions of git before 2.45 know only the second variable.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    // Inside a git hook, these variables name the repository, relative to another directory.
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        git.env_remove(name);
    }
    let listed = git.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

/// A source without the files that git ignores.
struct Visible {
    provider: Box<dyn SourceProvider>,
    ignored: BTreeSet<String>,
}

impl SourceProvider for Visible {
    fn newest(&self) -> Result<Option<String>, Error> {
        self.provider.newest()
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let tree = self.provider.open(revision)?;
        let is_visible = |entry: &&TreeEntry| !self.ignored.contains(&entry.path);
        let entries = tree.entries().iter().filter(is_visible).cloned().collect();
        Ok(Box::new(VisibleTree { tree, entries }))
    }
}

struct VisibleTree {
    tree: Box<dyn SourceTree>,
    entries: Vec<TreeEntry>,
}

impl SourceTree for VisibleTree {
    fn revision(&self) -> Option<&str> {
        self.tree.revision()
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        self.tree.read(files, take)
    }
}
