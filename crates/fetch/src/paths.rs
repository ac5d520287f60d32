//! Checks of paths in sources and copies.

use std::ffi::OsStr;
use std::path::{Component, Path};

use repertoire::catalog::is_skill_file;
use repertoire::{Error, ErrorCode};
use repertoire_system::confined;

/// Checks the path of a file in a copy. Fails with the reason, as a clause. Lock files are checked, too,
/// since others may write them.
pub(super) fn check_path(path: &str) -> Result<(), &'static str> {
    match confined::plain(path) {
        Ok(plain) if plain != path => Err("is not written plainly"),
        Ok(_) if path.len() > 1024 => Err("is too long"),
        Ok(_) if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) => {
            Err("is a file of git")
        }
        Ok(_) => Ok(()),
        Err(_) => Err("is not a path that can be written everywhere"),
    }
}

/// Normalises the path of a directory in a source: `a//b/` becomes `a/b`. Fails with `INVALID_PARAM` if
/// the path leaves the source.
pub(super) fn plain_dir(path: &str) -> Result<String, Error> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::CurDir => {}
            _ => {
                let message = format!("`{path}` leaves the source");
                let help = "name a directory in it, such as `skills`";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
        }
    }
    Ok(parts.join("/"))
}

/// Tells whether `path` is below the directory `dir`; the root is the empty text.
pub(super) fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// The directory of the skill whose file is at `path`.
pub(super) fn dir_of_skill(path: &str) -> Option<&str> {
    let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
    is_skill_file(OsStr::new(file)).then_some(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_stay_in_their_source() {
        assert!(plain_dir("../x").is_err() && plain_dir("/x").is_err());
        assert_eq!(plain_dir("./a//b/").unwrap(), "a/b");
    }
}
