//! `repertoire hook install` and `uninstall`: an agent's settings, changed as a whole or not at
//! all.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use clap::Parser as _;
use repertoire::integration::hook::HookAgent;
use repertoire::{Error, ErrorCode};
use serde_json::json;
use similar::TextDiff;

use super::agents::{self, Form, Place};
use super::settings::{self, Problem};
use crate::args::{Cli, Command, Common, HookInstallArgs, HookPlaceArgs, RoutingArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::replace::{check_writable, io_error, replace};
use crate::sanitize;

/// What is added to the name of a settings file for the copy of what it was.
const BACKUP: &str = ".repertoire-backup";

/// Whether an agent runs these hooks.
#[derive(Debug)]
pub(crate) enum Installed {
    No,
    Yes(PathBuf),
    /// Others than would be written now.
    Differently(PathBuf),
    /// They are there and cannot run, and why.
    InVain(String),
    Unreadable(Error),
}

/// A settings file, and what is to stand in it.
struct Target {
    agent: HookAgent,
    /// Where links lead to.
    path: PathBuf,
    /// The directory that was there before any settings: the project, or that of the user's
    /// settings of this agent.
    base: PathBuf,
    /// What is in it; `None` if there is no such file.
    text: Option<String>,
    form: Form,
}

pub(super) fn install(
    HookInstallArgs { place: args, routing }: &HookInstallArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let place = place(args, common)?;
    let words = agents::words(args.agent, routing, common)?;
    let target = Target::new(args.agent, &words, place, common)?;
    let wanted = target.added()?;
    // What was there before ours came is what is to be there again after it.
    let backup = target.text.as_deref().filter(|_| matches!(target.own_words(), Ok(None)));
    let change = Change { target: &target, wanted: Some(&wanted), backup, place };
    change.make(args.dry_run, out)?;
    let answers = |known: Place| {
        known == place || matches!(installed(args.agent, known, common), Installed::Yes(_))
    };
    let places = Place::of(args.agent).iter().copied().filter(|known| answers(*known));
    if let Some(note) = twice(args.agent, &places.collect::<Vec<_>>())
        && !out.json
    {
        out.note(&note);
    }
    if args.agent == HookAgent::Codex && change.is_one() && !out.json {
        out.note("Codex runs a new hook only after you trusted it: open `/hooks` in Codex");
    }
    Ok(ExitCode::Done)
}

pub(super) fn uninstall(
    args: &HookPlaceArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let place = place(args, common)?;
    let words = agents::plain_words(args.agent)?;
    let target = Target::new(args.agent, &words, place, common)?;
    let before = fs::read_to_string(target.backup()).ok();
    let wanted = target.removed(before.as_deref())?;
    let is_changed = wanted != target.text;
    let is_restored = is_changed && before.is_some() && wanted == before;
    let backup = target.text.as_deref().filter(|_| is_changed && !is_restored && wanted.is_some());
    let change = Change { target: &target, wanted: wanted.as_deref(), backup, place };
    change.make(args.dry_run, out)?;
    if is_restored && !args.dry_run {
        fs::remove_file(target.backup())
            .map_err(|error| io_error("remove", &target.backup(), &error))?;
    }
    Ok(ExitCode::Done)
}

/// What is said where `agent` has hooks in several places.
pub(crate) fn twice(agent: HookAgent, places: &[Place]) -> Option<String> {
    let times = match places.len() {
        0 | 1 => return None,
        2 => "twice",
        _ => "three times",
    };
    let whose = places.iter().map(|place| match place {
        Place::User => "for the user".to_owned(),
        Place::Project => "for this project".to_owned(),
        Place::Local => format!("for you in this project (`{}`)", agents::LOCAL_SETTINGS),
    });
    let whose = whose.collect::<Vec<_>>().join(" and ");
    let by_hand = if places.contains(&Place::Local) {
        format!("; what is in `{}` is to be taken out by hand", agents::LOCAL_SETTINGS)
    } else {
        String::new()
    };
    Some(format!(
        "{agent} has hooks {whose}, and answers each message {times}: leave one in, and take out \
         others with `repertoire hook uninstall {agent}`, or that with `--project`{by_hand}"
    ))
}

/// Whether `agent` runs the hooks in the settings of `place`.
pub(crate) fn installed(agent: HookAgent, place: Place, common: &Common) -> Installed {
    let target =
        agents::plain_words(agent).and_then(|words| Target::new(agent, &words, place, common));
    let found = target.and_then(|mut target| {
        let Some(text) = target.text.clone() else { return Ok(Installed::No) };
        let Some(words) = target.own_words()? else { return Ok(Installed::No) };
        if let Some(why) = in_vain(&words, &text) {
            return Ok(Installed::InVain(format!("{} {why}", target.path.display())));
        }
        if place == Place::Local {
            // Written by hand, with whatever events its author wants.
            return Ok(Installed::Yes(target.path));
        }
        // The options are whatever they were installed with.
        let mut wanted = agents::plain_words(agent)?;
        wanted.extend(words.into_iter().skip(wanted.len()));
        target.form = agents::form(agent, &wanted)?;
        let is_right = target.added()? == text;
        let path = target.path;
        Ok(if is_right { Installed::Yes(path) } else { Installed::Differently(path) })
    });
    found.unwrap_or_else(Installed::Unreadable)
}

/// The options of the hook that `agent` runs here: that of the narrowest settings, if it has several.
pub(crate) fn options(agent: HookAgent, common: &Common) -> Result<(Common, RoutingArgs), Error> {
    let plain = agents::plain_words(agent)?;
    for &place in Place::of(agent).iter().rev() {
        let target = Target::new(agent, &plain, place, common)?;
        let Some(words) = target.own_words()? else { continue };
        if let Ok(Cli { command: Command::Hook(args), common }) = Cli::try_parse_from(&words) {
            return Ok((common, args.routing));
        }
        let (path, words) = (target.path.display(), words.join(" "));
        let message = format!("the hook in {path} is no command line: `{words}`");
        let help = format!("repair it with `repertoire hook install {agent}`");
        return Err(Error::new(ErrorCode::ExecutionError, message, help));
    }
    let message = format!("{agent} has no hook here");
    let help = format!("set it up with `repertoire hook install {agent}`, or leave `--agent` out");
    Err(Error::new(ErrorCode::NotFound, message, help))
}

/// Why hooks that run `words` do nothing, if that can be seen.
fn in_vain(words: &[String], settings: &str) -> Option<String> {
    if settings::disables_hooks(settings) {
        return Some("turns off all hooks (`disableAllHooks`)".to_owned());
    }
    let program = words.first().filter(|program| which::which(program).is_err())?;
    Some(format!("runs `{program}`, which is no program here"))
}

fn place(args: &HookPlaceArgs, common: &Common) -> Result<Place, UsageError> {
    match (args.user, common.names_project) {
        (true, true) => Err(UsageError(Error::new(
            ErrorCode::InvalidParam,
            "`--user` and `--project` cannot be had at once",
            "install twice, if both are wanted",
        ))),
        (_, false) => Ok(Place::User),
        (false, true) => Ok(Place::Project),
    }
}

impl Target {
    fn new(
        agent: HookAgent,
        words: &[String],
        place: Place,
        common: &Common,
    ) -> Result<Target, Error> {
        let form = agents::form(agent, words)?;
        let mut path = agents::file(agent, place, common)?;
        let base = agents::base(agent, place, common)?;
        if path.is_symlink() {
            // What is replaced is the file, not a link to it.
            path = path.canonicalize().map_err(|error| io_error("follow", &path, &error))?;
        }
        // To read what is none may never end.
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("{} is not a file", path.display());
            return Err(Error::new(ErrorCode::ExecutionError, message, "move it away"));
        }
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("read", &path, &error)),
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                let message = format!("{} is not UTF-8 from byte {at} on", path.display());
                Error::new(ErrorCode::ExecutionError, message, "repair it first")
            })?),
        };
        Ok(Target { agent, path, base, text, form })
    }

    fn is_own(&self, command: &str) -> bool {
        agents::is_own_command(command, self.agent)
    }

    /// The words that the file runs for one of our hooks; `None` if there is none.
    fn own_words(&self) -> Result<Option<Vec<String>>, Error> {
        let text = self.text.as_deref().unwrap_or_default();
        match &self.form {
            Form::File(_) => Ok(agents::plugin_words(text)),
            Form::Settings { .. } => settings::own(text, &|command| self.is_own(command))
                .map(|command| command.as_deref().map(agents::split))
                .map_err(|problem| self.refuse(&problem)),
        }
    }

    /// The file with ours in it.
    fn added(&self) -> Result<String, Error> {
        self.added_to(self.text.as_deref().unwrap_or_default())
    }

    fn added_to(&self, text: &str) -> Result<String, Error> {
        match &self.form {
            Form::File(wanted) if text.is_empty() || agents::plugin_words(text).is_some() => {
                Ok(wanted.clone())
            }
            Form::File(_) => Err(self.foreign()),
            Form::Settings { version, hooks } => {
                settings::add(text, *version, hooks, &|command| self.is_own(command))
                    .map_err(|problem| self.refuse(&problem))
            }
        }
    }

    /// The file without ours, where it was `before` they came; `None` if it goes with them.
    fn removed(&self, before: Option<&str>) -> Result<Option<String>, Error> {
        let Some(text) = self.text.as_deref() else { return Ok(None) };
        if self.own_words()?.is_none() {
            return Ok(Some(text.to_owned()));
        }
        // Where nobody else changed it since, not a byte is to be different.
        let is_as_written = |before: &str| self.added_to(before).is_ok_and(|added| added == text);
        match (before, &self.form) {
            (Some(before), _) if is_as_written(before) => Ok(Some(before.to_owned())),
            (_, Form::File(_)) => Ok(None),
            (_, Form::Settings { .. }) => {
                settings::remove(text, before, &|command| self.is_own(command))
                    .map_err(|problem| self.refuse(&problem))
            }
        }
    }

    /// Removes the directories that were made for the file and hold nothing else, up to that of
    /// the agent's settings.
    fn remove_empty_dirs(&self) {
        for dir in self.path.ancestors().skip(1).take_while(|dir| **dir != *self.base) {
            // One that is not empty stays, and those above it.
            if !dir.starts_with(&self.base) || fs::remove_dir(dir).is_err() {
                return;
            }
        }
    }

    fn backup(&self) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(BACKUP);
        name.into()
    }

    fn refuse(&self, problem: &Problem) -> Error {
        let at = problem.at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let message = format!("{}{at} {}", self.path.display(), problem.what);
        let help =
            format!("repair it first; nothing was changed, and {} reads it, too", self.agent);
        Error::new(ErrorCode::ExecutionError, message, help)
    }

    fn foreign(&self) -> Error {
        let message = format!("{} was not written by this program", self.path.display());
        Error::new(ErrorCode::ExecutionError, message, "move it away")
    }
}

/// A change of a settings file.
struct Change<'a> {
    target: &'a Target,
    /// `None` removes the file.
    wanted: Option<&'a str>,
    /// What is kept beside the file.
    backup: Option<&'a str>,
    place: Place,
}

impl Change<'_> {
    fn is_one(&self) -> bool {
        self.target.text.as_deref() != self.wanted
    }

    /// Shows the change, and makes it unless this is only a rehearsal.
    fn make(&self, dry_run: bool, out: Output) -> anyhow::Result<()> {
        let path = &self.target.path;
        let is_one = self.is_one();
        let backup = self.backup.filter(|_| is_one);
        if is_one && !dry_run {
            check_writable(&self.target.path, "add what `--dry-run` shows by hand")?;
            if let Some(text) = backup {
                replace(&self.target.backup(), text, path)?;
            }
            if let Some(text) = self.wanted {
                replace(path, text, path)?;
            } else {
                fs::remove_file(path).map_err(|error| io_error("remove", path, &error))?;
                self.target.remove_empty_dirs();
            }
        }
        let diff = self.diff();
        let kept = backup.map(|_| self.target.backup());
        if out.json {
            Output::json(&json!({
                "agent": self.target.agent.as_str(),
                "place": self.place.as_str(),
                "path": path.to_string_lossy(),
                "changed": is_one && !dry_run,
                "diff": diff,
                "backup": kept.map(|path| path.to_string_lossy().into_owned()),
            }))?;
            return Ok(());
        }
        let mut page = Page::default();
        for line in diff.lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => WARNING,
                _ => DIM,
            };
            page.line(format_args!("{}", styled(style, sanitize::line(line))));
        }
        let name = path.to_string_lossy();
        let name = styled(NAME, sanitize::line(&name));
        match (is_one, dry_run) {
            (false, _) => page.line(format_args!("{name} needs no change")),
            (true, true) => page.line(format_args!("{name} would be changed")),
            (true, false) if self.wanted.is_none() => page.line(format_args!("{name} is removed")),
            (true, false) => page.line(format_args!("{name} is changed")),
        }
        if let Some(kept) = kept.filter(|_| !dry_run) {
            let kept = kept.to_string_lossy();
            page.line(format_args!("what it was is in {}", sanitize::line(&kept)));
        }
        Ok(out.human(page.as_str())?)
    }

    fn diff(&self) -> String {
        let name = self.target.path.to_string_lossy();
        let old = self.target.text.as_deref();
        let names = (
            if old.is_some() { &*name } else { "/dev/null" },
            if self.wanted.is_some() { &*name } else { "/dev/null" },
        );
        let diff = TextDiff::from_lines(old.unwrap_or_default(), self.wanted.unwrap_or_default());
        diff.unified_diff().context_radius(2).header(names.0, names.1).to_string()
    }
}
