//! The trial in the user's own project and directory, with a copy of the settings: shows an agent that
//! does not run the hooks from where it is started, and skills that it does not list.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use repertoire_agents::{HookAgent, Start};
use serde_json::{Value, json};

use super::copy::{Copy, Original};
use super::model::Model;
use super::programs::Program;
use super::{BODY, Check, LINE, MESSAGES, Trial, clean, write_skill};
use crate::args::Common;
use crate::hook::{self, Installed};
use crate::{agent, setup};

/// The maximum number of skills that the trial asks for by name.
const MAX_ASKED: usize = 3;

/// Runs `agent` with a copy of what it finds from the user's working directory.
pub(super) fn checks(
    agent: HookAgent,
    program: &Program,
    common: &Common,
) -> anyhow::Result<Vec<Check>> {
    let common = &common.for_agent(agent);
    let (skills, _) = match hook::options(agent, common) {
        Ok(options) => options,
        Err(error) => {
            let (what, detail) = ("the hooks", format!("{}: {}", error.message(), error.help()));
            return Ok(vec![Check { what, is_right: false, detail }]);
        }
    };
    let trial = copied(agent, program, common)?;
    let request = match trial.say(MESSAGES[0], false) {
        Ok(request) => request,
        Err(error) => {
            let (what, detail) = ("an answer to a message", error.to_string());
            return Ok(vec![Check { what, is_right: false, detail }]);
        }
    };
    let mut checks = Vec::new();
    // Options of the hook can leave out the skill of the trial.
    if skills.sources.is_empty() && skills.allow.is_empty() {
        checks.push(Check::once("the list of skills", LINE, &request));
        let what = "the instructions of a skill that the message matches";
        checks.push(Check::once(what, BODY, &request));
    }
    let obstacle = obstacle(agent, common);
    for check in checks.iter_mut().filter(|check| !check.is_right) {
        check.detail.extend(obstacle.iter().map(|why| format!(": {why}")));
    }
    let native = native_skills(&trial)?;
    checks.push(as_listed(&native, &request));
    checks.extend(left_alone(&trial, &native, &request)?);
    Ok(checks)
}

/// Returns the request that `agent` makes to the model for `message`, with a copy of what it finds from the
/// user's working directory.
pub(super) fn request(
    agent: HookAgent,
    program: &Program,
    message: &str,
    common: &Common,
) -> anyhow::Result<Value> {
    copied(agent, program, &common.for_agent(agent))?.say(message, false)
}

/// Prepares a trial with a copy of what `agent` finds from the user's working directory.
fn copied<'p>(
    agent: HookAgent,
    program: &'p Program,
    common: &Common,
) -> anyhow::Result<Trial<'p>> {
    let user_dir = agent::user_dir(agent, common)?;
    let absolute = |path: &Path| std::path::absolute(path);
    let original = Original {
        agent,
        home: setup::config_home()?,
        user_dir: user_dir.clone(),
        project: absolute(&common.project)?,
        here: absolute(&common.working_dir)?,
        brand: common.brand.clone(),
    };
    let copy = Copy::of(&original)?;
    let path = |path: &Path| copy.path(path);
    let own_dir = path(&original.project).join(format!(".{}", original.brand));
    write_skill(&own_dir.join("skills"))?;
    let model = Model::start()?;
    configure(program, &model, &path(&user_dir))?;
    let variables = variables(&setup::start(common), &copy);
    let (home, here) = (path(&original.home), path(&original.here));
    // Fetched skills are read in their own place; a trial without them is still one. What the trial itself
    // writes there, such as the bundled skills, goes with it.
    let data = setup::data_dir(common).and_then(|data| std::fs::read_dir(data).ok());
    for entry in data.into_iter().flatten().flatten() {
        let link = home.join(".local/share").join(&common.brand).join(entry.file_name());
        let _ = Copy::link_to(&entry.path(), &link);
    }
    let (has_hook, dir) = (copy.has_hook, copy.into_dir());
    let trial = Trial { program, model, _dir: dir, home, here, trusts_all: false, variables };
    if !has_hook {
        trial.install("hook")?;
    }
    Ok(trial)
}

/// Adds the settings for the trial's model to those of the user, in `user_dir` of the copy.
fn configure(program: &Program, model: &Model, user_dir: &Path) -> anyhow::Result<()> {
    let Some((name, text)) = program.settings(&model.url(), None) else { return Ok(()) };
    std::fs::create_dir_all(user_dir)?;
    let path = user_dir.join(Path::new(name).file_name().unwrap_or_default());
    let mut settings = clean::read(&path).unwrap_or_else(|| json!({}));
    std::fs::write(&path, text)?;
    clean::merge(&mut settings, clean::read(&path).unwrap_or_default());
    Ok(clean::write(&path, &settings)?)
}

/// Returns the variables on which the state of agents depends, with paths in the copy.
fn variables(start: &Start, copy: &Copy) -> Vec<(&'static str, OsString)> {
    let moved = |value: &OsString| {
        let copied = copy.path(Path::new(value));
        let is_copied = Path::new(value).is_absolute() && copied.exists();
        if is_copied { copied.into_os_string() } else { value.clone() }
    };
    start.variables.iter().map(|(name, value)| (*name, moved(value))).collect()
}

/// Returns the reason why the installed hooks do not run here, as far as the settings tell it.
fn obstacle(agent: HookAgent, common: &Common) -> Option<String> {
    let reason = |place| match hook::installed(agent, place, common) {
        Installed::Ineffective(why) | Installed::Untrusted(why) => Some(why),
        Installed::Unreadable(error) => Some(error.to_string()),
        Installed::No | Installed::Yes(_) | Installed::Outdated(_) => None,
    };
    hook::places(agent, common).into_iter().find_map(reason)
}

/// A skill in a directory that the agent reads.
struct Native {
    /// The names by which the agent may list it.
    names: Vec<String>,
    /// The name by which the hook shows it.
    id: String,
    /// True if it is on for the agent's model, as far as its settings tell.
    is_on: bool,
}

impl Native {
    fn is_in(&self, request: &Value) -> bool {
        let request = request.to_string();
        self.names.iter().any(|name| has_word(&request, name))
    }
}

/// Returns the skills in directories that the agent reads, as `repertoire list --agent` shows them.
fn native_skills(trial: &Trial<'_>) -> anyhow::Result<Vec<Native>> {
    let mut list = trial.command(&std::env::current_exe()?);
    let output = list.args(["list", "--json", "--agent", trial.program.agent]).output()?;
    let listing: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let skills = listing["skills"].as_array().into_iter().flatten();
    let skills = skills.filter(|skill| skill["native"] == true && skill["status"] != "shadowed");
    // An agent lists these only after a file was touched, or never.
    let skills = skills.filter(|skill| skill["triggers"]["paths"] == json!([]));
    let native = |skill: &Value| {
        let text = |key: &str| skill[key].as_str().unwrap_or_default().to_owned();
        let dir = PathBuf::from(text("path"));
        let dir = dir.parent().and_then(Path::file_name).unwrap_or_default();
        let names = vec![text("name"), dir.to_string_lossy().into_owned()];
        Native { names, id: text("id"), is_on: skill["status"] == "available" }
    };
    Ok(skills.map(native).collect())
}

/// Compares the agent's own list with `native`, which its settings say.
fn as_listed(native: &[Native], request: &Value) -> Check {
    let what = "its own skills, as `repertoire list --agent` has them";
    let wrong = native.iter().filter(|skill| skill.is_on != skill.is_in(request));
    let wrong: Vec<&str> = wrong.map(|skill| skill.id.as_str()).collect();
    let n_on = native.iter().filter(|skill| skill.is_on).count();
    let n_off = native.len() - n_on;
    let is_right = wrong.is_empty();
    let detail = if is_right {
        format!("{n_on} listed, {n_off} off")
    } else {
        format!("it lists other skills; they differ in {}", wrong.join(", "))
    };
    Check { what, is_right, detail }
}

/// Asks for skills that the agent does not list, and checks that the hook is silent about them. `None`
/// if it lists all.
fn left_alone(
    trial: &Trial<'_>,
    native: &[Native],
    first: &Value,
) -> anyhow::Result<Option<Check>> {
    let hidden = native.iter().filter(|skill| !skill.is_in(first));
    let hidden: Vec<&Native> = hidden.take(MAX_ASKED).collect();
    if hidden.is_empty() {
        return Ok(None);
    }
    let asks = hidden.iter().map(|skill| format!("use the skill {}", skill.names[0]));
    let request = trial.say(&asks.collect::<Vec<_>>().join(", "), false)?.to_string();
    let is_offered = |skill: &&&Native| {
        let shown = [format!("{}: use this skill", skill.id), format!("## Skill: {}", skill.id)];
        shown.iter().any(|shown| request.contains(shown))
    };
    let offered = hidden.iter().find(is_offered);
    let detail = offered.map(|skill| format!("the hook tells the model to use `{}`", skill.id));
    Ok(Some(Check {
        what: "silence about skills that it does not list",
        is_right: detail.is_none(),
        detail: detail.unwrap_or_default(),
    }))
}

/// Tells whether `word` is in `text`, and not only as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let after = &text[at + word.len()..];
            !text[..at].ends_with(is_part) && !after.starts_with(is_part)
        })
}
