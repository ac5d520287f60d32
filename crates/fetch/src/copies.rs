//! Copies: the directories from which engines read fetched sources. Each is replaced as a whole, and
//! keeps its path, so that code in it stays trusted as long as it does not change.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use walkdir::{DirEntry, WalkDir};

use super::copy_places::{PROJECTS, dir_of_copies, free_dir};
use super::layout::LEFT_OUT;
use super::limits::{Deadline, INTERVAL};
use super::lock_file::{self, Locked, LockedFile, replace};
use super::mcp::is_mcp;
use super::objects::{Objects, io_error, is_older, sweep};
use super::signature::{Demand, LIST, SIGNATURE, compare};
use super::state::{Answer, Moment, State, written};
use super::unpack::write_files;
use repertoire::Error;
use repertoire::catalog::{FETCHED_MARK, Scope, Source};
use repertoire::trust::ContentHash;
use repertoire_config::FetchSettings;

/// The prefix of the name of a copy that is still being written.
const NEW: &str = ".new-";

/// The file that holds the path of the directory whose `config.toml` names the sources of these copies.
const CONFIG_DIR: &str = FETCHED_MARK;

/// The file that a process locks to change copies.
const LOCK: &str = ".lock";

/// The copies of the sources of one `config.toml`.
#[derive(Debug, Clone)]
pub(super) struct Copies {
    pub(super) dir: PathBuf,
    /// The directory of the `config.toml`.
    pub(super) config_dir: PathBuf,
}

impl Copies {
    /// A handle to the copies below `base` for the `config.toml` in `config_dir`, which need not exist. Those
    /// of a user are in `skills`; those of a project in a directory that begins with its name.
    pub(super) fn new(base: &Path, scope: Scope, config_dir: &Path) -> Copies {
        let real = config_dir.canonicalize();
        let real = real.or_else(|_| std::path::absolute(config_dir));
        let real = real.unwrap_or_else(|_| config_dir.to_owned());
        let is_noted = |dir: &Path| {
            let noted = fs::read_to_string(dir.join(CONFIG_DIR));
            noted.map_or(true, |noted| real.to_str().unwrap_or_default() == noted)
        };
        let dir = dir_of_copies(base, scope, &real, &is_noted);
        Copies { dir, config_dir: real }
    }

    /// All copies below `base` that noted the directory of their configuration, which may not exist any
    /// more.
    pub(super) fn all(base: &Path) -> impl Iterator<Item = Copies> {
        [base.to_owned(), base.join(PROJECTS)].into_iter().flat_map(|base| Copies::in_dir(&base))
    }

    /// The copies in the directories directly below `base`.
    pub(super) fn in_dir(base: &Path) -> Vec<Copies> {
        let entries = fs::read_dir(base).into_iter().flatten();
        let copies = entries.filter_map(|entry| {
            let dir = entry.ok()?.path();
            let text = fs::read_to_string(dir.join(CONFIG_DIR)).ok()?;
            (!text.is_empty()).then(|| Copies { dir, config_dir: PathBuf::from(text) })
        });
        copies.collect()
    }

    /// A directory for a source that has none, which no other source uses.
    pub(super) fn new_dir(&self, name: &str, source: &str) -> String {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let names = files.filter_map(|file| file.strip_suffix(".json").map(str::to_owned));
        let others = names.filter(|other| other != name);
        let used = others.map(|other| self.state(&other).dir.unwrap_or(other));
        free_dir(&self.dir, &used.collect::<Vec<_>>(), name, source)
    }

    /// Removes the copies of each configuration whose directory is gone, if for `time` none of its
    /// sources was fetched or checked for updates.
    pub(super) fn collect(base: &Path, time: Duration) {
        for copies in Copies::all(base) {
            let found = copies.config_dir.symlink_metadata();
            let is_gone = found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            if is_gone
                && let Ok(Some(_guard)) = copies.try_lock(&copies.dir.join(LOCK))
                && copies.is_older(time)
            {
                tracing::info!(of = %copies.config_dir.display(), "copies of fetched skills collected");
                let _ = fs::remove_dir_all(&copies.dir);
            }
        }
    }

    fn is_older(&self, time: Duration) -> bool {
        let entries = fs::read_dir(&self.dir).into_iter().flatten();
        let mut others = entries.flatten().filter(|entry| entry.file_name() != LOCK);
        others.all(|entry| entry.metadata().is_ok_and(|metadata| is_older(&metadata, time)))
    }

    /// The directory of a source.
    pub(super) fn root(&self, name: &str) -> PathBuf {
        self.dir.join(self.state(name).dir.as_deref().unwrap_or(name))
    }

    fn state_file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.json"))
    }

    /// The state of a source; the default state if none is stored.
    pub(super) fn state(&self, name: &str) -> State {
        let text = fs::read_to_string(self.state_file(name)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Stores the answer of a source, for all processes. Does nothing if the source has no copy. Fails
    /// like [`lock`](Copies::lock).
    pub(super) fn note(
        &self,
        name: &str,
        answer: &Answer<'_>,
        at: Moment,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let _guard = self.lock(deadline)?;
        if !self.root(name).is_dir() {
            return Ok(());
        }
        let mut state = self.state(name);
        state.note(answer, at);
        self.write_state(name, &state)
    }

    pub(super) fn write_state(&self, name: &str, state: &State) -> Result<(), Error> {
        let path = self.state_file(name);
        let text = serde_json::to_string(state).unwrap_or_default();
        let written = replace(&path, &text).and_then(|()| self.note_config_dir());
        written.map_err(|error| io_error("write", &path, &error))
    }

    /// Notes the directory of the configuration, where the lock file that pins these copies lies, and so marks
    /// them as fetched. Of a path that is not UTF-8, nothing is noted.
    fn note_config_dir(&self) -> io::Result<()> {
        let noted = self.dir.join(CONFIG_DIR);
        if noted.exists() {
            return Ok(());
        }
        replace(&noted, self.config_dir.to_str().unwrap_or_default())
    }

    /// Locks the copies, and the files of this configuration, against other processes, until the guard
    /// is dropped. Fails with `TIMEOUT` or `CANCELLED` if another process holds the lock until
    /// `deadline`.
    pub(super) fn lock(&self, deadline: &Deadline) -> Result<File, Error> {
        let path = self.dir.join(LOCK);
        loop {
            if let Some(file) = self.try_lock(&path)? {
                return Ok(file);
            }
            deadline.check(&format!("waiting for {}", path.display()))?;
            thread::sleep(INTERVAL);
        }
    }

    /// Keeps other processes from polling a source until the guard is dropped. Returns `None` if another
    /// process is polling it.
    pub(super) fn lock_to_poll(&self, name: &str) -> Result<Option<PollLock>, Error> {
        Ok(self.try_lock(&self.poll_lock(name))?.map(PollLock))
    }

    /// Locks a file. Returns `None` if another process holds the lock.
    fn try_lock(&self, path: &Path) -> Result<Option<File>, Error> {
        let opened = fs::create_dir_all(&self.dir)
            .and_then(|()| File::options().write(true).create(true).truncate(false).open(path));
        let locked = opened.and_then(|file| match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        });
        locked.map_err(|error| io_error("lock", path, &error))
    }

    fn poll_lock(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.lock"))
    }

    /// Writes files from `objects` into a new directory beside the copies. Fails with `NOT_FOUND` if
    /// a content is missing.
    pub(super) fn unpack(
        &self,
        files: &BTreeMap<String, LockedFile>,
        objects: &Objects,
    ) -> Result<TempDir, Error> {
        let failed = |error: io::Error| io_error("write", &self.dir, &error);
        fs::create_dir_all(&self.dir).map_err(failed)?;
        sweep(&self.dir, NEW);
        sweep(&self.dir, lock_file::NEW);
        let new = tempfile::Builder::new().prefix(NEW).tempdir_in(&self.dir).map_err(failed)?;
        write_files(new.path(), files, objects)?;
        Ok(new)
    }

    /// Puts the contents of a copy into `objects` again, if they were removed there. Files that were changed
    /// are skipped.
    pub(super) fn restock(
        &self,
        name: &str,
        files: &BTreeMap<String, LockedFile>,
        objects: &Objects,
    ) {
        let root = self.root(name);
        for (path, file) in files.iter().filter(|(_, file)| !objects.has(&file.sha256)) {
            let path = root.join(path);
            if ContentHash::of_file(&path).ok().as_ref() == Some(&file.sha256)
                && objects.prepare().is_ok()
                && let Ok(mut content) = File::open(&path)
            {
                // A content that stays missing is an error of whoever reads it.
                let _ = objects.put(&mut content, u64::MAX, &path.to_string_lossy());
            }
        }
    }

    /// Replaces a copy with a new directory. Readers see either the old or the new one. On systems that
    /// cannot exchange two directories, there is an instant with neither. If the user changed files of the copy,
    /// which was that of `before`, it is kept beside the others; returns where.
    pub(super) fn install(
        &self,
        name: &str,
        new: TempDir,
        (locked, before): (&Locked, Option<&Locked>),
        settings: &FetchSettings,
    ) -> Result<Option<PathBuf>, Error> {
        let state = self.state(name);
        let before = before.filter(|before| state.digest == before.digest().as_str());
        let is_edited = before.is_some_and(|before| self.is_edited(name, &before.files));
        let dir = state.dir.filter(|dir| self.dir.join(dir).is_dir());
        let dir = dir.unwrap_or_else(|| self.new_dir(name, &locked.source));
        let root = self.dir.join(&dir);
        let list = fs::read(new.path().join(LIST)).ok();
        let is_true =
            |list: &Vec<u8>| compare(list, &locked.files, locked.skills.is_empty()).is_ok();
        let listed = list.filter(is_true).map(|list| ContentHash::of(&list).to_string());
        let failed = |error: io::Error| io_error("replace", &root, &error);
        fs::create_dir_all(root.parent().unwrap_or(&self.dir)).map_err(failed)?;
        exchange(new.path(), &root).map_err(failed)?;
        // After the exchange, `new` holds the old files, if there were any.
        let edited = is_edited.then(|| self.keep_edited(name, new)).transpose().map_err(failed)?;
        let (digest, settings) = (locked.digest().to_string(), written(settings));
        let (checked, dir) = (Moment::now(), Some(dir));
        self.write_state(
            name,
            &State { digest, dir, listed, settings, checked, ..State::default() },
        )?;
        Ok(edited)
    }

    /// Tells whether a file of a copy was changed or added since the copy was made.
    fn is_edited(&self, name: &str, files: &BTreeMap<String, LockedFile>) -> bool {
        let root = self.root(name);
        let is_changed = |(path, file): (&String, &LockedFile)| {
            ContentHash::of_file(&root.join(path)).is_ok_and(|hash| hash != file.sha256)
        };
        files.iter().any(is_changed) || self.added(name, files).is_some()
    }

    /// Moves the replaced copy of a source to a directory of its own.
    fn keep_edited(&self, name: &str, replaced: TempDir) -> io::Result<PathBuf> {
        let dir = self.dir.join(EDITED);
        fs::create_dir_all(&dir)?;
        let places = (1..).map(|nth| dir.join(format!("{name}-{nth}")));
        let to = places.into_iter().find(|place| !place.exists()).unwrap_or_default();
        fs::rename(replaced.keep(), &to)?;
        Ok(to)
    }

    /// Verifies the signature of a copy, and returns the key that made it. Does not read the listed
    /// files: they were compared with the list when the copy was made.
    ///
    /// Fails like [`Demand::verify`].
    pub(super) fn signed_by(
        &self,
        name: &str,
        state: &State,
        demand: Demand<'_>,
    ) -> Result<String, Error> {
        let root = self.root(name);
        let content = |name: &str| fs::read(root.join(name)).ok();
        let (list, signature) =
            content(LIST).zip(content(SIGNATURE)).ok_or_else(|| demand.unsigned())?;
        if state.listed.as_deref() != Some(ContentHash::of(&list).as_str()) {
            return Err(demand.refused(&format!("its copy is not what `{LIST}` has")));
        }
        demand.key_of(&list, &signature)
    }

    /// Removes the copy of a source.
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        let root = self.root(name);
        let removed = fs::remove_dir_all(&root);
        if let Some(owner) = root.parent().filter(|owner| *owner != self.dir) {
            // It stays if it has another repository.
            let _ = fs::remove_dir(owner);
        }
        let _ = fs::remove_file(self.state_file(name));
        let _ = fs::remove_file(self.poll_lock(name));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io_error("remove", &root, &error))
            }
            _ => Ok(()),
        }
    }

    /// Returns a file of a copy that was changed, removed or added since the copy was made, if there is
    /// one.
    pub(super) fn changed(
        &self,
        name: &str,
        files: &BTreeMap<String, LockedFile>,
    ) -> Option<PathBuf> {
        let root = self.root(name);
        let mut paths = files.iter().map(|(path, file)| (root.join(path), &file.sha256));
        let is_changed = |path: &Path, hash| ContentHash::of_file(path).ok().as_ref() != Some(hash);
        let changed = paths.find(|(path, hash)| is_changed(path, hash)).map(|(path, _)| path);
        changed.or_else(|| self.added(name, files))
    }

    /// Returns a file of a copy that is not one of `files`, if there is one. Skips directories that are
    /// never fetched: a program that runs a script of the copy may create a `__pycache__`.
    pub(super) fn added(
        &self,
        name: &str,
        files: &BTreeMap<String, LockedFile>,
    ) -> Option<PathBuf> {
        let root = self.root(name);
        let fetched: HashSet<PathBuf> = files.keys().map(|path| root.join(path)).collect();
        let is_fetched = |entry: &DirEntry| {
            entry.depth() == 0 || !LEFT_OUT.iter().any(|name| entry.file_name() == *name)
        };
        let walk = WalkDir::new(root).into_iter().filter_entry(is_fetched).filter_map(Result::ok);
        let mut found = walk.filter(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path);
        found.find(|path| !fetched.contains(path))
    }
}

/// The directory of replaced copies that the user had changed.
const EDITED: &str = ".edited";

/// A guard that keeps other processes from polling a source.
pub(super) struct PollLock(File);

impl Drop for PollLock {
    fn drop(&mut self) {
        // Unlock explicitly: a child process that another thread is starting may hold the file open
        // until `exec`.
        let _ = self.0.unlock();
    }
}

/// Exchanges two directories. `old` need not exist.
pub(super) fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        return fs::rename(new, old);
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            Err(
                rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP,
            ) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let aside = new.with_extension("old");
    fs::rename(old, &aside)?;
    fs::rename(new, old)?;
    fs::rename(&aside, new)
}

/// The engine's source for what was fetched from `address`. Two MCP servers may serve skills with the
/// same name, so the ids of their skills begin with the name of the source.
pub(super) fn source_at(name: &str, address: &str, root: PathBuf) -> Source {
    let source = Source::fetched(name, root);
    if is_mcp(address) { source.namespaced() } else { source }
}
