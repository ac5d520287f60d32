//! Texts about fetched sources that several commands print.

use repertoire::Error;

use crate::failure::Failure;

/// Returns the failure of one of several sources; its message names the source.
pub(crate) fn failure_of(name: &str, error: &Error) -> Failure {
    let mut failure = Failure::from(error);
    failure.message = format!("the source `{name}`: {}", failure.message);
    failure
}

/// Returns the first characters of a revision, as people abbreviate it.
pub(crate) fn short(revision: &str) -> &str {
    let hash = revision.strip_prefix("sha256:").unwrap_or(revision);
    hash.get(..12).unwrap_or(hash)
}
