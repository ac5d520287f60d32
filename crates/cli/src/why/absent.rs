//! The reason why no skill of a name is known: a setting of the agent, a file with another name, or a
//! directory in which the agent does not look.

use std::path::{Path, PathBuf, absolute};

use repertoire::catalog::{Source, near_misses};
use repertoire::{Error, ErrorCode};
use repertoire_agents::{AgentCommand, HookAgent};

use crate::args::Common;
use crate::setup;

/// The number of levels below the starting directory in which a skill is looked for, and of directories in all.
const DEPTH: usize = 4;
const MAX_DIRS: usize = 2000;

/// Returns the error that says where the skill `name` is, and why it is not known; `None` if it is nowhere.
pub(super) fn reason(name: &str, common: &Common) -> Option<Error> {
    if let Some(missing) = missing_plugin(name, common) {
        return Some(missing);
    }
    let name = name.rsplit([':', '/']).next().filter(|name| !name.is_empty())?;
    left_out(name, common)
        .or_else(|| misplaced(name, common))
        .or_else(|| command(name, common))
        .or_else(|| elsewhere(name, common))
        .or_else(|| unhidden(name, common))
        .or_else(|| below(name, common))
}

fn not_found(name: &str, why: &str, help: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no skill `{name}` here: {why}"), help)
}

/// Returns the error about a skill that a setting of the agent leaves out.
fn left_out(name: &str, common: &Common) -> Option<Error> {
    let (agent, state) = setup::agent_state(common)?;
    let (dir, by) = state.left_out.iter().find(|(dir, _)| holds(dir, name))?;
    let why = format!("{} leaves out {} because of {by}", agent.title(), dir.display());
    Some(not_found(name, &why, "change that setting, which the agent itself obeys"))
}

/// Returns the error about a skill of a plugin that a setting turns on and that is not installed.
fn missing_plugin(name: &str, common: &Common) -> Option<Error> {
    let (plugin, _) = name.split_once([':', '/'])?;
    let (agent, state) = setup::agent_state(common)?;
    let is_it = |id: &str| id.split('@').next() == Some(plugin);
    let (id, by) = state.missing_plugins.iter().find(|(id, _)| is_it(id))?;
    let title = agent.title();
    let why = format!("{title} has not installed the plugin `{id}`, although {by} turns it on");
    Some(not_found(name, &why, &format!("install the plugin in {title}")))
}

/// Returns the error about a file that would be the skill if it had the right name.
fn misplaced(name: &str, common: &Common) -> Option<Error> {
    let sources = setup::sources(common).ok()?;
    let mut findings = sources.iter().filter_map(Source::root).flat_map(near_misses);
    let is_it = |path: &Path| {
        let dir = path.parent().and_then(Path::file_name);
        [path.file_stem(), dir].into_iter().flatten().any(|part| part == name) || holds(path, name)
    };
    let finding = findings.find(|finding| is_it(&finding.path))?;
    Some(not_found(name, &finding.to_string(), &finding.help))
}

/// Returns the error about a skill in a directory of agents in which nobody looks from here.
fn elsewhere(name: &str, common: &Common) -> Option<Error> {
    let start = setup::start(common);
    let project = absolute(&start.project).ok()?;
    let levels = start.dir.ancestors().take_while(|dir| dir.starts_with(&project));
    let levels: Vec<PathBuf> = levels.map(Path::to_owned).chain(start.home.clone()).collect();
    let roots = HookAgent::ALL.into_iter().flat_map(|agent| agent.native_skills().roots.iter());
    let dirs = roots.flat_map(|root| levels.iter().map(|level| level.join(&**root)));
    // What is wrong with a skill of a source is told by the catalog.
    let sources = setup::sources(common).ok()?;
    let known: Vec<PathBuf> =
        sources.iter().filter_map(Source::root).filter_map(|root| absolute(root).ok()).collect();
    let mut unknown = dirs.filter(|dir| absolute(dir).is_ok_and(|dir| !known.contains(&dir)));
    let dir = unknown.find(|dir| holds(dir, name))?;
    let who = common.agent.map_or("nobody", HookAgent::title);
    let here = start.dir.display();
    let why = format!("{who} does not look into {} if started in {here}", dir.display());
    let help = format!(
        "move it to a directory that is read here, such as `.{}/skills`, or link it there",
        common.brand
    );
    Some(not_found(name, &why, &help))
}

/// Returns the error about a command, which Claude Code lists to its model like a skill.
fn command(name: &str, common: &Common) -> Option<Error> {
    let agent = HookAgent::ClaudeCode;
    if common.agent.is_some_and(|named| named != agent) {
        return None;
    }
    let of_agent = common.for_agent(agent);
    let (_, state) = setup::agent_state(&of_agent)?;
    let last = |command: &AgentCommand| command.name.rsplit(':').next() == Some(name);
    let command = agent.commands(state).into_iter().find(last)?;
    let (file, title) = (command.path.display(), agent.title());
    let (why, help) = match &command.off {
        None => (
            format!("{file} is a command, which {title} lists to its model by itself"),
            format!(
                "nothing is wrong; to let hooks add it as well, move it to `.{}/skills/{name}/SKILL.md`",
                common.brand
            ),
        ),
        Some(by) => (
            format!("{file} is a command, which the model of {title} cannot call because of {by}"),
            "change that setting, which the agent itself obeys".to_owned(),
        ),
    };
    Some(not_found(&command.name, &why, &help))
}

/// Returns the error about a skill in a directory `skills` of the project that is none of an agent's.
fn unhidden(name: &str, common: &Common) -> Option<Error> {
    let start = setup::start(common);
    let project = absolute(&start.project).ok()?;
    let levels = start.dir.ancestors().take_while(|dir| dir.starts_with(&project));
    let mut dirs = levels.flat_map(|dir| ["skills", "skill"].map(|skills| dir.join(skills)));
    let dir = dirs.find(|dir| holds(dir, name))?;
    let why = format!("nobody looks into {} by itself", dir.display());
    let help = format!(
        "name that directory with `sources` in `config.toml`, or move the skill to `.{}/skills`",
        common.brand
    );
    Some(not_found(name, &why, &help))
}

/// Returns the error about a skill of a directory below the one where the agent is started.
fn below(name: &str, common: &Common) -> Option<Error> {
    let start = setup::start(common);
    let own = format!(".{}/skills", common.brand);
    let roots = HookAgent::ALL.into_iter().flat_map(|agent| agent.native_skills().roots.iter());
    let roots: Vec<&str> = roots.map(|root| &**root).chain([&*own]).collect();
    let mut level = vec![start.dir];
    let mut n_dirs = 0;
    for _ in 0..DEPTH {
        let mut next: Vec<PathBuf> = level.iter().flat_map(|dir| visible_dirs(dir)).collect();
        n_dirs += next.len();
        if n_dirs > MAX_DIRS {
            return None;
        }
        next.sort();
        let skills =
            next.iter().flat_map(|dir| roots.iter().map(move |root| (dir, dir.join(root))));
        let found = skills.into_iter().find(|(_, skills)| holds(skills, name));
        if let Some((dir, skills)) = found {
            let who = common.agent.map_or("nobody", HookAgent::title);
            let (dir, skills) = (dir.display(), skills.display());
            let why = format!("{who} looks into {skills} only if it works in {dir}");
            let help =
                format!("start in {dir}; a hook lists the skill as well once a file there is read");
            return Some(not_found(name, &why, &help));
        }
        level = next;
    }
    None
}

/// Returns the directories in `dir`, without hidden ones, links and those of packages.
fn visible_dirs(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_searched = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_skipped = name.starts_with('.') || name == "node_modules" || name == "target";
        !is_skipped && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.filter(is_searched).map(|entry| entry.path()).collect()
}

/// Tells whether the skill `name` is in `dir`, or is `dir` itself.
fn holds(dir: &Path, name: &str) -> bool {
    let is_skill = |dir: &Path| dir.join("SKILL.md").is_file();
    is_skill(&dir.join(name)) || dir.ends_with(name) && is_skill(dir)
}
