//! Opens the library of an entry. Nothing of a library runs before it is trusted: its place, its
//! permissions, and its bytes are checked first.

use std::collections::HashMap;
use std::fmt::Debug;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use repertoire_plugin::host::{self, OpenOptions, PluginNote};
use repertoire_plugin::{Host, ToolOutput, ToolsetDescription};
use serde_json::Value;

use super::copies::Copies;
use super::entry::ToolsetEntry;
use super::error::{call_error, create_error, open_error, worker_error};
use super::worker::{Worker, WorkerState};
use super::{Isolation, ToolsetOptions};
use crate::catalog::Scope;
use crate::catalog::stamp::Stamp;
use crate::error::{Error, ErrorCode, Remedy};
use crate::trust::{ContentHash, Owner, TrustStore, Verdict, check_permissions};

/// The largest library that is read, in bytes.
const MAX_LIBRARY_BYTES: u64 = 256 * 1024 * 1024;

/// Opens libraries, each once.
#[derive(Debug)]
pub(crate) struct Loader {
    options: ToolsetOptions,
    trust: Arc<TrustStore>,
    copies: Copies,
    /// The open libraries, by the file and the limits with which they were opened.
    open: Mutex<HashMap<Opened, Arc<Library>>>,
}

/// A library file, and the name under which a class of it has limits of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Opened {
    path: PathBuf,
    limits: Option<String>,
}

/// An open library.
#[derive(Debug)]
pub(crate) struct Library {
    /// The author's file.
    pub(crate) path: PathBuf,
    pub(crate) note: PluginNote,
    pub(crate) sha256: ContentHash,
    stamp: Mutex<Stamp>,
    pub(crate) skill_dir: PathBuf,
    backend: Backend,
    trust: Arc<TrustStore>,
    scope: Scope,
    /// The version of the store by which it was trusted.
    trusted_at: AtomicU64,
}

#[derive(Debug)]
enum Backend {
    InProcess(Box<InProcess>),
    Process(Box<Worker>),
}

/// A library that is open in this process, with a toolset of each class asked for.
#[derive(Debug)]
struct InProcess {
    library: host::Library,
    toolsets: Mutex<HashMap<String, Arc<host::Toolset>>>,
}

impl Loader {
    pub(crate) fn new(options: ToolsetOptions, trust: Arc<TrustStore>) -> Loader {
        let copies = Copies::new(options.cache.clone());
        Loader { options, trust, copies, open: Mutex::default() }
    }

    /// The library of `entry`: as it was opened before, unless its file is another one now.
    pub(crate) fn library(
        &self,
        owner: &Owner,
        entry: &ToolsetEntry,
    ) -> Result<Arc<Library>, Error> {
        let start = SystemTime::now();
        let (path, mut file) = entry.open(&owner.dir)?;
        let key = Opened { path: path.clone(), limits: self.limits_name(owner, entry) };
        let read_error = |error| read_error(&path, error);
        let stamp = Stamp::of(&file.metadata().map_err(read_error)?, start);
        if let Some(known) = self.known(&key).filter(|known| known.is_still(&stamp)) {
            known.check_trust(|| self.demand_trust(owner, &path, &known.sha256, &known.note))?;
            return Ok(known);
        }
        check_permissions(&path, &file)?;
        if self.known(&key).is_some() {
            // The content is nearly always unchanged, and then only its hash is needed.
            let sha256 = ContentHash::of_reader((&file).take(MAX_LIBRARY_BYTES + 1));
            if let Some(known) = self.known_with(&key, &sha256.map_err(read_error)?) {
                self.demand_trust(owner, &path, &known.sha256, &known.note)?;
                return Ok(known.with_stamp(stamp));
            }
            file.rewind().map_err(read_error)?;
        }
        let bytes = read(&mut file, &path)?;
        let note = PluginNote::parse(&bytes, &path).map_err(open_error)?;
        note.check(&path).map_err(open_error)?;
        let sha256 = ContentHash::of(&bytes);
        let trusted_at = AtomicU64::new(self.trust.version());
        self.demand_trust(owner, &path, &sha256, &note)?;
        if let Some(known) = self.known_with(&key, &sha256) {
            // Another thread opened it meanwhile.
            return Ok(known.with_stamp(stamp));
        }
        let copy = self.copies.copy(&bytes, &sha256)?;
        let backend = self.open_copy(&copy, &key, owner, &note)?;
        let skill_dir = owner.dir.clone();
        let (trust, scope) = (Arc::clone(&self.trust), owner.scope);
        let library = Arc::new(Library {
            path,
            note,
            sha256,
            stamp: Mutex::new(stamp),
            skill_dir,
            backend,
            trust,
            scope,
            trusted_at,
        });
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(key, Arc::clone(&library));
        Ok(library)
    }

    /// Forgets the libraries of skills that `is_live` does not know by their directory, and ends
    /// their processes.
    pub(crate) fn retain(&self, is_live: impl Fn(&Path) -> bool) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<Opened> = open
            .iter()
            .filter(|(_, library)| !is_live(&library.skill_dir))
            .map(|(key, _)| key.clone())
            .collect();
        let gone: Vec<_> = gone.iter().filter_map(|key| open.remove(key)).collect();
        drop(open);
        for library in gone {
            library.restart();
        }
    }

    fn known(&self, key: &Opened) -> Option<Arc<Library>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// The library of `key`, if it was opened with this content.
    fn known_with(&self, key: &Opened, sha256: &ContentHash) -> Option<Arc<Library>> {
        self.known(key).filter(|known| known.sha256 == *sha256)
    }

    /// The name under which the class of `entry` has limits of its own.
    fn limits_name(&self, owner: &Owner, entry: &ToolsetEntry) -> Option<String> {
        let names = [format!("{}:{}", owner.id, entry.class()), entry.class().to_owned()];
        names.into_iter().find(|name| self.options.limits.contains_key(name))
    }

    fn demand_trust(
        &self,
        owner: &Owner,
        path: &Path,
        sha256: &ContentHash,
        note: &PluginNote,
    ) -> Result<(), Error> {
        let approve = self.options.approve.as_ref();
        self.trust.demand(owner, path, sha256, &note.classes, approve)
    }

    fn open_copy(
        &self,
        copy: &Path,
        Opened { path, limits: own }: &Opened,
        owner: &Owner,
        note: &PluginNote,
    ) -> Result<Backend, Error> {
        match &self.options.isolation {
            Isolation::Process { program, limits } => {
                let own = own.as_ref().and_then(|name| self.options.limits.get(name));
                let limits = own.unwrap_or(limits);
                let program = program.clone();
                let (copy, shown_as) = (copy.to_owned(), path.to_owned());
                let worker =
                    Worker::new(program, copy, shown_as, owner.dir.clone(), limits.clone());
                Ok(Backend::Process(Box::new(worker)))
            }
            Isolation::InProcess => {
                let (note, shown_as) = (Some(note.clone()), Some(path.to_owned()));
                let options = OpenOptions { note, shown_as, ..OpenOptions::default() };
                let library = host::Library::open_with(copy, options).map_err(open_error)?;
                Ok(Backend::InProcess(Box::new(InProcess { library, toolsets: Mutex::default() })))
            }
        }
    }
}

impl Library {
    /// Tells whether its file, which has this stamp now, is the one that was opened.
    fn is_still(&self, now: &Stamp) -> bool {
        self.stamp.lock().unwrap_or_else(PoisonError::into_inner).vouches_for(now)
    }

    /// Records the stamp of its file, which is known to be the one that was opened.
    fn with_stamp(self: Arc<Self>, stamp: Stamp) -> Arc<Self> {
        *self.stamp.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
        self
    }

    /// The tools of a class.
    pub(crate) fn describe(
        &self,
        class: &str,
        config: &Value,
    ) -> Result<ToolsetDescription, Error> {
        if !self.note.classes.iter().any(|known| known == class) {
            return Err(Error::new(
                ErrorCode::NotFound,
                format!("{} has no class `{class}`", self.path.display()),
                format!(
                    "it has {}; mend the entry, or export the class",
                    self.note.classes.join(", ")
                ),
            ));
        }
        match &self.backend {
            Backend::Process(worker) => {
                worker.describe(class, config).map_err(|error| worker_error(error, &self.path))
            }
            Backend::InProcess(open) => Ok(open.toolset(class, config)?.describe().clone()),
        }
    }

    /// Calls `verify` if the trust store has changed since the last time. A library that is no
    /// longer trusted loses its process.
    fn check_trust(&self, verify: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let version = self.trust.version();
        if self.trusted_at.load(Ordering::Relaxed) == version {
            return Ok(());
        }
        verify().inspect_err(|_| self.restart())?;
        self.trusted_at.store(version, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a library whose trust was taken back since it was opened.
    fn refuse_untrusted(&self) -> Result<(), Error> {
        if self.trust.verdict(self.scope, &self.path, &self.sha256) == Verdict::Trusted {
            return Ok(());
        }
        let (path, sha256) = (self.path.display(), &self.sha256);
        let message = format!(
            "{path} is not trusted any more with the content it runs with (sha256 {sha256})"
        );
        let help = "list the tools again to use the file as it is now; the user has to approve it";
        let error = Error::new(ErrorCode::PermissionDenied, message, help);
        Err(error.with_remedy(Remedy::Trust(self.path.clone())))
    }

    /// Calls a tool of a class with the JSON text of its arguments.
    pub(crate) fn call(
        &self,
        class: &str,
        config: &Value,
        tool: &str,
        arguments: &str,
        host: &dyn Host,
    ) -> Result<ToolOutput, Error> {
        self.check_trust(|| self.refuse_untrusted())?;
        let host = SkillHost { host, dir: &self.skill_dir };
        match &self.backend {
            Backend::Process(worker) => worker
                .call(class, config, tool, arguments, &host)
                .map_err(|error| worker_error(error, &self.path)),
            Backend::InProcess(open) => {
                let toolset = open.toolset(class, config)?;
                toolset.call(tool, arguments, &host).map_err(|error| call_error(&error, &self.path))
            }
        }
    }

    /// Ends its child process, if it has one, and forgets its crashes: the next call starts anew.
    pub(crate) fn restart(&self) {
        if let Backend::Process(worker) = &self.backend {
            worker.reset();
        }
    }

    /// The state of its child process; `None` if it has none.
    pub(crate) fn worker_state(&self) -> Option<WorkerState> {
        match &self.backend {
            Backend::Process(worker) => Some(worker.state()),
            Backend::InProcess(_) => None,
        }
    }
}

impl InProcess {
    fn toolset(&self, class: &str, config: &Value) -> Result<Arc<host::Toolset>, Error> {
        let mut toolsets = self.toolsets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(toolset) = toolsets.get(class) {
            return Ok(Arc::clone(toolset));
        }
        let toolset = Arc::new(self.library.create(class, config).map_err(create_error)?);
        toolsets.insert(class.to_owned(), Arc::clone(&toolset));
        Ok(toolset)
    }
}

/// The caller's host, with the directory of the skill.
struct SkillHost<'a> {
    host: &'a dyn Host,
    dir: &'a Path,
}

impl Host for SkillHost<'_> {
    fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    fn progress(&self, fraction: f64, message: &str) {
        self.host.progress(fraction, message);
    }

    fn log(&self, level: repertoire_plugin::LogLevel, message: &str) {
        self.host.log(level, message);
    }

    fn deadline(&self) -> Option<std::time::Instant> {
        self.host.deadline()
    }

    fn skill_dir(&self) -> Option<&Path> {
        Some(self.dir)
    }

    fn request(&self, method: &str, params: Value) -> repertoire_plugin::ToolResult<Value> {
        self.host.request(method, params)
    }
}

fn read(file: &mut File, path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| read_error(path, error);
    let expected = file.metadata().map_err(failed)?.len().min(MAX_LIBRARY_BYTES) + 1;
    let mut bytes = Vec::with_capacity(expected as usize);
    file.take(MAX_LIBRARY_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_LIBRARY_BYTES {
        let message = format!("{} is larger than {MAX_LIBRARY_BYTES} bytes", path.display());
        let help = "build it with `cargo build --release`, and strip it";
        return Err(Error::new(ErrorCode::InvalidParam, message, help));
    }
    Ok(bytes)
}

fn read_error(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot read the plugin {}: {error}", path.display());
    Error::new(ErrorCode::ExecutionError, message, "check the file and its permissions")
        .with_source(error)
}
