//! Git repositories, by the system's `git`: fetched without a working tree, and read object by object.
//! No files are checked out, and no filter or hook of the repository is used. Submodules that may hold skills
//! are repositories of their own, whose entries stand in the place of the submodule.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;

use super::layout::MARKETPLACE;
use super::limits::{Deadline, FetchLimits};
use super::program::{Run, bytes_below, git, git_in};
use super::provider::{FileCallback, SUBMODULE, SourceProvider, SourceTree, TreeEntry, TreeKind};
use super::scratch::scratch_dir;
use super::submodules::{self, MAX_DEPTH, MAX_SUBMODULES};
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;
use repertoire_system::private_dir::PrivateDir;

/// The size limit of the list of names of a repository, in bytes.
const MAX_LISTING_BYTES: u64 = 64 << 20;

/// The size limit of `.gitmodules`, and of the list of plugins of a marketplace, in bytes.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// The longest target of a link, in bytes.
const MAX_LINK_BYTES: u64 = 4096;

/// The reference under which a fetched commit is kept.
const FETCHED: &str = "refs/repertoire/fetched";

/// A git repository.
#[derive(Clone)]
pub(super) struct Git {
    pub(super) url: String,
    /// The branch, tag or commit; `None` for the default branch.
    pub(super) rev: Option<String>,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
    /// The directory for temporary repositories.
    pub(super) scratch: std::path::PathBuf,
    /// The settings of the source, by which submodules are chosen.
    pub(super) settings: FetchSettings,
}

impl SourceProvider for Git {
    fn newest(&self) -> Result<Option<String>, Error> {
        let rev = self.rev.as_deref().unwrap_or("HEAD");
        // The full hash of a commit.
        if matches!(rev.len(), 40 | 64) && is_part_of_commit(rev) {
            return Ok(Some(rev.to_ascii_lowercase()));
        }
        let nowhere = scratch_dir(&self.scratch)?;
        let mut command = git(nowhere.path());
        command.args(["ls-remote", "--quiet", "--", &self.url, rev, &format!("{rev}^{{}}")]);
        let listed = self.run(None).output(&mut command, MAX_LISTING_BYTES)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let find = |name: &str| {
            let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
            lines.find(|(_, known)| *known == name).map(|(commit, _)| commit.to_owned())
        };
        // The places in which git looks for a name, in its order. An annotated tag stands for the commit
        // that it names.
        let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let mut names = places.iter().map(|place| format!("{place}{rev}"));
        let commit = names.find_map(|name| find(&format!("{name}^{{}}")).or_else(|| find(&name)));
        match commit {
            None if !is_part_of_commit(rev) => Err(self.no_revision(rev)),
            commit => Ok(commit),
        }
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let rev = revision.or(self.rev.as_deref()).unwrap_or("HEAD");
        Ok(Box::new(self.open_at(rev, 0)?))
    }
}

impl Git {
    /// Opens the repository, which is a submodule of a submodule if `depth` is 2.
    fn open_at(&self, rev: &str, depth: usize) -> Result<GitTree, Error> {
        let is_sha256 = rev.len() == 64 && is_part_of_commit(rev);
        let (dir, commit) = match self.fetch_new(rev, is_sha256) {
            Err(error) if is_other_format(&error) && is_sha256 => Err(self.no_revision(rev)),
            Err(error) if is_other_format(&error) => self.fetch_new(rev, true),
            fetched => fetched,
        }?;
        let (entries, modules) = (Vec::new(), Vec::new());
        let mut tree = GitTree { repository: self.clone(), dir, commit, entries, modules };
        let submodules = tree.list()?;
        if depth < MAX_DEPTH && !submodules.is_empty() {
            tree.open_submodules(submodules, depth)?;
        }
        Ok(tree)
    }

    /// Fetches one commit into a new temporary repository, whose hashes are SHA-1 or SHA-256, and
    /// returns it with the hash of the commit.
    fn fetch_new(&self, rev: &str, is_sha256: bool) -> Result<(PrivateDir, String), Error> {
        let dir = scratch_dir(&self.scratch)?;
        let mut command = git(dir.path());
        command.args(["init", "--quiet", "--bare", "--template="]);
        // Old versions of git do not know this option.
        command.args(is_sha256.then_some("--object-format=sha256")).args(["--", "."]);
        self.run(None).output(&mut command, MAX_LISTING_BYTES)?;
        let commit = self.fetch(dir.path(), rev)?;
        Ok((dir, commit))
    }

    fn run<'a>(&'a self, dir: Option<&'a Path>) -> Run<'a> {
        let growth = dir.map(|dir| (dir, self.limits.transfer_bytes));
        Run { source: &self.url, deadline: &self.deadline, growth }
    }

    fn no_revision(&self, rev: &str) -> Error {
        let message = format!("{} has no branch, tag or commit `{rev}`", self.url);
        let help = "what follows `#` is a branch, a tag or a commit; a skill or its directory is named by \
                    `--skill`";
        Error::new(ErrorCode::NotFound, message, help)
    }

    /// Fetches one commit, and returns its hash. If the server does not serve the commit by its hash,
    /// fetches all branches and tags.
    fn fetch(&self, dir: &Path, rev: &str) -> Result<String, Error> {
        let fetch = |depth: Option<&str>, refs: &[&str]| {
            let mut command = git_in(dir);
            command.args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]);
            command.args(["--no-write-fetch-head", "--no-auto-maintenance"]).args(depth);
            command.arg("--").arg(&self.url).args(refs);
            self.run(Some(dir)).output(&mut command, MAX_LISTING_BYTES)
        };
        let one = format!("+{rev}:{FETCHED}");
        match fetch(Some("--depth=1"), &[&one]) {
            Ok(_) => return self.commit(dir, FETCHED),
            Err(error) if error.code() != ErrorCode::ExecutionError => return Err(error),
            Err(error) if !is_part_of_commit(rev) => {
                let is_missing = error.message().contains("couldn't find remote ref");
                return Err(if is_missing { self.no_revision(rev) } else { error });
            }
            Err(_) => {}
        }
        let all = ["+refs/heads/*:refs/repertoire/heads/*", "+refs/tags/*:refs/repertoire/tags/*"];
        fetch(None, &all)?;
        self.commit(dir, rev).map_err(|_| self.no_revision(rev))
    }

    fn commit(&self, dir: &Path, name: &str) -> Result<String, Error> {
        let mut command = git_in(dir);
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        command.arg(format!("{name}^{{commit}}"));
        let hash = self.run(None).output(&mut command, 1024)?;
        Ok(String::from_utf8_lossy(&hash).trim().to_owned())
    }
}

/// Tells whether a fetch failed because the repository has hashes of another kind: in versions 2 and 0
/// of git's protocol.
fn is_other_format(error: &Error) -> bool {
    ["mismatched algorithms", "does not support this repository's object format"]
        .iter()
        .any(|message| error.message().contains(message))
}

fn is_part_of_commit(rev: &str) -> bool {
    rev.len() >= 7 && rev.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A commit in a temporary repository. Dropping it removes the repository.
struct GitTree {
    repository: Git,
    dir: PrivateDir,
    commit: String,
    entries: Vec<TreeEntry>,
    /// The submodules whose entries are among these, by their paths.
    modules: Vec<(String, GitTree)>,
}

impl SourceTree for GitTree {
    fn revision(&self) -> Option<&str> {
        Some(&self.commit)
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        let mut own: Vec<&str> = files.to_vec();
        for (path, tree) in &mut self.modules {
            let below =
                |file: &&str| file.strip_prefix(&**path)?.strip_prefix('/').map(str::to_owned);
            let inside: Vec<String> = own.iter().filter_map(below).collect();
            own.retain(|file| below(file).is_none());
            let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
            tree.read(&inside, &mut |file, content| take(&format!("{path}/{file}"), content))?;
        }
        // `COMMIT:PATH` names the object. A path with a line feed cannot be requested.
        let names: Vec<String> = own.iter().map(|path| format!("{}:{path}", self.commit)).collect();
        self.objects(&names, &mut |nth, content| take(own[nth], content))
    }
}

impl GitTree {
    /// Lists all entries, with the targets of links. Returns the paths of submodules and their commits.
    fn list(&mut self) -> Result<Vec<(String, String)>, Error> {
        let mut command = git_in(self.dir.path());
        command.args(["ls-tree", "-r", "-z", "-l", "--full-tree", &self.commit]);
        let run = self.repository.run(None);
        let listing = run.output(&mut command, MAX_LISTING_BYTES)?;
        let (mut links, mut submodules) = (Vec::new(), Vec::new());
        for line in listing.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let is_text = std::str::from_utf8(line).is_ok();
            let line = String::from_utf8_lossy(line);
            let Some((head, path)) = line.split_once('\t') else { continue };
            let head: Vec<&str> = head.split_whitespace().collect();
            let [mode, _, object, bytes] = head[..] else { continue };
            let bytes = bytes.parse().unwrap_or(0);
            let kind = match mode {
                _ if !is_text => TreeKind::Other("has a name that is not UTF-8"),
                "100644" | "100664" => TreeKind::File { bytes, executable: false },
                "100755" => TreeKind::File { bytes, executable: true },
                "120000" if bytes <= MAX_LINK_BYTES => {
                    links.push((self.entries.len(), object.to_owned()));
                    TreeKind::Link { target: String::new() }
                }
                "160000" => {
                    submodules.push((path.to_owned(), object.to_owned()));
                    TreeKind::Other(SUBMODULE)
                }
                _ => TreeKind::Other("is neither a file nor a link"),
            };
            self.entries.push(TreeEntry { path: path.to_owned(), kind });
        }
        let objects: Vec<String> = links.iter().map(|(_, object)| object.clone()).collect();
        let mut targets = vec![String::new(); objects.len()];
        self.objects(&objects, &mut |nth, content| {
            let read = content.read_to_string(&mut targets[nth]);
            read.map(drop).map_err(|error| self.repository.run(None).broken(&error))
        })?;
        for ((at, _), target) in links.into_iter().zip(targets) {
            self.entries[at].kind = TreeKind::Link { target };
        }
        Ok(submodules)
    }

    /// Fetches the submodules that may hold chosen skills, and lists their entries in the place of theirs.
    fn open_submodules(
        &mut self,
        submodules: Vec<(String, String)>,
        depth: usize,
    ) -> Result<(), Error> {
        let marketplace = self.text(MARKETPLACE)?;
        let repository = &self.repository;
        let is_wanted = |(path, _): &(String, String)| {
            submodules::is_wanted(path, &self.entries, &marketplace, &repository.settings)
        };
        let wanted: Vec<_> =
            submodules.into_iter().filter(is_wanted).take(MAX_SUBMODULES).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let addresses = self.addresses()?;
        let mut limits = self.repository.limits;
        let mut n_bytes = self.n_bytes();
        for (path, commit) in wanted {
            let written = addresses.get(&path).map_or("", String::as_str);
            let Some(url) = submodules::address(&self.repository.url, written) else { continue };
            let settings = FetchSettings::default();
            // Together, they are bounded like one repository.
            limits.transfer_bytes = limits.transfer_bytes.saturating_sub(n_bytes);
            let submodule = Git { url, rev: None, settings, limits, ..self.repository.clone() };
            let tree = submodule.open_at(&commit, depth + 1).map_err(|error| {
                let message = format!("its submodule `{path}`: {}", error.message());
                let help = format!("take the others with `--skill '!{path}'`");
                Error::new(error.code(), message, help)
            })?;
            n_bytes = tree.n_bytes();
            self.entries.retain(|entry| entry.path != path);
            self.entries.extend(
                tree.entries
                    .iter()
                    .cloned()
                    .map(|entry| TreeEntry { path: format!("{path}/{}", entry.path), ..entry }),
            );
            self.modules.push((path, tree));
        }
        Ok(())
    }

    /// The bytes that were fetched.
    fn n_bytes(&self) -> u64 {
        let of_modules = self.modules.iter().map(|(_, tree)| tree.n_bytes());
        bytes_below(self.dir.path()) + of_modules.sum::<u64>()
    }

    /// The addresses of submodules as `.gitmodules` writes them, by their paths.
    fn addresses(&self) -> Result<BTreeMap<String, String>, Error> {
        if !self.entries.iter().any(|entry| entry.path == ".gitmodules") {
            return Ok(BTreeMap::new());
        }
        let mut command = git_in(self.dir.path());
        command.args(["config", "--list", "-z", "--blob"]);
        command.arg(format!("{}:.gitmodules", self.commit));
        let listed = self.repository.run(None).output(&mut command, MAX_TEXT_BYTES)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let (mut paths, mut urls) = (BTreeMap::new(), BTreeMap::new());
        for (key, value) in listed.split('\0').filter_map(|entry| entry.split_once('\n')) {
            match key.rsplit_once('.') {
                Some((module, "path")) => drop(paths.insert(module, value)),
                Some((module, "url")) => drop(urls.insert(module, value)),
                _ => {}
            }
        }
        let addresses = paths.into_iter().filter_map(|(module, path)| {
            Some((path.trim_end_matches('/').to_owned(), (*urls.get(module)?).to_owned()))
        });
        Ok(addresses.collect())
    }

    /// The text of a small file; empty if there is none.
    fn text(&self, path: &str) -> Result<String, Error> {
        let mut text = Vec::new();
        if self.entries.iter().any(|entry| entry.path == path) {
            let name = format!("{}:{path}", self.commit);
            self.objects(&[name], &mut |_, content| {
                let read = content.take(MAX_TEXT_BYTES).read_to_end(&mut text);
                read.map(drop).map_err(|error| self.repository.run(None).broken(&error))
            })?;
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads objects by their names, in this order.
    fn objects(
        &self,
        names: &[String],
        take: &mut dyn FnMut(usize, &mut dyn Read) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let run = self.repository.run(None);
        let broken = |error| run.broken(&error);
        if names.is_empty() {
            return Ok(());
        }
        let missing = || broken(std::io::Error::other("an object is missing"));
        if names.iter().any(|name| name.contains('\n')) {
            return Err(broken(std::io::Error::other("a name has a line feed")));
        }
        // A file as the input, so that writing the names cannot block while the output is not read.
        let list = self.dir.path().join("wanted");
        let written = File::create(&list)
            .and_then(|mut file| file.write_all((names.join("\n") + "\n").as_bytes()))
            .and_then(|()| File::open(&list));
        let mut command = git_in(self.dir.path());
        command.args(["cat-file", "--batch"]);
        run.stream(&mut command, Some(written.map_err(broken)?), &mut |stdout| {
            let mut stdout = BufReader::new(stdout);
            for nth in 0..names.len() {
                let mut head = String::new();
                (&mut stdout).take(8192).read_line(&mut head).map_err(broken)?;
                // The answer is `HASH blob BYTES`, or the name followed by `missing`.
                let bytes = head.trim_end().split_once(" blob ").map(|(_, bytes)| bytes.parse());
                let bytes: u64 = bytes.and_then(Result::ok).ok_or_else(missing)?;
                let mut content = (&mut stdout).take(bytes);
                take(nth, &mut content)?;
                std::io::copy(&mut content, &mut std::io::sink()).map_err(broken)?;
                let mut end = [0];
                stdout.read_exact(&mut end).map_err(broken)?;
            }
            Ok(())
        })
    }
}
