//! Builds the command line with which an agent runs this program.

use std::path::Path;

use repertoire::{Error, ErrorCode};

use crate::args::{BRAND, Common};
use crate::output::{Output, WARNING, styled};
use crate::sanitize;

/// Returns the options of this command line that also apply to each command which an agent runs.
pub(crate) fn common_options(common: &Common) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if common.brand != BRAND {
        option("--brand", &common.brand);
    }
    for source in &common.sources {
        let source = std::path::absolute(source).unwrap_or_else(|_| source.clone());
        option("--source", &source.to_string_lossy());
    }
    for id in &common.allow {
        option("--allow", id);
    }
    for id in &common.enable {
        option("--enable", id);
    }
    words.extend(common.bundled.map(|is_on| {
        let whether = if is_on { "on" } else { "off" };
        format!("--bundled={whether}")
    }));
    words
}

/// Warns of sources on the command line that are not directories yet. Agents do not show the output
/// of the commands that they run, so the user must learn it now.
pub(crate) fn warn_of_missing_sources(common: &Common, out: Output) {
    for source in common.sources.iter().filter(|source| !source.is_dir()) {
        let title = styled(WARNING, "warning");
        let source = std::path::absolute(source).unwrap_or_else(|_| source.clone());
        let source = source.to_string_lossy();
        out.note(&format!(
            "{title}: `{}` is not a directory; there are no skills from it until it is one",
            sanitize::line(&source)
        ));
    }
}

/// Returns the name of this program if that name runs it, otherwise its path.
pub(crate) fn program() -> Result<String, Error> {
    let program = std::env::current_exe().map_err(|error| {
        let message = format!("cannot find this program: {error}");
        Error::new(ErrorCode::ExecutionError, message, "run it by its absolute path")
    })?;
    let real = |path: &Path| path.canonicalize().ok();
    let found = which::which("repertoire").ok();
    if found.is_some_and(|found| real(&found) == real(&program)) {
        return Ok("repertoire".to_owned());
    }
    program.into_os_string().into_string().map_err(|path| {
        let message = format!("the path of this program is not UTF-8: {}", path.display());
        Error::new(ErrorCode::ExecutionError, message, "install it somewhere else")
    })
}

/// Tells whether the first word of a command line is this program, wherever it is installed.
pub(crate) fn is_own_program(program: &str) -> bool {
    let program = Path::new(program);
    program.file_stem().is_some_and(|stem| stem == "repertoire")
        || std::env::current_exe().is_ok_and(|own| own == program)
}

#[cfg(not(windows))]
pub(crate) fn shell(words: &[String]) -> Result<String, Error> {
    shlex::try_join(words.iter().map(String::as_str)).map_err(|error| {
        let message = format!("cannot write the command for a shell: {error}");
        Error::new(ErrorCode::InvalidParam, message, "use names without control characters")
    })
}

#[cfg(not(windows))]
pub(crate) fn split(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_default()
}

/// Joins words for a shell, in double quotes, which both `cmd` and `PowerShell` accept; a path cannot
/// contain a double quote.
#[cfg(windows)]
pub(crate) fn shell(words: &[String]) -> Result<String, Error> {
    let quote = |word: &String| {
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "-_./\\:".contains(c));
        if is_plain { word.clone() } else { format!("\"{word}\"") }
    };
    Ok(words.iter().map(quote).collect::<Vec<_>>().join(" "))
}

#[cfg(windows)]
pub(crate) fn split(command: &str) -> Vec<String> {
    shlex::split(&command.replace('\\', "/")).unwrap_or_default()
}
