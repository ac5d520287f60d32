//! Runs the system's `git` under limits: without prompts, and without the hooks or helpers of a
//! repository.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, absolute};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};

use super::limits::{Deadline, INTERVAL, too_large};
use super::location::SCHEMES;
use repertoire::{Error, ErrorCode};
use repertoire_system::process::Running;

/// The environment variables that `git` inherits: they name the places of programs, keys, certificates
/// and proxies. Other variables could change what `git` does, such as those that begin with `GIT_`.
const PASSED: [&str; 21] = [
    "ALL_PROXY", "APPDATA", "HOME", "HTTPS_PROXY", "LOGNAME", "NO_PROXY", "PATH", "SSH_AUTH_SOCK",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USER", "USERPROFILE",
    "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "all_proxy", "https_proxy", "no_proxy",
];

/// Settings that override the configuration of the user.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.interactive=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
];

/// The command for `ssh://`: it never prompts, and leaves no process behind.
const SSH: &str = "ssh -o BatchMode=yes -o ControlMaster=no";

/// Creates a `git` command that knows no repository. It runs in `dir`, which is empty: in any other directory, git
/// reads the settings of the repository that it finds there or above, which may be somebody else's and name programs.
pub(super) fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir);
    let passed = PASSED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    command.env_clear().envs(passed);
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "");
    command.env("SSH_ASKPASS_REQUIRE", "never").env("GIT_NO_REPLACE_OBJECTS", "1");
    command.env("GIT_SSH_COMMAND", SSH).env("GIT_SSH_VARIANT", "ssh");
    // Unlike `protocol.allow`, no setting of a scheme goes before this.
    command.env("GIT_ALLOW_PROTOCOL", SCHEMES.join(":"));
    let above = absolute(dir).ok().and_then(|dir| Some(dir.parent()?.to_owned()));
    command.envs(above.map(|above| ("GIT_CEILING_DIRECTORIES", above)));
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// Creates a `git` command for the repository `dir`, a bare one.
pub(super) fn git_in(dir: &Path) -> Command {
    let mut command = git(dir);
    command.args(["--git-dir", "."]);
    command
}

/// The limits of a run.
pub(super) struct Run<'a> {
    /// The source, for errors.
    pub(super) source: &'a str,
    pub(super) deadline: &'a Deadline,
    /// A directory, and the maximum number of bytes that it may hold.
    pub(super) growth: Option<(&'a Path, u64)>,
}

impl Run<'_> {
    /// Runs `command` and returns its standard output, of at most `most` bytes.
    pub(super) fn output(&self, command: &mut Command, most: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.stream(command, None, &mut |stdout| {
            stdout.take(most + 1).read_to_end(&mut bytes).map_err(|error| self.broken(&error))?;
            if bytes.len() as u64 > most {
                return Err(too_large(self.source, "bytes of names", most));
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Runs `command`, and passes its standard output to `read`. Fails if either fails.
    pub(super) fn stream(
        &self,
        command: &mut Command,
        input: Option<File>,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), Error>,
    ) -> Result<(), Error> {
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        let started = Running::start(command).map_err(|error| self.not_started(&error))?;
        let (running, _, mut stdout) = started;
        let (ended, is_ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let watched = &running;
            let watchdog = scope.spawn(move || self.watch(watched, &is_ended));
            let result = read(&mut stdout);
            // The output is closed, so the program has ended or soon will; or nobody reads it any more.
            if result.is_err() {
                running.kill();
            }
            let status = running.wait();
            drop(ended);
            if let Some(error) = watchdog.join().unwrap_or(None) {
                return Err(error);
            }
            result?;
            // The directory may have exceeded the limit between two checks of the watchdog.
            if let Some((_, limit)) = self.growth.filter(is_too_large) {
                return Err(too_large(self.source, "bytes", limit));
            }
            match status {
                Ok(status) if status.success() => Ok(()),
                Ok(_) => Err(self.failed(&running.errors())),
                Err(error) => Err(self.broken(&error)),
            }
        })
    }

    /// Kills the program once a limit is reached, and returns the error for that.
    fn watch(&self, running: &Running, is_ended: &mpsc::Receiver<()>) -> Option<Error> {
        loop {
            match is_ended.recv_timeout(INTERVAL) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => return None,
            }
            let error = if self.deadline.is_over() {
                self.deadline.error(self.source)
            } else if let Some((_, limit)) = self.growth.filter(is_too_large) {
                too_large(self.source, "bytes", limit)
            } else {
                continue;
            };
            running.kill();
            return Some(error);
        }
    }

    fn failed(&self, errors: &str) -> Error {
        let message = format!("cannot fetch {}: {}", self.source, cause(errors));
        let help = "check the address, the network, and that you may read it without a password";
        Error::new(ErrorCode::ExecutionError, message, help)
    }

    fn not_started(&self, error: &io::Error) -> Error {
        let message = format!("cannot fetch {}: `git` cannot be started: {error}", self.source);
        Error::new(
            ErrorCode::NotFound,
            message,
            "install git, and make sure that it is in the `PATH`",
        )
    }

    /// The error if the output cannot be read.
    pub(super) fn broken(&self, error: &io::Error) -> Error {
        let message = format!("cannot read {}: {error}", self.source);
        Error::new(ErrorCode::ExecutionError, message, "try again")
    }
}

/// The lines of standard error that say why `git` failed. `git` itself only reports that it read nothing
/// from another program, such as `ssh`, which has reported the cause before.
fn cause(errors: &str) -> String {
    let is_of_git = |line: &&str| {
        ["fatal: ", "error: ", "ERROR: ", "remote: "].iter().any(|start| line.starts_with(start))
    };
    let lines = || errors.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let cause = lines().find(is_of_git).or(lines().next_back()).unwrap_or("it failed");
    if cause.contains("Could not read from remote repository") {
        let of_program = lines().take_while(|line| *line != cause).filter(|l| !l.contains("@@@@"));
        let of_program: Vec<&str> = of_program.collect();
        let last = &of_program[of_program.len().saturating_sub(MAX_CAUSE_LINES)..];
        if !last.is_empty() {
            return last.join("; ");
        }
    }
    cause.trim_start_matches("fatal: ").to_owned()
}

/// The most lines of another program that are shown.
const MAX_CAUSE_LINES: usize = 3;

/// Tells whether the files below a directory have more bytes than `limit`.
fn is_too_large(&(dir, limit): &(&Path, u64)) -> bool {
    bytes_below(dir) > limit
}

/// The bytes of all files below a directory.
pub(super) fn bytes_below(dir: &Path) -> u64 {
    let files = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    let files = files.filter_map(|file| file.metadata().ok()).filter(std::fs::Metadata::is_file);
    files.map(|metadata| metadata.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::cause;

    #[test]
    fn the_cause_is_that_of_the_program_which_failed_first() {
        let end = "fatal: Could not read from remote repository.\n\nPlease make sure you have the \
                   correct access rights\nand the repository exists.\n";
        for (errors, wanted) in [
            ("fatal: repository 'x' not found\n", "repository 'x' not found"),
            ("warning: w\nremote: Not Found\nfatal: late\n", "remote: Not Found"),
            (
                "git@github.com: Permission denied (publickey).\r\n{end}",
                "git@github.com: Permission denied (publickey).",
            ),
            (
                "@@@@@@@@\n@ WARNING: CHANGED! @\nHost key verification failed.\n{end}",
                "@ WARNING: CHANGED! @; Host key verification failed.",
            ),
            ("{end}", "Could not read from remote repository."),
            ("", "it failed"),
        ] {
            assert_eq!(cause(&errors.replace("{end}", end)), wanted, "{errors}");
        }
    }
}
