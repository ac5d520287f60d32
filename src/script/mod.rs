//! Running the scripts of skills, under limits.
//!
//! A script is a file of a skill that is run in a process: one in `scripts/`, or one that the
//! manifest declares. It runs with the skill's directory as its working directory, a cleared
//! environment, bounded time and output, and in a process group that is killed as a whole when the
//! run ends, however it ends. On Linux it also gains no rights, writes nowhere but to a scratch
//! directory and where the host allows, and is held to numbers; [`SandboxLevel`] says how far that
//! went. Arguments reach it as they are: no shell takes them apart.
//!
//! Nothing runs before it is trusted. All files of the skill are read without following links, and
//! compared with what was trusted; what runs are private copies of exactly those bytes, beside private
//! copies of the rest.
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
//! - `files`: which files those are, and whether they may run; `help`: what they say of themselves.
//! - `mirror`: the copies; `crate::process` says what runs them.
//! - `run`: one run; `group`: its processes; `watchdog`: their end if this program is killed.

mod envelope;
mod files;
#[cfg(unix)]
mod group;
mod help;
mod limits;
mod mirror;
mod output;
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

use serde::Serialize;

use crate::catalog::Environment;
use crate::error::{Error, ErrorCode};
use crate::process::{self, NoRunner, Runner, Search};
use crate::skill::SkillId;
use crate::trust::{Approval, Demand, Owner, SkillFiles, TrustStore};
use files::Files;
use mirror::Mirror;
use run::{Openings, Sockets};

pub use crate::sandbox::{FilesystemLevel, NetworkLevel, SandboxLevel};
pub use limits::ScriptLimits;
pub use output::{Listener, Offline, ScriptIo, ScriptOutput, Stream};

/// How much of a script is read to see what runs it and what it says of itself, in bytes.
const HEAD_BYTES: u64 = 16 << 10;

/// Where programs are when the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How scripts are run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScriptOptions {
    /// The limits of a run.
    pub limits: ScriptLimits,
    /// The source of variables; by default the environment of this process.
    pub environment: Environment,
    /// Names of variables that every script gets; by default those that say who and where the user
    /// is: `HOME`, `LANG`, `LC_ALL`, `LC_CTYPE`, `LOGNAME`, `PATH`, `TERM`, `TZ`, `USER`. Of `PATH`,
    /// the absolute entries.
    pub env: Vec<String>,
    /// Names of further variables for single skills. That they may have them, as a key for a
    /// service, is for the host to find out.
    pub skill_env: BTreeMap<SkillId, Vec<String>>,
    /// Files and directories that scripts may change, such as the workspace, beside their scratch
    /// directory. What does not exist is left out.
    pub write: Vec<PathBuf>,
    /// True if scripts may use the network; they may by default. Those of a project need more: their
    /// manifest asks for it (`rights: {network: true}`), and the user was shown so and trusts them.
    /// They may then use sockets of the Internet; those that lead to other programs of this machine by
    /// a path are open to scripts of the user's own skills only.
    pub network: bool,
    /// Where the scratch directories are made; `None` is the system's place for temporary files.
    pub scratch: Option<PathBuf>,
    /// Who is asked about scripts that are not trusted; `None` refuses them.
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
            network: true,
            scratch: None,
            approve: None,
        }
    }
}

/// A script of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// Its path from the skill's directory.
    pub path: String,
    /// The program that runs it, with arguments; `None` if it is a program itself, or cannot run.
    pub interpreter: Option<String>,
    /// The reason why it cannot run.
    pub problem: Option<String>,
    /// True if nothing says that it is a script, neither the manifest nor the file itself: it may
    /// well be what scripts read.
    #[serde(skip)]
    pub is_data: bool,
    /// Its help: the comment it starts with or its docstring, at most 2000
    /// characters. It is text of the skill, not yet fit for a terminal.
    pub help: Option<String>,
}

/// Lists and runs the scripts of skills.
#[derive(Debug)]
pub struct Scripts {
    options: ScriptOptions,
    trust: Arc<TrustStore>,
}

impl Scripts {
    /// Scripts are run with these options if this store, or the host, trusts them.
    pub fn new(options: ScriptOptions, trust: Arc<TrustStore>) -> Scripts {
        Scripts { options, trust }
    }

    /// The scripts of a skill, in the order of their paths: those of its manifest that can be asked
    /// for, else all regular files in `scripts/` but hidden ones; never those of a sub-skill. None of them is run, nor need be trusted.
    ///
    /// Fails with `NOT_FOUND` if there is no such directory, with `PERMISSION_DENIED` if `scripts`
    /// is a link.
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

    /// The paths of all files of a skill that are trusted one by one before any of its scripts runs:
    /// all in `scripts/`, and those its manifest declares. The other files of the skill are compared as
    /// [`SkillFiles`]. Fails as [`Scripts::list`].
    pub fn compared_files(skill: &Owner) -> Result<Vec<PathBuf>, Error> {
        Ok(Files::find(skill)?.compared())
    }

    /// Runs a script, by its path from the skill's directory or from `scripts/`, and waits for its
    /// end.
    ///
    /// A script that fails, or is stopped at a limit, gives an output that says so, not an error. Fails
    /// with `NOT_FOUND` (no such script), `INVALID_PARAM` (a path or arguments that cannot be),
    /// `PERMISSION_DENIED` (it is not trusted, a file of the skill has changed since, or somebody else
    /// can change the script), or `EXECUTION_ERROR` (nothing runs it, or it cannot be started).
    pub fn run<S: AsRef<OsStr>>(
        &self,
        skill: &Owner,
        script: &str,
        args: &[S],
        io: ScriptIo<'_>,
    ) -> Result<ScriptOutput, Error> {
        let files = Files::find(skill)?;
        let script = files.resolve(skill, script)?;
        self.options.limits.check_args(&skill.id, script, args)?;
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
        let demand = Demand { owner: skill, skill: compared, classes: &[], approve };
        let withheld = files.trust(&demand, script, &mut checked, &self.trust)?;
        let failed = |error| cannot_run(error, skill, script);
        let scratch = self.options.scratch.as_deref();
        let is_linked = compared.is_none();
        let mirror = Mirror::new(&files, &checked, is_linked, scratch).map_err(failed)?;
        compared.map_or(Ok(()), |compared| mirror.add(compared, &files))?;
        let copy = mirror.file_at(Path::new(script));
        let (program, before) = match runner {
            Runner::Itself => (copy, Vec::new()),
            Runner::Program { path, args } => {
                let args = args.into_iter().map(OsString::from);
                (path, args.chain([copy.into_os_string()]).collect())
            }
        };
        // An open directory cannot be swapped for a link; a private one is not.
        let copied = compared.map(|_| mirror.file_at(Path::new("")));
        let skill_dir = copied.clone().unwrap_or_else(|| files.root.clone());
        let here = copied.unwrap_or_else(|| files.working_directory());
        let set_up = |command: &mut Command| {
            command.args(before).args(args);
            command.env_clear().envs(self.env(skill, &path, skill_dir, &mirror));
            command.current_dir(here);
        };
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut write: Vec<_> = self.options.write.iter().map(absolute).collect();
        write.push(mirror.scratch());
        let offline = self.offline(skill, &files.root.join(script));
        let sockets = match offline {
            Some(_) => Sockets::Pairs,
            None if !skill.scope.is_trusted() => Sockets::Internet,
            None => Sockets::All,
        };
        let openings = Openings { write, sockets, scratch: Some(mirror.scratch()) };
        let output =
            run::run(&program, set_up, openings, &self.options.limits, io).map_err(failed)?;
        tracing::debug!(skill = %skill.id, script, code = ?output.exit_code, reason = ?output.reason, "ran a script");
        Ok(ScriptOutput { withheld, offline, ..output })
    }

    /// The reason why the network is closed to the script at `path`; `None` if it is open.
    fn offline(&self, skill: &Owner, path: &Path) -> Option<Offline> {
        let is_foreign = !skill.scope.is_trusted();
        match () {
            () if !self.options.network => Some(Offline::Host),
            () if is_foreign && !skill.network => Some(Offline::NotAsked),
            () if is_foreign && !self.trust.opens_network(path) => Some(Offline::NotAllowed),
            () => None,
        }
    }

    /// The `PATH` of scripts.
    fn path(&self) -> OsString {
        let path = self.options.environment.var("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        process::absolute_only(&path)
    }

    /// The environment of a script.
    fn env(
        &self,
        skill: &Owner,
        path: &OsStr,
        skill_dir: PathBuf,
        mirror: &Mirror,
    ) -> BTreeMap<OsString, OsString> {
        let more = self.options.skill_env.get(&skill.id).into_iter().flatten();
        let names = self.options.env.iter().chain(more);
        let mut env: BTreeMap<OsString, OsString> = names
            .filter_map(|name| Some((name.into(), self.options.environment.var(name)?)))
            .collect();
        if env.contains_key(OsStr::new("PATH")) {
            env.insert("PATH".into(), path.to_owned());
        }
        let scratch = mirror.scratch();
        env.extend([
            ("SKILL_DIR".into(), skill_dir.into_os_string()),
            ("TMPDIR".into(), scratch.clone().into_os_string()),
            // Bytecode beside a script is not what was checked.
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("PYTHONPYCACHEPREFIX".into(), scratch.into_os_string()),
        ]);
        env
    }

    /// The version of a Node.js, which is asked for it.
    fn node_version(&self, node: &Path) -> Option<(u32, u32)> {
        let set_up = |command: &mut Command| {
            command.arg("--version").env_clear().env("PATH", self.path()).current_dir("/");
        };
        let limits = ScriptLimits { timeout: Duration::from_secs(5), ..ScriptLimits::default() };
        let sockets = Sockets::Pairs;
        let openings = Openings { write: Vec::new(), sockets, scratch: None };
        let output = run::run(node, set_up, openings, &limits, ScriptIo::default()).ok()?;
        let version = semver::Version::parse(output.stdout.trim().strip_prefix('v')?).ok()?;
        Some((u32::try_from(version.major).ok()?, u32::try_from(version.minor).ok()?))
    }
}

/// The sandbox that a script gets on this machine, tried for real, on a thread that ends with it.
/// Limits in numbers are a process's own and are not tried: `rlimits` is false.
///
/// Fails if the system starts no thread.
pub fn sandbox() -> std::io::Result<SandboxLevel> {
    run::sandbox()
}

/// The error for a script that nothing runs.
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

fn describe(files: &Files, path: &str, search: &Search<'_>) -> Script {
    let mut script = Script {
        path: path.to_owned(),
        interpreter: None,
        problem: None,
        is_data: false,
        help: None,
    };
    match files.head(path, HEAD_BYTES) {
        Ok((head, is_executable)) => {
            match search.runner(path, &head, is_executable) {
                Ok(Runner::Itself) => {}
                Ok(Runner::Program { path, args }) => {
                    let words = std::iter::once(path.to_string_lossy().into_owned()).chain(args);
                    script.interpreter = Some(words.collect::<Vec<_>>().join(" "));
                }
                Err(NoRunner { why, .. }) => script.problem = Some(format!("it {why}")),
            }
            script.is_data = !process::is_marked(path, &head);
            script.help = help::help(path, &head);
        }
        Err(error) => script.problem = Some(format!("it cannot be read: {error}")),
    }
    script
}
