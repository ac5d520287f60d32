//! Files that people give to `tool inspect` and that are no libraries: what they are by their name and place,
//! and what to do with them.

use std::ffi::OsStr;
use std::path::Path;

use repertoire::catalog::is_skill_file;
use repertoire::toolset::server_files;
use repertoire::{Error, ErrorCode};

use crate::shell::quoted;
use crate::trust;

/// Ends of files with code from which a library is built.
const SOURCES: [&str; 10] = ["rs", "c", "cc", "cpp", "cxx", "c++", "h", "hpp", "zig", "go"];

/// Returns a better error for `file` than that of the reader of libraries, if it is known to be something else.
pub(super) fn explained(file: &Path) -> Option<Error> {
    let shown = file.display();
    let (what, help) = of_dir(file).or_else(|| of_file(file))?;
    let message = format!("`{shown}` is {what}, not a shared library");
    Some(Error::new(ErrorCode::ExecutionError, message, help))
}

fn of_dir(dir: &Path) -> Option<(String, String)> {
    if !dir.is_dir() {
        return None;
    }
    if trust::skill_in(dir).is_some() {
        return Some(("the directory of a skill".to_owned(), of_skill(dir)));
    }
    let has_code = dir.join("Cargo.toml").is_file() || dir.join("toolset.c").is_file();
    has_code.then(|| ("a directory of code".to_owned(), built_from_code()))
}

fn of_file(file: &Path) -> Option<(String, String)> {
    if !file.is_file() {
        return None;
    }
    let name = file.file_name()?;
    let dir = file.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
    if is_skill_file(name) {
        return Some(("the text of a skill".to_owned(), of_skill(dir)));
    }
    if let Some(skill) = skill_of_server(file) {
        let what = format!("the MCP server of the skill {}", quoted(&skill.to_string_lossy()));
        return Some((what, listed(&skill)));
    }
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_source = SOURCES.contains(&&*extension.to_ascii_lowercase()) || name == "Cargo.toml";
    is_source.then(|| ("code".to_owned(), built_from_code()))
}

fn built_from_code() -> String {
    "`repertoire tool build SKILL` builds the library of a skill; name that".to_owned()
}

/// The help for a skill: its tools are listed, with or without a library.
fn of_skill(dir: &Path) -> String {
    format!("name a library in it; {}", listed(dir))
}

fn listed(skill: &Path) -> String {
    let absolute = std::path::absolute(skill).unwrap_or_else(|_| skill.to_owned());
    let root = absolute.parent().unwrap_or(&absolute);
    format!(
        "`repertoire tool list --source {}` lists the tools of its skills that are trusted, and says why others are not",
        quoted(&root.to_string_lossy())
    )
}

/// Returns the directory of the skill whose MCP server a file is.
fn skill_of_server(file: &Path) -> Option<std::path::PathBuf> {
    let file = file.canonicalize().ok()?;
    let is_of = |dir: &&Path| {
        let files = trust::skill_in(dir).and_then(|owner| server_files(&owner).ok());
        files.is_some_and(|files| {
            files.iter().any(|server| server.canonicalize().is_ok_and(|server| server == file))
        })
    };
    file.ancestors().skip(1).find(is_of).map(Path::to_owned)
}
