//! Runs `git` so that it reads one repository and starts no other program.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use repertoire_plugin::{ToolContext, ToolError, ToolResult};

/// The number of bytes at which output is cut: a model does not read more.
const MAX_OUTPUT: u64 = 1 << 20;
const POLL: Duration = Duration::from_millis(5);

/// Options that stop a repository's own configuration from starting programs or waiting for input.
const QUIET: &[&str] = &[
    "--no-pager",
    "--literal-pathspecs",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
];

/// A repository.
pub(crate) struct Git {
    repository: PathBuf,
}

impl Git {
    pub(crate) fn new(repository: PathBuf) -> Self {
        Self { repository }
    }

    /// Runs `git ARGUMENTS -- PATH` until it ends or the call is cancelled.
    pub(crate) fn run(
        &self,
        arguments: &[String],
        path: Option<&str>,
        cx: &ToolContext<'_>,
    ) -> ToolResult<String> {
        let path = path.map(confined).transpose()?;
        let shown = self.repository.display();
        let repository = self.repository.canonicalize().map_err(|error| {
            ToolError::new(format!("cannot open the repository `{shown}`: {error}"))
        })?;
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            // Variables such as GIT_DIR would select another repository.
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        if let Some(parent) = repository.parent() {
            command.env("GIT_CEILING_DIRECTORIES", parent);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").current_dir(&repository);
        command.args(QUIET).args(arguments).arg("--").args(path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ToolError::new("the program `git` is not installed"),
            _ => ToolError::new(format!("cannot run `git`: {error}")),
        })?;
        finish(child, cx).map_err(|error| match error.message() {
            message
                if message.contains("not a git repository")
                    || message.contains("outside repository") =>
            {
                ToolError::new(format!("`{shown}` is not the root of a git repository"))
            }
            message
                if message.contains("does not have any commits yet")
                    || message.contains("bad revision 'HEAD'") =>
            {
                ToolError::new(format!("the repository `{shown}` has no commits yet"))
            }
            _ => error,
        })
    }
}

/// Waits for the program to end, and reads both of its outputs at the same time.
fn finish(mut child: Child, cx: &ToolContext<'_>) -> ToolResult<String> {
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    thread::scope(|scope| {
        let stdout = scope.spawn(|| read(stdout));
        let stderr = scope.spawn(|| read(stderr));
        let status = loop {
            if let Err(error) = cx.check() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
            if let Some(status) = child.try_wait()? {
                break status;
            }
            thread::sleep(POLL);
        };
        let text = |output: thread::Result<io::Result<String>>| {
            output.map_err(|_| "reading the output of `git` panicked")?.map_err(ToolError::from)
        };
        let (output, errors) = (text(stdout.join())?, text(stderr.join())?);
        if status.success() {
            return Ok(output);
        }
        let first = errors.lines().find(|line| !line.trim().is_empty());
        Err(ToolError::new(format!("`git` failed: {}", first.unwrap_or("it does not say why"))))
    })
}

/// Reads everything, so that the program does not block, but keeps only the beginning.
fn read(source: Option<impl Read>) -> io::Result<String> {
    let Some(mut source) = source else { return Ok(String::new()) };
    let mut bytes = Vec::new();
    source.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    io::copy(&mut source, &mut io::sink())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Checks that a path stays inside of the repository.
fn confined(path: &str) -> ToolResult<&Path> {
    let inside = Path::new(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !inside.components().all(is_plain) {
        return Err(ToolError::invalid_arguments(format!(
            "the path `{path}` is not inside of the repository: it is relative and without `..`"
        )));
    }
    Ok(inside)
}
