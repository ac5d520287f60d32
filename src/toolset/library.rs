//! A library whose file was checked: its copy, its trust, and its calls.

use std::cell::Cell;
use std::fmt::Debug;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use repertoire_plugin::{Host, ToolOutput, ToolsetDescription};
use repertoire_worker::locked;
use repertoire_worker::{Worker, WorkerError, WorkerState};
use serde_json::Value;

use super::collect::note_use;
use super::copies::Copies;
use super::error::{call_error, no_class, worker_error};
use super::in_process::InProcess;
use super::pins::{Pins, differences};
use super::rights::Rights;
use crate::catalog::Scope;
use crate::catalog::stamp::Stamp;
use crate::error::{Error, ErrorCode, Remedy};
use crate::trust::{ContentHash, SkillFiles, TrustStore, Verdict};

/// The largest library that is read, in bytes.
pub(super) const MAX_LIBRARY_BYTES: u64 = 256 * 1024 * 1024;

/// A library or an MCP server that passed the checks of the loader.
#[derive(Debug)]
pub(crate) struct Library {
    /// The author's file.
    pub(crate) path: PathBuf,
    pub(crate) classes: Vec<String>,
    /// The hash of the file, or of all files of a program.
    pub(crate) sha256: ContentHash,
    /// The files that run, each with the hash of the content that was trusted.
    pub(super) runs: Vec<(PathBuf, ContentHash)>,
    pub(super) stamp: Mutex<Stamp>,
    pub(crate) skill_dir: PathBuf,
    /// The files of the skill, if they were compared. The library then sees copies of them.
    pub(super) skill: Option<Arc<SkillCopy>>,
    pub(super) backend: Backend,
    pub(super) copies: Arc<Copies>,
    pub(super) copying: Mutex<Copying>,
    pub(super) rights: Rights,
    pub(super) trust: Arc<TrustStore>,
    pub(super) scope: Scope,
    /// The version of the trust store at which the library was last found to be trusted.
    pub(super) trusted_at: AtomicU64,
}

/// The files of a skill as they were compared, and the directory in which toolsets see copies of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SkillCopy {
    pub(super) files: SkillFiles,
    /// The hash of all files together.
    pub(super) sha256: ContentHash,
    /// The directory of the copies, which are made before the toolset first runs.
    pub(super) dir: PathBuf,
}

#[derive(Debug)]
pub(super) enum Backend {
    InProcess(Box<InProcess>),
    Process(Box<Worker>),
}

/// The progress of a library's private copy, which is made before the library first runs.
#[derive(Debug)]
pub(super) enum Copying {
    /// Not made yet. Holds the content of the file if it was just read.
    Missing(Option<Content>),
    Done,
}

/// The content of a library or of a program.
#[derive(Debug)]
pub(super) enum Content {
    Library(Vec<u8>),
    #[cfg(feature = "mcp-toolsets")]
    Program(Vec<super::program::File>),
}

/// The failure of a call.
pub(crate) enum CallFailure {
    /// The arguments do not fit the schema. Lists the problems in one line.
    Unfit(String),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        CallFailure::Failed(error)
    }
}

impl Library {
    /// Records a new stamp of the file, whose content is known to be unchanged.
    pub(super) fn with_stamp(self: Arc<Self>, stamp: Stamp) -> Arc<Self> {
        *locked(&self.stamp) = stamp;
        self
    }

    /// Fails with `NOT_FOUND` if the library does not declare the class.
    pub(crate) fn check_class(&self, class: &str) -> Result<(), Error> {
        let classes = &self.classes;
        if classes.iter().any(|known| known == class) {
            return Ok(());
        }
        Err(no_class(&self.path, class, classes))
    }

    /// Frees the content of a library that need not run now.
    pub(crate) fn forget_content(&self) {
        let mut copying = locked(&self.copying);
        if let Copying::Missing(content @ Some(Content::Library(_))) = &mut *copying {
            *content = None;
        }
    }

    /// Makes the private copy that runs, unless it exists.
    fn make_copy(&self) -> Result<(), Error> {
        let mut copying = locked(&self.copying);
        // Keep the content until it is copied: the files of a program are read only once.
        let Copying::Missing(content) = &mut *copying else { return Ok(()) };
        if content.is_none() {
            *content = self.content()?;
        }
        match content {
            Some(Content::Library(bytes)) => self.copies.copy(bytes, &self.sha256)?,
            #[cfg(feature = "mcp-toolsets")]
            Some(Content::Program(files)) => self.copies.copy_program(files, &self.sha256)?,
            None => {}
        }
        if let Some(skill) = &self.skill {
            self.copies.copy_skill(&skill.files, &skill.sha256)?;
        }
        *copying = Copying::Done;
        Ok(())
    }

    /// The content of the author's file; `None` if an earlier process left a copy of it.
    fn content(&self) -> Result<Option<Content>, Error> {
        if let Ok(copy) = File::open(self.copies.path(&self.sha256)?)
            && ContentHash::of_reader(&copy).is_ok_and(|sha256| sha256 == self.sha256)
        {
            note_use(&copy);
            return Ok(None);
        }
        let mut file = File::open(&self.path).map_err(|error| read_error(&self.path, error))?;
        let content = read(&mut file, &self.path)?;
        if ContentHash::of(&content) == self.sha256 {
            return Ok(Some(Content::Library(content)));
        }
        let message = format!("{} has changed since its tools were listed", self.path.display());
        Err(Error::new(ErrorCode::NotFound, message, "list the tools again"))
    }

    /// Returns the tools of a class. Runs the library, and waits for it as long as `host` does.
    pub(crate) fn describe(
        &self,
        class: &str,
        config: &Value,
        host: &dyn Host,
    ) -> Result<ToolsetDescription, Error> {
        self.make_copy()?;
        match &self.backend {
            Backend::Process(worker) => worker
                .describe(class, config, host)
                .map_err(|error| worker_error(error, &self.path)),
            Backend::InProcess(open) => {
                Ok(open.toolset(class, config, host)?.toolset.describe().clone())
            }
        }
    }

    /// The description of a toolset that runs in a child process now; `None` if it does not.
    pub(crate) fn made(&self, class: &str, config: &Value) -> Option<ToolsetDescription> {
        match &self.backend {
            Backend::Process(worker) => worker.made(class, config),
            Backend::InProcess(_) => None,
        }
    }

    /// Ends a child process that only described toolsets.
    pub(crate) fn rest(&self) {
        if let Backend::Process(worker) = &self.backend {
            worker.rest();
        }
    }

    /// Tells whether the library runs in this process.
    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.backend, Backend::InProcess(_))
    }

    /// Calls `verify` if the trust store has changed since the last check. Ends the process of a
    /// library that is no longer trusted.
    pub(super) fn check_trust(
        &self,
        verify: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let version = self.trust.version();
        if self.trusted_at.load(Ordering::Relaxed) == version {
            return Ok(());
        }
        verify().inspect_err(|_| self.restart())?;
        // The library has just been found to be trusted, so a disabled one may try again.
        if let Backend::Process(worker) = &self.backend {
            worker.enable();
        }
        self.trusted_at.store(version, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a library if the user has withdrawn trust or rights since it was opened.
    fn refuse_untrusted(&self) -> Result<(), Error> {
        let is_trusted = |(path, sha256): &&(PathBuf, ContentHash)| {
            self.trust.verdict(self.scope, path, sha256) == Verdict::Trusted
        };
        let refused = self.runs.iter().find(|file| !is_trusted(file));
        let is_granted = self.rights.are_granted(&self.trust, self.scope, &self.path);
        let is_beside_trusted = self.skill.as_ref().is_none_or(|skill| {
            let changes = self.trust.changes(&skill.files);
            changes.map_or(self.scope.is_trusted(), |changes| changes.is_empty())
        });
        let is_kept = !is_granted || !is_beside_trusted;
        let kept = Some((&self.path, &self.sha256)).filter(|_| is_kept);
        let Some((path, sha256)) = refused.map(|(path, sha256)| (path, sha256)).or(kept) else {
            return Ok(());
        };
        let path = path.display();
        let message = format!(
            "{path} is not trusted any more with the content and the rights it runs with (sha256 \
             {sha256})"
        );
        let help = "list the tools again to use the file as it is now; the user has to approve it";
        let error = Error::new(ErrorCode::PermissionDenied, message, help);
        Err(error.with_remedy(Remedy::Trust(self.path.clone())))
    }

    /// Fails with `PERMISSION_DENIED` if the user trusted this library with other tools of `class`. If it was
    /// trusted before its tools were known, these become the trusted ones.
    pub(super) fn check_pins(&self, class: &str, tools: &Pins) -> Result<(), Error> {
        let Some(trusted) = self.trust.trusted_tools(&self.path) else { return Ok(()) };
        let Some(trusted) = trusted.get(class) else {
            let recorded = self.trust.record_first_tools(&self.path, class, tools.clone());
            if let Err(error) = recorded {
                tracing::warn!(%error, "the tools of a trusted toolset are not recorded");
            }
            return Ok(());
        };
        if trusted == tools {
            return Ok(());
        }
        let message = format!(
            "the tools of `{class}` in {} are not those that were trusted: {}",
            self.path.display(),
            differences(trusted, tools)
        );
        let help = "the user has to look at them and approve them first";
        let error = Error::new(ErrorCode::PermissionDenied, message, help);
        Err(error.with_remedy(Remedy::TrustSkill(self.skill_dir.clone())))
    }

    /// Calls a tool of a class, unless `accept` fails with the description of the toolset that runs.
    pub(crate) fn call(
        &self,
        class: &str,
        config: &Value,
        tool: &str,
        arguments: &Value,
        accept: &dyn Fn(&ToolsetDescription) -> Result<(), Error>,
        host: &dyn Host,
    ) -> Result<ToolOutput, CallFailure> {
        self.check_trust(|| self.refuse_untrusted())?;
        self.make_copy()?;
        let dir = self.skill.as_ref().map_or(&self.skill_dir, |skill| &skill.dir);
        let host = SkillHost { host, dir };
        let text = arguments.to_string();
        match &self.backend {
            Backend::Process(worker) => {
                let refusal = Cell::new(None);
                let accepts =
                    |made: &_| accept(made).map_err(|error| refusal.set(Some(error))).is_ok();
                let output = worker.call(class, config, tool, &text, &accepts, &host);
                output.map_err(|error| match (error, refusal.take()) {
                    (WorkerError::OtherTools, Some(refusal)) => refusal.into(),
                    (WorkerError::Unfit { problems }, _) => CallFailure::Unfit(problems),
                    (error, _) => {
                        let error = worker_error(error, &self.path);
                        self.rights.explained(error, class, &self.path).into()
                    }
                })
            }
            Backend::InProcess(open) => {
                let made = open.toolset(class, config, &host)?;
                accept(made.toolset.describe())?;
                made.schemas.check(tool, arguments).map_err(CallFailure::Unfit)?;
                let answer = made.toolset.call(tool, &text, &host);
                answer.map_err(|error| call_error(error.code, &error.message, &self.path).into())
            }
        }
    }

    /// Ends the child process, if there is one, and forgets its crashes. The next call starts a new
    /// one.
    pub(crate) fn restart(&self) {
        if let Backend::Process(worker) = &self.backend {
            worker.reset();
        }
    }

    /// The state of the child process; `None` if the library runs in this process.
    pub(crate) fn worker_state(&self) -> Option<WorkerState> {
        match &self.backend {
            Backend::Process(worker) => Some(worker.state()),
            Backend::InProcess(_) => None,
        }
    }
}

/// The caller's host, extended by the directory of the skill.
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

    fn deadline(&self) -> Option<Instant> {
        self.host.deadline()
    }

    fn skill_dir(&self) -> Option<&Path> {
        Some(self.dir)
    }

    fn request(&self, method: &str, params: Value) -> repertoire_plugin::ToolResult<Value> {
        self.host.request(method, params)
    }
}

pub(super) fn read(file: &mut File, path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| read_error(path, error);
    let expected = file.metadata().map_err(failed)?.len().min(MAX_LIBRARY_BYTES) + 1;
    let mut bytes = Vec::with_capacity(expected as usize);
    file.take(MAX_LIBRARY_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_LIBRARY_BYTES {
        let message = format!("{} is larger than {MAX_LIBRARY_BYTES} bytes", path.display());
        let help = "build it for release, and strip it";
        return Err(Error::new(ErrorCode::InvalidParam, message, help));
    }
    Ok(bytes)
}

pub(super) fn read_error(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot read the plugin {}: {error}", path.display());
    Error::new(ErrorCode::ExecutionError, message, "check the file and its permissions")
        .with_source(error)
}
