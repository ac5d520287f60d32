//! The project, and the directories and files in which this program keeps state, cache and settings.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use repertoire::catalog::levels;
use repertoire::{Error, ErrorCode};
use repertoire_config::Models;
use repertoire_system::project;

use crate::args::Common;

/// Returns the project of `here`; see [`project::project_of`].
pub(crate) fn project_of(here: &Path) -> &Path {
    project::project_of(here).root
}

/// Returns the project of the working directory; `.` if that is its root.
pub(crate) fn project_here() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let project = project_of(&here);
    if project == here { PathBuf::from(".") } else { project.to_owned() }
}

/// Says what is not used, since it may be another user's: the root of a project, and directories of skills where
/// everybody can write.
pub(crate) fn passed_over(common: &Common) -> Vec<String> {
    let found = project::project_of(&common.working_dir);
    let root = found.passed_over.filter(|root| !common.names_project && *root != found.root);
    let root = root.map(|root| {
        let root = root.display();
        format!("{root} is not used as the project: it, or its `.git`, belongs to another user")
    });
    let own = format!(".{}", common.brand);
    let names = [&own, ".agents", ".claude", ".github"];
    let levels = levels(&common.project, &common.working_dir);
    let dirs = levels.iter().flat_map(|level| names.map(|name| level.join(name)));
    let planted = dirs.filter(|dir| project::is_planted(dir)).map(|dir| {
        let dir = dir.display();
        format!("{dir} is not used: it belongs to another user, and everybody can write beside it")
    });
    root.into_iter().chain(planted).collect()
}

/// Returns the working directory of this process, or `project` if there is none.
pub(crate) fn working_dir_here(project: &Path) -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| project.to_owned())
}

/// Returns the directory of the project, which must exist.
pub(crate) fn project_dir(common: &Common) -> Result<&Path, Error> {
    if common.project.is_dir() {
        return Ok(&common.project);
    }
    let message = format!("the project {} is not a directory", common.project.display());
    let help = "name the project's directory with `--project DIR`";
    Err(Error::new(ErrorCode::NotFound, message, help))
}

/// Returns the path of the trust store.
pub(crate) fn trust_file(common: &Common) -> Result<PathBuf, Error> {
    Ok(state_dir(common)?.join("trust.json"))
}

/// Returns the path of the session store, if it is a file.
pub(crate) fn sessions_file(common: &Common) -> Result<PathBuf, Error> {
    Ok(state_dir(common)?.join("sessions.sqlite"))
}

/// Returns the path of the log of hooks.
pub(crate) fn hook_log(common: &Common) -> Result<PathBuf, Error> {
    Ok(state_dir(common)?.join("hook.log"))
}

/// Returns the directory of state that is kept between runs.
pub(crate) fn state_dir(common: &Common) -> Result<PathBuf, Error> {
    let state = directories().and_then(|dirs| dirs.state_dir()).ok_or_else(|| {
        let message = "there is no home directory to keep state in";
        Error::new(ErrorCode::NotFound, message, "set `HOME` to an absolute path")
    })?;
    Ok(state.join(&common.brand))
}

/// Returns the models of meaning that the user added.
pub(crate) fn models(common: &Common) -> Result<Models, Error> {
    let data = data_dir(common).ok_or_else(|| {
        let message = "there is no home directory to keep models in";
        Error::new(ErrorCode::NotFound, message, "set `HOME` to an absolute path")
    })?;
    Ok(Models::new(data.join("models")))
}

/// Returns the directory of what the user installed.
pub(crate) fn data_dir(common: &Common) -> Option<PathBuf> {
    Some(directories()?.data_dir().join(&common.brand))
}

/// Returns the directory of data that can be recreated.
pub(crate) fn cache_dir(common: &Common) -> Option<PathBuf> {
    Some(directories()?.cache_dir().join(&common.brand))
}

/// Returns the lock files of the copies of skills below the directory of data.
pub(crate) fn lock_files(data: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let of_copies = entries(data).chain(entries(&data.join("projects")));
    let files = of_copies.flat_map(|dir| entries(&dir.path()).collect::<Vec<_>>());
    let paths = files.map(|entry| entry.path());
    let is_lock = |path: &PathBuf| path.as_os_str().as_encoded_bytes().ends_with(b".lock");
    paths.filter(is_lock).collect()
}

/// The user's directories, by the XDG specification; `None` where the environment names no home.
pub(crate) fn directories() -> Option<Xdg> {
    home().and_then(|_| Xdg::new().ok())
}

/// The user's home directory; `None` where the environment names none.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Returns the home directory, for the user's configuration.
pub(crate) fn config_home() -> Result<PathBuf, Error> {
    home().ok_or_else(|| {
        let message = "there is no home directory with a configuration";
        Error::new(ErrorCode::NotFound, message, "set `HOME`, or use `--project`")
    })
}
