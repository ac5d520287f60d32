//! The message of a command line, and the files it touches.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use repertoire::engine::QueryLimits;
use repertoire::{Budget, Engine, Error, ErrorCode, Query};

use crate::args::{Common, QueryArgs};
use crate::failure::UsageError;
use crate::output::Output;

/// Returns the query of the arguments: its words, joined by single blanks. If the only word is `-`,
/// reads the message from standard input.
pub(crate) fn read(args: &QueryArgs, common: &Common) -> anyhow::Result<Query<'static>> {
    let words: Vec<&str> =
        [&args.query].into_iter().chain(&args.words).map(String::as_str).collect();
    let text = if let ["-"] = words[..] { from_stdin()? } else { words.join(" ") };
    let paths = args.paths.iter().map(|path| relative(path, &common.project));
    Ok(paths.fold(Query::new(text), Query::path))
}

fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
        let message = format!("cannot read standard input: {error}");
        Error::new(ErrorCode::ExecutionError, message, "give the message as an argument")
    })?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(
            ErrorCode::ExecutionError,
            format!("standard input is not UTF-8 from byte {at} on"),
            "send the message as UTF-8",
        )
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Reports a message that is too long to be searched as a whole.
pub(crate) fn note_length(query: &Query<'_>, engine: &Engine, out: Output) {
    let QueryLimits { literals, patterns, .. } = engine.query_limits();
    let n_bytes = query.text.len();
    let (who, limit) = if n_bytes > literals {
        ("all triggers", literals)
    } else if n_bytes > patterns {
        ("patterns", patterns)
    } else {
        return;
    };
    let part = searched_end(limit);
    out.note(&format!("the message has {n_bytes} bytes: {who} see only its first and last {part}"));
}

/// Returns the size of the part that is searched at each end of a message longer than `limit` bytes.
pub(crate) fn searched_end(limit: usize) -> String {
    match limit / 2 {
        half @ 0..1024 => format!("{half} bytes"),
        half => format!("{} KiB", half / 1024),
    }
}

/// Returns `path` in the form that queries use: relative to the project if it is below it, with `/`
/// between names.
pub(crate) fn relative(path: &Path, project: &Path) -> String {
    let below = |path: &Path, project: &Path| path.strip_prefix(project).ok().map(Path::to_owned);
    let real = |path: &Path| path.canonicalize().ok();
    let relative = below(&resolved(path), &resolved(project))
        .or_else(|| below(&real(path)?, &real(project)?))
        .unwrap_or_else(|| path.to_owned());
    let names = relative.components().map(|part| match part {
        Component::RootDir => String::new(),
        part => part.as_os_str().to_string_lossy().into_owned(),
    });
    names.collect::<Vec<_>>().join("/")
}

/// Returns `path` as an absolute path without `.` and `..`. Links are not followed.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut resolved = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    resolved
}

/// Parses `text` as a budget; `window` is the size of the context window in tokens, if known.
pub(crate) fn budget(
    text: Option<&str>,
    window: Option<usize>,
) -> Result<Option<Budget>, UsageError> {
    let Some(text) = text else { return Ok(None) };
    Budget::parse(text, window).map(Some).map_err(|error| {
        if window.is_none() && Budget::parse(text, Some(0)).is_ok() {
            let help = "give the size of the context window with `--window TOKENS`";
            return UsageError(Error::new(error.code(), error.message(), help));
        }
        UsageError(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_project_are_relative_to_it() {
        let here = std::env::current_dir().unwrap();
        for (path, project, wanted) in [
            ("src/main.rs", ".", "src/main.rs"),
            ("./src/../src/main.rs", ".", "src/main.rs"),
            ("app/src/main.rs", "app", "src/main.rs"),
            ("app/src/main.rs", "./app/", "src/main.rs"),
            ("src/main.rs", "app", "src/main.rs"),
            ("/etc/hosts", "app", "/etc/hosts"),
            ("/p/app/x", "/p/app", "x"),
            ("/p/apple", "/p/app", "/p/apple"),
        ] {
            assert_eq!(relative(Path::new(path), Path::new(project)), wanted, "{path}");
        }
        assert_eq!(relative(&here.join("a/b"), Path::new(".")), "a/b");
    }

    #[test]
    fn a_share_names_the_option_that_is_missing() {
        let error = budget(Some("2%"), None).unwrap_err();
        assert!(error.0.help().contains("--window"), "{error:?}");
        assert!(!budget(Some("x"), None).unwrap_err().0.help().contains("--window"));
        assert_eq!(budget(Some("2%"), Some(1)).unwrap().is_some(), budget(None, None).is_ok());
    }
}
