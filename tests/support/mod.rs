//! Helpers that the tests of the capabilities share.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns a path of the shared test data: conformance cases and the corpus of real skill files.
///
/// The data is too large for the repository. It is searched for next to it, and in
/// `$REPERTOIRE_SHARED`; `None` if it is missing, which is reported on standard error.
pub(crate) fn shared(relative: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
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

/// Prints a line that is seen even when the test passes: output of the macros is captured.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
