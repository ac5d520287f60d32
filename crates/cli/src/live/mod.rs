//! `repertoire doctor --live AGENT`: runs the agent against a model on the loopback, and reports
//! the text that reached the model: in a project of its own, and in a copy of the user's.

mod clean;
mod copy;
mod here;
mod model;
mod programs;
mod protocol;

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::{DIM, ERROR, GOOD, NAME, Output, Page, styled};
use crate::sanitize;
use model::Model;
use programs::{PROGRAMS, Program, TRUST_OPTION, TRUST_VARIABLE, isolate};
use protocol::Protocol;

/// The time limit for one message.
const AGENT_TIMEOUT: Duration = Duration::from_secs(100);

/// The skill of the trial. `LINE` occurs only in its line in a list, and `BODY` only in its
/// instructions.
const SKILL: &str = "---\nname: trial-balloon\ndescription: Lets a trial balloon rise. Use for trials.\n\
                     triggers: [trial balloon]\n---\nBALLOON-4409: let it rise.\n";
const LINE: &str = "- trial-balloon: ";
const BODY: &str = "BALLOON-4409";

/// The messages of the trial: one that calls for the skill, one that does not, and another that does.
const MESSAGES: [&str; 3] =
    ["let a trial balloon rise", "thanks so far", "one more trial balloon, please"];

/// The checks of the text that reached the model.
#[derive(Debug, Serialize)]
struct Report {
    agent: &'static str,
    /// The version that the program reports.
    version: String,
    /// In a project of its own, apart from the user's settings.
    checks: Vec<Check>,
    /// In a copy of the user's project and settings.
    here: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    is_right: bool,
    detail: String,
}

impl Check {
    /// Checks that `text` reached the model exactly once, in `request`.
    fn once(what: &'static str, text: &str, request: &Value) -> Check {
        let n_times = count(request, text);
        let detail = match n_times {
            0 => "it did not reach the model".to_owned(),
            1 => String::new(),
            n => format!("it reached the model {n} times"),
        };
        Check { what, is_right: n_times == 1, detail }
    }
}

/// Returns the word that runs `program`.
fn name(program: &Program) -> &str {
    program.words("", false)[0]
}

fn is_installed(program: &Program) -> bool {
    which::which(name(program)).is_ok()
}

fn count(request: &Value, text: &str) -> usize {
    request.to_string().matches(text).count()
}

/// Runs `agent` with the hooks and the server of this program: first apart from the user's settings, then
/// with a copy of them.
pub(crate) fn run(agent: HookAgent, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let program = PROGRAMS.iter().find(|program| program.agent == agent.as_str());
    let Some(program) = program else {
        let message = format!("{agent} cannot be run without its window");
        let known = PROGRAMS.map(|program| format!("`{}`", program.agent)).join(", ");
        let help = format!(
            "name one of {known}; `repertoire doctor` says whether the hooks of {agent} can run"
        );
        return Err(UsageError(Error::new(ErrorCode::InvalidParam, message, help)).into());
    };
    let trial = Trial::apart(program)?;
    let checks = trial.checks()?;
    let here = here::checks(agent, program, common)?;
    let report = Report { agent: agent.as_str(), version: trial.version(), checks, here };
    if out.json {
        Output::json(&report)?;
    } else {
        out.human(page(program, &report).as_str())?;
    }
    let mut checks = report.checks.iter().chain(&report.here);
    Ok(ExitCode::done_if(checks.all(|check| check.is_right)))
}

/// Sends `message` to `agent` in a copy of the user's settings, and tells whether the instructions of the
/// skill `id` reached the model. `None` if the agent's program is not installed, or needs its window.
pub(crate) fn fires(
    agent: HookAgent,
    message: &str,
    id: &str,
    common: &Common,
) -> anyhow::Result<Option<bool>> {
    let program = PROGRAMS.iter().find(|program| program.agent == agent.as_str());
    let Some(program) = program.filter(|program| is_installed(program)) else { return Ok(None) };
    let request = here::request(agent, program, message, common)?;
    Ok(Some(count(&request, &format!("## Skill: {id}")) > 0))
}

/// A program that speaks to a model on the loopback.
struct Trial<'p> {
    program: &'p Program,
    model: Model,
    /// The directory of everything that the program reads and writes; deleted at the end.
    _dir: TempDir,
    home: PathBuf,
    /// The directory in which the program is started.
    here: PathBuf,
    /// True if the program trusts every hook and project.
    trusts_all: bool,
    /// Variables that the program gets besides those of every trial.
    variables: Vec<(&'static str, OsString)>,
}

impl<'p> Trial<'p> {
    /// Prepares a trial in a project with one skill, apart from the user's settings.
    fn apart(program: &'p Program) -> anyhow::Result<Trial<'p>> {
        if !is_installed(program) {
            let name = name(program);
            let message =
                format!("{} is not installed: there is no program `{name}`", program.title);
            return Err(Error::new(
                ErrorCode::NotFound,
                message,
                "install it, or add it to `PATH`",
            )
            .into());
        }
        let dir = TempDir::new()?;
        let (home, here) = (dir.path().join("home"), dir.path().join("project"));
        let (model, variables) = (Model::start()?, Vec::new());
        let trial = Trial { program, model, _dir: dir, home, here, trusts_all: true, variables };
        write_skill(&trial.here.join(".repertoire/skills"))?;
        // All agents take a directory with `.git` for the root of a project.
        fs::create_dir_all(trial.here.join(".git"))?;
        fs::create_dir_all(&trial.home)?;
        if let Some((name, text)) = program.settings(&trial.model.url(), Some(&trial.here)) {
            let path = trial.home.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, text)?;
        }
        trial.install("hook")?;
        Ok(trial)
    }

    /// Installs our hooks or our server for the program.
    fn install(&self, command: &str) -> anyhow::Result<()> {
        let mut install = self.command(&std::env::current_exe()?);
        let output = install.args([command, "install", self.program.agent]).output()?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let message = format!("cannot set up {}: {told}", self.program.title);
        Err(Error::new(ErrorCode::ExecutionError, message, "").into())
    }

    /// Returns a command for `program` that inherits nothing from this machine but `PATH`.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        isolate(&mut command, &path, &self.home, &self.model.url());
        if !self.trusts_all {
            command.env_remove(TRUST_VARIABLE);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.here).stdin(Stdio::null());
        command
    }

    fn version(&self) -> String {
        let mut command = self.command(Path::new(name(self.program)));
        let told = command.arg("--version").output().map(|output| output.stdout);
        let told = String::from_utf8_lossy(&told.unwrap_or_default()).into_owned();
        told.lines().next().unwrap_or_default().trim().to_owned()
    }

    /// Sends `message` to the program, and returns the request that it then makes to the model.
    fn say(&self, message: &str, resumes: bool) -> anyhow::Result<Value> {
        let n_before = self.model.requests().len();
        let words = self.program.words(message, resumes);
        let mut command = self.command(Path::new(words[0]));
        let words = words[1..].iter().filter(|word| self.trusts_all || **word != TRUST_OPTION);
        command.args(words).stdout(Stdio::null()).stderr(Stdio::piped());
        let told = finish(command.spawn()?)?;
        self.model.request(n_before, message).ok_or_else(|| {
            let told = anstream::adapter::strip_str(&told).to_string();
            let told = told.trim().lines().last().unwrap_or("it printed nothing").to_owned();
            let message = format!("{} sent no request to the model: {told}", self.program.title);
            let help = "run it by hand, and see whether it starts";
            Error::new(ErrorCode::ExecutionError, message, help).into()
        })
    }

    fn checks(&self) -> anyhow::Result<Vec<Check>> {
        let mut requests = Vec::new();
        for (place, message) in MESSAGES.iter().enumerate() {
            requests.push(self.say(message, place > 0)?);
        }
        self.install("mcp")?;
        let with_server = self.say("begin anew", false)?;
        let tools = Protocol::tools(&with_server);
        let n_tools = tools.iter().filter(|tool| tool.contains("use_skill")).count();
        let is_deferred = count(&with_server, "use_skill") > 0;
        Ok(vec![
            Check::once("the list of skills", LINE, &requests[0]),
            Check::once("the instructions of a skill that the message matches", BODY, &requests[0]),
            Check::once("the same after the conversation was resumed", BODY, &requests[1]),
            Check::once("the same after a second match", BODY, &requests[2]),
            Check {
                what: "the tools of the MCP server",
                is_right: n_tools > 0 || is_deferred,
                detail: match (n_tools, is_deferred) {
                    (0, false) => "they did not reach the model".to_owned(),
                    (0, true) => "by name: the agent loads them when they are asked for".to_owned(),
                    _ => String::new(),
                },
            },
        ])
    }
}

/// Waits for `child`, and returns its error output. Kills it and fails if it runs longer than
/// `AGENT_TIMEOUT`.
fn finish(mut child: Child) -> anyhow::Result<String> {
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // If reading fails, the part that arrived is enough.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > AGENT_TIMEOUT {
            child.kill()?;
            child.wait()?;
            let message = format!("it was still running after {} seconds", AGENT_TIMEOUT.as_secs());
            return Err(Error::new(ErrorCode::Timeout, message, "run it by hand").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(reader.join().unwrap_or_default())
}

/// Writes the skill of the trial below `dir`.
fn write_skill(dir: &Path) -> std::io::Result<()> {
    let dir = dir.join("trial-balloon");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("SKILL.md"), SKILL)
}

fn page(program: &Program, report: &Report) -> Page {
    let mut page = Page::default();
    let version = sanitize::line(&report.version).into_owned();
    page.line(format_args!("{} {version}", styled(NAME, program.title)));
    checks_of(&report.checks, &mut page);
    page.line(format_args!("here, with a copy of your settings"));
    checks_of(&report.here, &mut page);
    page
}

fn checks_of(checks: &[Check], page: &mut Page) {
    for Check { what, is_right, detail } in checks {
        let (style, mark) = if *is_right { (GOOD, "yes") } else { (ERROR, "no ") };
        let mark = styled(style, mark);
        if detail.is_empty() {
            page.line(format_args!("  {mark} {what}"));
        } else {
            page.line(format_args!("  {mark} {what} {}", styled(DIM, sanitize::line(detail))));
        }
    }
}
