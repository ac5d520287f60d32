//! The reason why no skill of a name is known: a setting of the agent, a file with another name, or a
//! directory in which the agent does not look.

use std::path::{Path, PathBuf, absolute};

use repertoire::catalog::{Source, near_misses};
use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;

use crate::args::Common;
use crate::setup;

/// Returns the error that says where the skill `name` is, and why it is not known; `None` if it is nowhere.
pub(super) fn reason(name: &str, common: &Common) -> Option<Error> {
    let name = name.rsplit([':', '/']).next().filter(|name| !name.is_empty())?;
    left_out(name, common).or_else(|| misplaced(name, common)).or_else(|| elsewhere(name, common))
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

/// Returns the error about a file that would be the skill if it had the right name.
fn misplaced(name: &str, common: &Common) -> Option<Error> {
    let sources = setup::sources(common).ok()?;
    let mut findings = sources.iter().filter_map(Source::root).flat_map(near_misses);
    let is_it = |path: &Path| {
        let dir = path.parent().and_then(Path::file_name);
        [path.file_stem(), dir].into_iter().flatten().any(|part| part == name)
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

/// Tells whether the skill `name` is in `dir`, or is `dir` itself.
fn holds(dir: &Path, name: &str) -> bool {
    let is_skill = |dir: &Path| dir.join("SKILL.md").is_file();
    is_skill(&dir.join(name)) || dir.ends_with(name) && is_skill(dir)
}
