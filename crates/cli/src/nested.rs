//! Skills below the directory in which an agent was started, near the files that its model touches.

use std::path::{Path, PathBuf};

use repertoire::catalog::levels;
use repertoire::disclosure::NativeSkills;

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

/// Returns the skills that the agent lists by itself, those of `dir` and of the directories between included,
/// from which Claude Code lists skills by itself.
pub(crate) fn native_skills(
    dir: Option<&Path>,
    common: &Common,
    config: &Config,
) -> Option<NativeSkills> {
    let mut native = setup::native_skills(common, config)?;
    if let Some(dir) = dir {
        let found = levels(&common.project, dir).into_iter();
        let found = found.map(|dir| dir.join(".claude/skills").display().to_string().into());
        native.roots.to_mut().extend(found);
    }
    Some(native)
}
