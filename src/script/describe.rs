//! The description of a script: its interpreter, its help, and why it cannot run.

use repertoire_system::process::{self, NoRunner, Runner, Search};

use super::files::Files;
use super::{HEAD_BYTES, Script, help};

/// Describes the script at `path` among `files`.
pub(super) fn describe(files: &Files, path: &str, search: &Search<'_>) -> Script {
    let mut script = Script {
        path: path.to_owned(),
        interpreter: None,
        problem: None,
        is_data: false,
        help: None,
    };
    match files.head(path, HEAD_BYTES) {
        Ok((head, is_executable)) => {
            match search.runner(path, &head, is_executable) {
                Ok(Runner::Itself) => {}
                Ok(Runner::Program { path, args }) => {
                    let words = std::iter::once(path.to_string_lossy().into_owned()).chain(args);
                    script.interpreter = Some(words.collect::<Vec<_>>().join(" "));
                }
                Err(NoRunner { why, .. }) => script.problem = Some(format!("it {why}")),
            }
            script.is_data = !process::is_marked(path, &head);
            script.help = help::help(path, &head);
        }
        Err(error) => script.problem = Some(format!("it cannot be read: {error}")),
    }
    script
}
