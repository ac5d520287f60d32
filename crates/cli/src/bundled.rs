//! The bundled skills, written from the binary to a directory where engines and models read them.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use repertoire::catalog::BUNDLED_SKILLS;

use repertoire_config::Channel;

use crate::args::Common;
use crate::dirs::data_dir;
use crate::output::Output;
use crate::sanitize;

/// Returns the directory of the bundled skills; `None` without a home directory that can be written, which
/// is told where bundled skills are used.
pub(crate) fn dir(common: &Common) -> Option<PathBuf> {
    static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();
    DIR.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        BUNDLED_SKILLS.hash(&mut hasher);
        let dir = data_dir(common)?.join("bundled").join(format!("{:016x}", hasher.finish()));
        if dir.is_dir() {
            return Some(dir);
        }
        match write(&dir) {
            Ok(()) => Some(dir),
            Err(error) => {
                tell(&dir, &error, common);
                None
            }
        }
    })
    .clone()
}

/// Says that the bundled skills are missing, unless they are off.
fn tell(dir: &Path, error: &io::Error, common: &Common) {
    if common.bundled.unwrap_or(common.channel == Channel::CommandLine) {
        let line = format!(
            "the bundled skills are left out, since {} cannot be written: {error}; `XDG_DATA_HOME` names \
             another place, `--bundled=off` does without them",
            dir.display()
        );
        Output::of(common).note(&sanitize::line(&line));
    }
}

/// Writes the files as a whole, so that no other process sees half of them.
fn write(dir: &Path) -> io::Result<()> {
    let above = dir.parent().unwrap_or(dir);
    fs::create_dir_all(above)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
    for (path, content) in BUNDLED_SKILLS {
        let path = new.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(&path, content)?;
        #[cfg(unix)]
        if path.parent().is_some_and(|dir| dir.ends_with("scripts")) {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // A temporary directory is open to its owner only.
        fs::set_permissions(new.path(), fs::Permissions::from_mode(0o755))?;
    }
    match fs::rename(new.path(), dir) {
        // Another process was faster.
        Err(_) if dir.is_dir() => Ok(()),
        renamed => renamed,
    }
}
