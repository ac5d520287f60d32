//! `repertoire hook install` and `uninstall`, and the state of installed hooks.

use std::fmt::Display;
use std::path::{Path, PathBuf, absolute};

use clap::Parser as _;
use repertoire::{Error, ErrorCode};
use repertoire_agents::{AgentState, HookAgent, Start};

use super::agents::{self, Form};
use super::entry::{self, Fault, OwnEntry};
use super::places::{self, as_json};
use super::{settings, several, trust};
use crate::agent::{
    BACKUPS, Changed, Entry, Place, Problem, Target, common_options, warn_of_missing_sources,
};
use crate::args::{Cli, Command, Common, HookInstallArgs, HookPlaceArgs, RoutingArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::setup;

/// The state of this program's hooks in the settings of an agent.
#[derive(Debug)]
pub(crate) enum Installed {
    No,
    Yes(PathBuf),
    /// Installed, but different from the hooks that would be written now.
    Outdated(PathBuf),
    /// Installed but unable to run, with the reason.
    Ineffective(String),
    /// Installed, but the agent does not run them until its user trusts them, or the project; the
    /// reason is a sentence.
    Untrusted(String),
    Unreadable(Error),
}

/// The hooks of an agent, in one of its settings files.
#[derive(Debug)]
struct Hooks {
    agent: HookAgent,
    form: Form,
    /// The path of the file, by which its form is known.
    path: PathBuf,
}

impl Entry for Hooks {
    const BACKUP: &'static str = BACKUPS[0];

    fn words(&self, text: &str) -> Result<Option<Vec<String>>, Problem> {
        match &self.form {
            Form::File(_) => Ok(agents::plugin_words(text)),
            Form::Settings { .. } => {
                let text = as_json(text, &self.path, self.agent);
                let command = settings::own(&text, self.agent)?;
                Ok(command.as_deref().map(agents::words_of))
            }
        }
    }

    fn running(&self, words: &[String]) -> Result<Hooks, Error> {
        let form = agents::form(self.agent, words)?;
        Ok(Hooks { agent: self.agent, form, path: self.path.clone() })
    }

    fn add(&self, text: &str) -> Result<String, Problem> {
        match &self.form {
            Form::File(wanted) if text.is_empty() || agents::plugin_words(text).is_some() => {
                Ok(wanted.clone())
            }
            Form::File(_) => Err(Problem {
                help: Some("move it away"),
                ..Problem::new("was not written by this program")
            }),
            Form::Settings { version, hooks } => settings::add(text, *version, hooks, self.agent),
        }
    }

    fn remove(&self, text: &str, before: Option<&str>) -> Result<Option<String>, Problem> {
        match &self.form {
            Form::File(_) => Ok(None),
            Form::Settings { .. } => settings::remove(text, before, self.agent),
        }
    }
}

pub(super) fn install(
    HookInstallArgs { place: args, options }: &HookInstallArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let HookPlaceArgs { agent, ref place } = *args;
    let words = agents::words(agent, options, common)?;
    let here = Place::named(place, common)?;
    let target = target(agent, &words, here, common)?;
    if matches!(installed(agent, here, common), Installed::No) {
        several::refuse(agent, here, &with_hooks(here, agent, common), common)?;
    }
    target.install(place.dry_run)?.print(out)?;
    warn_of_missing_sources(common, out);
    for note in notes(agent, here, common).into_iter().filter(|_| !out.json) {
        out.note(&note);
    }
    Ok(ExitCode::Done)
}

/// Adds the hooks of `agent`, without options of their own, to its settings in `place`. A dry run changes
/// nothing.
pub(crate) fn add(
    agent: HookAgent,
    place: Place,
    dry_run: bool,
    common: &Common,
) -> Result<Changed, Error> {
    let mut words = agents::plain_words(agent)?;
    words.extend(common_options(common));
    target(agent, &words, place, common)?.install(dry_run)
}

/// Removes the hooks of `agent` from its settings in `place`. A dry run changes nothing.
pub(crate) fn remove(
    agent: HookAgent,
    place: Place,
    dry_run: bool,
    common: &Common,
) -> Result<Changed, Error> {
    let words = agents::plain_words(agent)?;
    target(agent, &words, place, common)?.uninstall(dry_run)
}

/// Returns the sentences that a user needs to read once hooks are installed in `here`: that there are
/// others, or what keeps the agent from running them, such as trust or a file that it ignores.
pub(crate) fn notes(agent: HookAgent, here: Place, common: &Common) -> Vec<String> {
    let twice = several::twice(agent, &with_hooks(here, agent, common), common);
    let in_vain = match installed(agent, here, common) {
        Installed::Untrusted(why) | Installed::Ineffective(why) => Some(why),
        _ => None,
    };
    twice.into_iter().chain(in_vain).collect()
}

/// Returns `here` and the other places in which `agent` has hooks.
fn with_hooks(here: Place, agent: HookAgent, common: &Common) -> Vec<Place> {
    let has_hooks = |known: Place| {
        let state = installed(agent, known, common);
        matches!(state, Installed::Yes(_) | Installed::Outdated(_) | Installed::Untrusted(_))
    };
    let places = places::places(agent, common).into_iter();
    places.filter(|known| *known == here || has_hooks(*known)).collect()
}

pub(super) fn uninstall(
    HookPlaceArgs { agent, place }: &HookPlaceArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let here = Place::named(place, common)?;
    remove(*agent, here, place.dry_run, common)?.print(out)?;
    Ok(ExitCode::Done)
}

fn target(
    agent: HookAgent,
    words: &[String],
    place: Place,
    common: &Common,
) -> Result<Target<Hooks>, Error> {
    let (path, base) = places::file(agent, place, common)?;
    let hooks = Hooks { agent, form: agents::form(agent, words)?, path: path.clone() };
    Target::read(agent.as_str(), place, (path, base), hooks)
}

/// Returns the state of the hooks of `agent` in the settings of `place`.
pub(crate) fn installed(agent: HookAgent, place: Place, common: &Common) -> Installed {
    let found = agents::plain_words(agent).and_then(|plain| {
        let mut target = target(agent, &plain, place, common)?;
        let Some(words) = target.words()? else { return Ok(Installed::No) };
        if let Some(why) = in_vain(&words, agent, place, &target.path, common) {
            return Ok(Installed::Ineffective(why));
        }
        let path = target.path.clone();
        let text = as_json(target.text(), &target.entry.path, agent).into_owned();
        if let Some(why) = discarded(&text, agent, &path, common) {
            return Ok(Installed::Ineffective(why));
        }
        if !matches!(place, Place::User | Place::Project) {
            // Somebody wrote this file by hand, with the events of their choice.
            let untrusted = trust::missing(agent, place, &text, common);
            let untrusted = untrusted.filter(|_| place != Place::System);
            return Ok(untrusted.map_or(Installed::Yes(path), Installed::Untrusted));
        }
        // Compare with the hooks that the same options would install now.
        let n_plain = plain.len();
        let wanted: Vec<String> =
            plain.into_iter().chain(words.into_iter().skip(n_plain)).collect();
        target.entry.form = agents::form(agent, &wanted)?;
        let is_installed = target.is_installed()?;
        let silent = without_messages(agent, &target).filter(|_| !is_installed);
        // Trust comes first: without it, hooks of an earlier version do not run either.
        Ok(match (silent, trust::missing(agent, place, target.text(), common)) {
            (Some(why), _) => Installed::Ineffective(why),
            (None, Some(why)) => Installed::Untrusted(why),
            (None, None) if is_installed => Installed::Yes(path),
            (None, None) => Installed::Outdated(path),
        })
    });
    found.unwrap_or_else(Installed::Unreadable)
}

/// Explains why `agent` gets no answer of our hooks in `text`, its settings at `path`: a fault of each entry for
/// messages, or for other events if there is none for messages.
fn discarded(text: &str, agent: HookAgent, path: &Path, common: &Common) -> Option<String> {
    let (title, path) = (agent.title(), path.display());
    let own = settings::own_entries(text, agent);
    let is_of_message = |entry: &&OwnEntry| agents::is_message_event(&entry.event, agent);
    let mut counting: Vec<&OwnEntry> = own.iter().filter(is_of_message).collect();
    if counting.is_empty() {
        counting.extend(&own);
    }
    if agent == HookAgent::Codex {
        let rejected = |entry: &OwnEntry| entry::rejected(&entry.hook, entry.group.as_ref()?);
        let by = settings::all_entries(text).into_iter().find_map(|e| Some((rejected(&e)?, e)));
        if let Some((cause, OwnEntry { event, .. })) = by {
            return Some(format!(
                "{title} runs no hook of {path}, because of one for `{event}`: {cause}"
            ));
        }
    }
    // Only Gemini CLI has a list of them.
    let off = match agent {
        HookAgent::Gemini => agent.state(&setup::start(common)).disabled_hooks,
        _ => Vec::new(),
    };
    let faults: Option<Vec<Fault>> =
        counting.iter().map(|entry| entry::fault(entry, agent, &off)).collect();
    let Fault { effect, cause } = faults?.into_iter().next()?;
    let event = &counting.first()?.event;
    Some(format!("{title} {effect} the hook for `{event}` in {path}, because {cause}"))
}

/// Explains why hooks in a settings file leave all messages unanswered: the event for them has none.
fn without_messages(agent: HookAgent, target: &Target<Hooks>) -> Option<String> {
    let event = agents::message_event(agent)?;
    let own = settings::own_entries(target.text(), agent);
    let has_it = own.iter().any(|entry| agents::is_message_event(&entry.event, agent));
    (!has_it).then(|| {
        format!(
            "{} has no hook of this program for `{event}`, so no message is answered: put it there with \
             `repertoire hook install {agent}`",
            target.path.display()
        )
    })
}

/// Explains why `agent` runs none of our hooks when it gets a message here; `None` if it runs one, or if there
/// is none.
pub(crate) fn silence(agent: HookAgent, common: &Common) -> Option<String> {
    let common = &common.for_agent(agent);
    let mut reason = None;
    for place in places::places(agent, common) {
        let state = installed(agent, place, common);
        if answers(&state, agent, place, common) {
            return None;
        }
        let told = match state {
            Installed::Ineffective(why) | Installed::Untrusted(why) => why,
            Installed::Unreadable(error) if place != Place::System => error.message().to_owned(),
            _ => continue,
        };
        reason.get_or_insert(told);
    }
    reason
}

/// Tells whether `agent`, which has started, runs our hooks here.
pub(crate) fn runs(agent: HookAgent, common: &Common) -> bool {
    let runs = |place| match installed(agent, place, common) {
        // It would not have started without the trust, which an editor may have given.
        Installed::Untrusted(_) if agent == HookAgent::Gemini => true,
        state => answers(&state, agent, place, common),
    };
    places::places(agent, common).into_iter().any(runs)
}

/// Tells whether hooks in this state answer messages: also if only others of them lack trust.
fn answers(state: &Installed, agent: HookAgent, place: Place, common: &Common) -> bool {
    match state {
        Installed::Yes(_) | Installed::Outdated(_) => true,
        Installed::Untrusted(_) => trust::answers_messages(agent, place, common),
        _ => false,
    }
}

/// Returns the options of the hook that `agent` runs here: those of the narrowest settings, if
/// there are several.
pub(crate) fn options(agent: HookAgent, common: &Common) -> Result<(Common, RoutingArgs), Error> {
    let plain = agents::plain_words(agent)?;
    for place in places::places(agent, common).into_iter().rev() {
        let target = target(agent, &plain, place, common)?;
        let Some(words) = target.words()? else { continue };
        if let Ok(Cli { command: Command::Hook(args), common }) = Cli::try_parse_from(&words) {
            return Ok((common, args.routing));
        }
        let (path, words) = (target.path.display(), words.join(" "));
        let message = format!("the hook in {path} is not a command line: `{words}`");
        let help = format!("repair it with `repertoire hook install {agent}`");
        return Err(Error::new(ErrorCode::ExecutionError, message, help));
    }
    let message = format!("{agent} has no hook here");
    let help = format!("set it up with `repertoire hook install {agent}`, or leave `--agent` out");
    Err(Error::new(ErrorCode::NotFound, message, help))
}

/// Says what to do about hooks of a project, at `path`, that the agent does not read from where it starts.
fn not_read(agent: HookAgent, path: &dyn Display, start: &Start, state: &AgentState) -> String {
    let (title, here) = (agent.title(), start.dir.display());
    let for_user = format!("for the user (`repertoire hook install {agent}`)");
    let project = absolute(&start.project).unwrap_or_else(|_| start.project.clone());
    // In a worktree, Codex reads the hooks of the main checkout.
    match state.settings_dirs.first().filter(|dir| !dir.starts_with(&project)) {
        Some(other) => format!(
            "{title} reads the hooks of {} if it is started in {here}, not {path}: install them there, or \
             {for_user}",
            other.display()
        ),
        None => format!(
            "{title} does not read {path} if it is started in {here}: start it in {}, or install the hooks \
             {for_user}",
            project.display()
        ),
    }
}

/// Explains why hooks that run `words`, in the settings of `place` at `path`, have no effect on `agent` if
/// it is started here, as far as that can be detected.
fn in_vain(
    words: &[String],
    agent: HookAgent,
    place: Place,
    path: &Path,
    common: &Common,
) -> Option<String> {
    let start = setup::start(common);
    let state = agent.state(&start);
    if let Some(by) = state.not_starting() {
        let (title, file, fault) = (agent.title(), by.file.display(), &by.setting);
        return Some(format!("{title} does not start, because {file} is not valid: {fault}"));
    }
    let is_spared = place == Place::System && state.spares_managed_hooks;
    if let Some(by) = state.hooks_off.as_ref().filter(|_| !is_spared) {
        let (file, setting) = (by.file.display(), &by.setting);
        let also = if by.file == path {
            String::new()
        } else {
            format!(", those in {}, too", path.display())
        };
        return Some(format!("{file} turns off all hooks (`{setting}`){also}"));
    }
    let same = |file: &Path| absolute(path).is_ok_and(|path| path == file);
    if let Some((_, by)) = state.ignored_files.iter().find(|(file, _)| same(file)) {
        let (title, file) = (agent.title(), path.display());
        let by = if same(&by.file) { format!("`{}`", by.setting) } else { by.to_string() };
        return Some(format!(
            "{title} ignores all of {file} because of {by}: correct it, or take it out"
        ));
    }
    if let Some((_, by)) = state.replaced_hooks.iter().find(|(file, _)| same(file)) {
        let (title, event, other) = (agent.title(), &by.setting, by.file.display());
        return Some(format!(
            "{title} runs the hooks of {other} for `{event}` in place of those in {}: put all of them into one of \
             these files",
            path.display()
        ));
    }
    let path = path.display();
    let project = absolute(&common.project).unwrap_or_else(|_| common.project.clone());
    let is_read = match place {
        Place::User | Place::System | Place::ByHand | Place::Plugin => true,
        Place::Project => state.settings_dirs.contains(&project),
        Place::Local => state.local_settings_dirs.contains(&project),
    };
    if !is_read {
        return Some(not_read(agent, &path, &start, &state));
    }
    let program = words.first().filter(|program| which::which(program).is_err())?;
    Some(format!("{path} runs `{program}`, which is not a program on this machine"))
}
