//! The parser of configuration files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use toml_edit::{Document, TomlError};

use repertoire::catalog::Scope;
use repertoire::diagnostic::{Code, Diagnostic};

/// The maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024;
/// The largest configuration file of a project: each of its settings takes time from all that the user asks.
const MAX_PROJECT_BYTES: u64 = 32 * 1024;

/// Reads and parses a file. Fails with a finding if the file must not or cannot be read, or if it is not
/// valid TOML.
pub(super) fn read(
    path: &Path,
    scope: Scope,
    project: &Path,
) -> Result<Document<String>, Box<Diagnostic>> {
    let text = text(path, scope, project)?;
    text.parse().map_err(|error: TomlError| {
        let help = "fix it; until then the whole file is left out";
        let finding = Diagnostic::new(Code::InvalidToml, path, message(&error), help);
        Box::new(finding.at(&text, error.span().unwrap_or_default()))
    })
}

/// The message of an error, in one line.
pub(super) fn message(error: &TomlError) -> String {
    error.message().lines().collect::<Vec<_>>().join("; ")
}

/// Reads the text of a file. Fails with a finding if the file must not or cannot be read.
fn text(path: &Path, scope: Scope, project: &Path) -> Result<String, Box<Diagnostic>> {
    let finding =
        |code, message: String, help: &str| Box::new(Diagnostic::new(code, path, message, help));
    let unreadable = |error: io::Error| {
        let message = format!("cannot read the file: {error}");
        finding(Code::Unreadable, message, "check that you may read it")
    };
    let real = path.canonicalize().map_err(unreadable)?;
    if scope == Scope::Project && !real.starts_with(project.canonicalize().map_err(unreadable)?) {
        let message = "the file is a link that leaves the project, and is not read".to_owned();
        return Err(finding(Code::LinkOutside, message, "put the file itself there"));
    }
    let metadata = real.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        let message = "this is not a file".to_owned();
        return Err(finding(Code::NotAFile, message, "put the configuration into a file"));
    }
    let max_bytes = if scope == Scope::Project { MAX_PROJECT_BYTES } else { MAX_BYTES };
    let mut bytes = Vec::new();
    let file = File::open(&real).map_err(unreadable)?;
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        let message = format!("the file is larger than {max_bytes} bytes, and is left out");
        return Err(finding(Code::InvalidToml, message, "shorten it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
        let message = "the file is not UTF-8, and is left out".to_owned();
        let finding = finding(Code::NotUtf8, message, "save the file as UTF-8");
        Box::new(finding.at(&valid, at..at))
    })
}
