//! Skills below the directory in which an agent was started, near the files that its model touches.

use std::path::{Path, PathBuf};

use repertoire::catalog::levels;
use repertoire::disclosure::NativeSkills;

use repertoire_agents::HookAgent;
use repertoire_config::Config;

use crate::args::Common;
use crate::setup;

/// Returns the directory nearest to one of `paths`, which are relative to the project, that holds skills
/// and is not among the directories from the project's root to the working directory.
pub(crate) fn directory(paths: &[impl AsRef<str>], common: &Common) -> Option<PathBuf> {
    let known = levels(&common.project, &common.working_dir);
    let own = format!(".{}", common.brand);
    let holds_skills = |dir: &Path| {
        let names = [".agents", ".claude", ".github", &own];
        names.iter().any(|name| dir.join(name).join("skills").is_dir())
    };
    paths.iter().find_map(|path| {
        let file = common.project.join(path.as_ref());
        let above = file.ancestors().skip(1).take_while(|dir| dir.starts_with(&common.project));
        let mut below = above.take_while(|dir| !known.iter().any(|known| known == dir));
        below.find(|dir| holds_skills(dir)).map(Path::to_owned)
    })
}

/// Returns the options with the skills of `dir`, and of the directories between, for an agent that stays
/// in the directory where it was started.
pub(crate) fn options(common: &Common, dir: PathBuf) -> Common {
    let started_in = common.started_in.clone().unwrap_or_else(|| common.working_dir.clone());
    Common { started_in: Some(started_in), working_dir: dir, ..common.clone() }
}

/// Returns the skills that the agent lists by itself. Claude Code lists those in `.claude/skills` of `dir` and
/// of the directories between it and the one where it was started, too.
pub(crate) fn native_skills(
    dir: Option<&Path>,
    common: &Common,
    config: &Config,
) -> Option<NativeSkills> {
    let mut native = setup::native_skills(common, config)?;
    let finds_them = common.agent.is_some_and(HookAgent::finds_nested_skills);
    if let Some(dir) = dir.filter(|_| finds_them) {
        let started_in = common.started_in.as_ref().unwrap_or(&common.working_dir);
        let known = levels(&common.project, started_in);
        let found = levels(&common.project, dir);
        // It looks for none beside the directory where it was started, or above it.
        let is_below = found.starts_with(&known);
        let found = found.into_iter().skip(known.len()).filter(|_| is_below);
        let found = found.map(|dir| dir.join(".claude/skills").display().to_string().into());
        native.roots.to_mut().extend(found);
    }
    Some(native)
}
