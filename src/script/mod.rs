//! Runs the scripts of skills, under limits.
//!
//! A script is a file of a skill that is run as a process: one in `scripts/`, or one that the manifest
//! declares. Its working directory is the skill's directory, its environment is cleared, and its time
//! and output are bounded. It runs in a process group, which is killed as a whole when the run ends,
//! for whatever reason. On Linux, it also gains no rights, writes only to a scratch directory and where
//! the host allows, and has resource limits; [`SandboxLevel`] says how much of this is in force.
//! Arguments are passed as they are: no shell splits them.
//!
//! Nothing runs before it is trusted. All files of the skill are read without following links, and
//! compared with what was trusted. The scripts that run are private copies of exactly those bytes, next
//! to private copies of the other files.
//!
//! ```no_run
//! use std::sync::Arc;
//! use repertoire::script::{ScriptIo, ScriptOptions, Scripts};
//! use repertoire::trust::{Owner, TrustStore};
//! use repertoire::catalog::Scope;
//! use repertoire::SkillId;
//!
//! let scripts = Scripts::new(ScriptOptions::default(), Arc::new(TrustStore::in_memory()));
//! // Without a manifest, all files in `scripts/` are scripts, and none gets the network.
//! let dir = "/home/ana/.agents/skills/hello".into();
//! let skill = Owner::new(SkillId::new("hello"), Scope::User, dir, None);
//! for script in scripts.list(&skill)? {
//!     println!("{} {}", script.path, script.help.unwrap_or_default());
//! }
//! let output = scripts.run(&skill, "hello.sh", &["Ana"], ScriptIo::default())?;
//! println!("{:?} {}", output.exit_code, output.stdout);
//! # Ok::<(), repertoire::Error>(())
//! ```
//!
//! - `files`: finds the scripts and decides whether they may run; `help`: extracts their help.
//! - `private_copy`: makes the private copies; `repertoire_system::process` finds the interpreters.
//! - `run`: one run; `group`: its processes; `watchdog`: kills them if this program is killed.
//!   `repertoire_system::process` starts and measures them.

mod describe;
mod envelope;
mod files;
#[cfg(unix)]
mod group;
mod help;
mod limits;
mod output;
mod private_copy;
mod reads;
mod rights;
#[cfg(unix)]
mod run;
#[cfg(not(unix))]
#[path = "unsupported.rs"]
mod run;
#[cfg(unix)]
mod watchdog;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use repertoire_system::process::{self, NoRunner, Runner, Search, not_a_script};
use serde::Serialize;

use crate::catalog::Environment;
use crate::error::{Error, ErrorCode};
use crate::skill::{SkillId, ToolsetRights};
use crate::trust::{Approval, Demand, Owner, SkillFiles, TrustStore};
use describe::describe;
use files::Files;
use private_copy::PrivateCopy;
use run::{AllowedAccess, Reads, Sockets};

pub use limits::{ProjectScripts, ScriptLimits};
pub use output::{Listener, Offline, ScriptIo, ScriptOutput, Stream};
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use repertoire_system::sandbox::allowed_calls;
pub(crate) use repertoire_system::sandbox::limits_network;
pub use repertoire_system::sandbox::{FilesystemLevel, NetworkLevel, SandboxLevel};

/// The number of bytes of a script that are read to find its interpreter and its help.
const HEAD_BYTES: u64 = 16 << 10;

/// Options for running scripts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScriptOptions {
    /// The limits of a run.
    pub limits: ScriptLimits,
    /// The source of environment variables; by default the environment of this process.
    pub environment: Environment,
    /// Names of the variables that every script gets. By default, these say who and where the user is:
    /// `HOME`, `LANG`, `LC_ALL`, `LC_CTYPE`, `LOGNAME`, `PATH`, `TERM`, `TZ`, `USER`. Of `PATH`, only
    /// the absolute entries are passed.
    pub env: Vec<String>,
    /// Names of further variables for single skills, such as the key of a service. The host decides
    /// whether a skill may have them.
    pub skill_env: BTreeMap<SkillId, Vec<String>>,
    /// Files and directories that scripts may change, such as the workspace, besides their scratch
    /// directory. Paths that do not exist are ignored.
    pub write: Vec<PathBuf>,
    /// The directory of the project, which scripts of projects may read; `None` is the directory in which this
    /// program works. A directory that holds the user's home is not opened, nor is a hidden one of the home, such as
    /// `~/.aws`, unless it is a project of its own.
    pub workspace: Option<PathBuf>,
    /// Files and directories that scripts cannot read, such as the records of the host: whoever reads
    /// a file can also lock it. With a file, those beside it are closed whose names go on from its name with `.`,
    /// `-` or `~`, as those of `SQLite` do. Needs Landlock. Paths that do not exist are ignored.
    pub hidden: Vec<PathBuf>,
    /// True if scripts may use the network; true by default. A script of a project needs more: the
    /// manifest must ask for it (`rights: {network: ["api.example.com:443"]}`, or `true` for the Internet),
    /// and the user must have been shown this when trusting the script. It may then reach these addresses.
    /// Those of this machine must be named, and sockets that reach other programs by a path are open only to
    /// scripts of the user's own skills.
    pub network: bool,
    /// The limits and the network of the project's own scripts, where its settings narrow them; `None` for those
    /// of all scripts.
    pub project: Option<ProjectScripts>,
    /// The directory in which scratch directories are made; `None` is the system's directory for
    /// temporary files.
    pub scratch: Option<PathBuf>,
    /// Decides whether a script that is not trusted may run. With `None`, it is refused.
    pub approve: Option<Approval>,
}

impl Default for ScriptOptions {
    fn default() -> ScriptOptions {
        let env = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TZ", "USER"];
        ScriptOptions {
            limits: ScriptLimits::default(),
            environment: Environment::default(),
            env: env.map(str::to_owned).to_vec(),
            skill_env: BTreeMap::new(),
            write: Vec::new(),
            workspace: None,
            hidden: Vec::new(),
            network: true,
            project: None,
            scratch: None,
            approve: None,
        }
    }
}

/// A script of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Script {
    /// The path, relative to the skill's directory.
    pub path: String,
    /// The program that runs the script, with arguments; `None` if the script is itself a program, or
    /// cannot run.
    pub interpreter: Option<String>,
    /// The reason why the script cannot run; `None` if it can.
    pub problem: Option<String>,
    /// True if neither the manifest nor the file itself marks it as a script: it may be data that
    /// scripts read.
    #[serde(skip)]
    pub is_data: bool,
    /// The help: the comment that the script starts with, or its docstring, at most 2000 characters. It
    /// is text of the skill, and must be made safe before it is shown on a terminal.
    pub help: Option<String>,
}

/// Lists and runs the scripts of skills.
#[derive(Debug)]
pub struct Scripts {
    options: ScriptOptions,
    trust: Arc<TrustStore>,
}

impl Scripts {
    /// Creates a runner with these options, for scripts that `trust` or the host trusts.
    pub fn new(options: ScriptOptions, trust: Arc<TrustStore>) -> Scripts {
        Scripts { options, trust }
    }

    /// Lists the scripts of a skill, in the order of their paths. These are the scripts that its
    /// manifest declares or, without such a list, all regular files in `scripts/` that are neither
    /// hidden nor in `node_modules`; never those of a sub-skill. None of them is run, and none need be
    /// trusted.
    ///
    /// Fails with `NOT_FOUND` if the skill's directory does not exist, and with `PERMISSION_DENIED` if
    /// `scripts` is a link.
    pub fn list(&self, skill: &Owner) -> Result<Vec<Script>, Error> {
        let files = Files::find(skill)?;
        let path = self.path();
        let search = Search { path: &path, node_version: &|node| self.node_version(node) };
        let mut scripts: Vec<Script> =
            files.scripts.iter().map(|path| describe(&files, path, &search)).collect();
        for script in &mut scripts {
            script.is_data &= skill.scripts.is_none();
        }
        Ok(scripts)
    }

    /// Returns the paths of the files of a skill that the user trusts one by one: all files in
    /// `scripts/`, and those that the manifest declares. The other files of the skill are compared as
    /// [`SkillFiles`].
    ///
    /// Fails as [`Scripts::list`] does.
    pub fn compared_files(skill: &Owner) -> Result<Vec<PathBuf>, Error> {
        Ok(Files::find(skill)?.compared())
    }

    /// Returns the paths of the files of a skill that can be run by name, without reading them.
    ///
    /// Fails as [`Scripts::list`] does.
    pub fn named_files(skill: &Owner) -> Result<Vec<PathBuf>, Error> {
        let files = Files::find(skill)?;
        Ok(files.scripts.iter().map(|path| files.root.join(path)).collect())
    }

    /// Runs a script, and waits for its end. `script` is its path, relative to the skill's directory or
    /// to `scripts/`.
    ///
    /// A script that fails, or is stopped at a limit, is not an error: the output says so.
    ///
    /// Fails with `NOT_FOUND` (there is no such script), `INVALID_PARAM` (the path or the arguments are
    /// not valid), `PERMISSION_DENIED` (the script is not trusted, a file of the skill has changed
    /// since it was, or another user can change the script), or `EXECUTION_ERROR` (no program can run
    /// the script, or it cannot be started).
    pub fn run<S: AsRef<OsStr>>(
        &self,
        skill: &Owner,
        script: &str,
        args: &[S],
        io: ScriptIo<'_>,
    ) -> Result<ScriptOutput, Error> {
        let files = Files::find(skill)?;
        let script = files.resolve(skill, script)?;
        let limits = self.limits(skill);
        limits.check_args(&skill.id, script, args)?;
        let approve = self.options.approve.as_ref();
        let compared = self.trust.compared(skill, approve, SkillFiles::read)?;
        let mut checked = files.check(skill, script)?;
        let Some(own) = checked.iter().find(|file| file.path == script) else {
            let message = format!("the script `{script}` of the skill `{}` is gone", skill.id);
            return Err(Error::new(ErrorCode::NotFound, message, "load the skills again"));
        };
        let path = self.path();
        let search = Search { path: &path, node_version: &|node| self.node_version(node) };
        let runner = search
            .runner(script, &own.content, own.is_executable)
            .map_err(|missing| no_runner(missing, skill, script))?;
        let compared = compared.as_ref();
        // Resolved once: the rights that a host is shown are those that are stored.
        let asked = skill.script_rights.resolved();
        let abilities = || self.abilities(skill, &asked);
        let (classes, rights, abilities): (_, _, &dyn Fn() -> _) = (&[], &asked, &abilities);
        let demand = Demand { owner: skill, skill: compared, classes, approve, rights, abilities };
        let withheld = files.trust(&demand, script, &mut checked, &self.trust)?;
        let failed = |error| cannot_run(error, skill, script);
        let scratch = self.options.scratch.as_deref();
        let is_linked = compared.is_none();
        let private_copy =
            PrivateCopy::new(&files, &checked, is_linked, scratch).map_err(failed)?;
        compared.map_or(Ok(()), |compared| private_copy.add(compared, &files))?;
        let copy = private_copy.file_at(Path::new(script));
        let (program, before) = match runner {
            Runner::Itself => (copy, Vec::new()),
            Runner::Program { path: interpreter, args } => {
                let args = args.into_iter().map(OsString::from);
                let is_own = skill.scope.is_trusted();
                let interpreter =
                    if is_own { interpreter } else { not_a_script(interpreter, &path) };
                (interpreter, args.chain([copy.into_os_string()]).collect())
            }
        };
        // Nobody can swap the private directory of copies for a link. The skill's directory could be
        // swapped, so it is used as an open directory.
        let copied = compared.map(|_| private_copy.file_at(Path::new("")));
        let skill_dir = copied.clone().unwrap_or_else(|| files.root.clone());
        let here = copied.unwrap_or_else(|| files.working_directory());
        let rights = asked.and(&self.trust.script_rights(&files.root.join(script)));
        let set_up = |command: &mut Command| {
            command.args(before).args(args);
            command.env_clear().envs(self.env(skill, &path, skill_dir, &private_copy, &rights));
            command.current_dir(here);
        };
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut write: Vec<_> = self.options.write.iter().map(absolute).collect();
        write.push(private_copy.scratch());
        let offline = self.offline(skill, &rights);
        let sockets = match offline {
            Some(_) => Sockets::Pairs,
            None if !skill.scope.is_trusted() => Sockets::Some(rights.network.clone()),
            None => Sockets::All,
        };
        let reads = if skill.scope.is_trusted() {
            Reads::All { but: self.options.hidden.clone() }
        } else {
            let own = private_copy.file_at(Path::new(""));
            self.options.reads_of_project(own, &program, &path, rights.read.clone())
        };
        let scratch = Some(private_copy.scratch());
        let access = AllowedAccess { reads, write, sockets, scratch };
        let output = run::run(&program, set_up, access, limits, io).map_err(failed)?;
        tracing::debug!(skill = %skill.id, script, code = ?output.exit_code, reason = ?output.reason, "ran a script");
        Ok(ScriptOutput { withheld, offline, ..output })
    }

    /// The `PATH` that scripts get.
    fn path(&self) -> OsString {
        process::search_path(self.options.environment.var("PATH"))
    }

    /// The environment of a script.
    fn env(
        &self,
        skill: &Owner,
        path: &OsStr,
        skill_dir: PathBuf,
        private_copy: &PrivateCopy,
        rights: &ToolsetRights,
    ) -> BTreeMap<OsString, OsString> {
        let more = self.options.skill_env.get(&skill.id).into_iter().flatten();
        let names = self.options.env.iter().chain(more);
        let mut env: BTreeMap<OsString, OsString> = names
            .filter_map(|name| Some((name.into(), self.options.environment.var(name)?)))
            .collect();
        if env.contains_key(OsStr::new("PATH")) {
            env.insert("PATH".into(), path.to_owned());
        }
        let scratch = private_copy.scratch();
        // Programs give up when they cannot read their settings, and do without if there are none.
        if !skill.scope.is_trusted() && !self.options.are_at_home(&rights.read) {
            env.insert("HOME".into(), scratch.clone().into_os_string());
        }
        env.extend([
            ("SKILL_DIR".into(), skill_dir.into_os_string()),
            ("TMPDIR".into(), scratch.clone().into_os_string()),
            // Keep Python from using bytecode next to a script: it was not checked.
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("PYTHONPYCACHEPREFIX".into(), scratch.into_os_string()),
        ]);
        env
    }

    /// Runs the Node.js at `node` to get its version, major and minor.
    fn node_version(&self, node: &Path) -> Option<(u32, u32)> {
        let set_up = |command: &mut Command| {
            command.arg("--version").env_clear().env("PATH", self.path()).current_dir("/");
        };
        let limits = ScriptLimits { timeout: Duration::from_secs(5), ..ScriptLimits::default() };
        let sockets = Sockets::Pairs;
        let reads = Reads::All { but: self.options.hidden.clone() };
        let access = AllowedAccess { reads, write: Vec::new(), sockets, scratch: None };
        let output = run::run(node, set_up, access, &limits, ScriptIo::default()).ok()?;
        let version = semver::Version::parse(output.stdout.trim().strip_prefix('v')?).ok()?;
        Some((u32::try_from(version.major).ok()?, u32::try_from(version.minor).ok()?))
    }
}

/// Returns the sandbox that scripts get on this machine, after trying it on a thread that ends with it.
/// Resource limits belong to a whole process and are not tried: `rlimits` is false.
///
/// Fails if the system does not start a thread, or does not support scripts.
pub fn sandbox() -> std::io::Result<SandboxLevel> {
    run::sandbox()
}

/// The error for a script that no program can run.
fn no_runner(missing: NoRunner, skill: &Owner, script: &str) -> Error {
    let NoRunner { why, help } = missing;
    let message = format!("the script `{script}` of the skill `{}` {why}", skill.id);
    Error::new(ErrorCode::ExecutionError, message, help)
}

fn cannot_run(error: std::io::Error, skill: &Owner, script: &str) -> Error {
    let message = format!("cannot run the script `{script}` of the skill `{}`: {error}", skill.id);
    let help = "scripts need room and rights in the directory for temporary files, and an \
                interpreter that this system can run";
    Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
}
