//! Helpers that several test binaries share.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns a path in the shared test data: conformance cases and a corpus of real skill files.
///
/// The data is too large for the repository, so it is looked up next to it, and in
/// `$REPERTOIRE_SHARED`. If it is missing, reports this on standard error and returns `None`.
pub(crate) fn shared(relative: &str) -> Option<PathBuf> {
    let beside = workspace().join("../shared");
    let named = std::env::var_os("REPERTOIRE_SHARED").map(PathBuf::from);
    let found = [Some(beside), named]
        .into_iter()
        .flatten()
        .map(|root| root.join(relative))
        .find(|path| path.exists());
    if found.is_none() {
        say(&format!(
            "SKIPPED: no test data `{relative}` in ../shared nor in $REPERTOIRE_SHARED; nothing \
             was tested with it"
        ));
    }
    found
}

/// Returns the root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|dir| dir.join("plugin-api").is_dir()).unwrap()
}

/// Prints a line that is visible even if the test passes, because the harness captures only the output
/// of macros.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
