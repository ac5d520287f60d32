//! The interface of source providers: [`SourceProvider`] and the entries it lists.

use std::io::Read;

use super::near::nearest;
use repertoire::{Error, ErrorCode};

/// A kind of source. Calls block, so a host with an event loop should make them on a separate thread.
///
/// A provider lists a source and reads from it. It stores no contents and makes no decisions: the caller
/// checks the names, links and sizes of the entries it lists.
pub trait SourceProvider: Send + Sync {
    /// Returns the newest revision; `None` if it is only known after the source was fetched.
    ///
    /// Fails with `EXECUTION_ERROR` or `TIMEOUT` if the source cannot be reached, and with `NOT_FOUND`
    /// if the requested revision does not exist.
    fn newest(&self) -> Result<Option<String>, Error>;

    /// Opens the source at `revision`, or at the newest revision if it is `None`. Fails like
    /// [`newest`](SourceProvider::newest).
    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error>;
}

/// A source at one revision.
pub trait SourceTree {
    /// The revision; `None` if the source has none of its own. Then the hash of its files serves as one.
    fn revision(&self) -> Option<&str>;

    /// All entries except directories, in any order.
    fn entries(&self) -> &[TreeEntry];

    /// Calls `take` with the path and the content of each file in `files`, in any order. Fails with the
    /// error of `take`, and if a file cannot be read.
    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error>;
}

/// A callback that receives files: the path and the content of each.
pub type FileCallback<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<(), Error> + 'a;

/// An entry of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its path as the source has it, `/`-separated and not yet checked.
    pub path: String,
    /// Its kind.
    pub kind: TreeKind,
}

/// The kind of a submodule of a git repository, as a phrase for error messages.
pub(super) const SUBMODULE: &str = "is a submodule, which is not fetched";

/// The kind of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeKind {
    /// A regular file.
    File {
        /// Its size in bytes.
        bytes: u64,
        /// True if the file is executable.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// The target, as written in the link.
        target: String,
    },
    /// Anything else, as a phrase for error messages, such as `is a device`.
    Other(&'static str),
}

/// The error for a skill that the source does not have. `known` lists the skills that it has.
pub(super) fn no_skill(source: &str, id: &str, known: &[String]) -> Error {
    let shown = known.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("`, `");
    let help = match nearest(id, known.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`?"),
        None if may_be_revision(id) => {
            format!("a branch or a tag is written `#{id}`; there are `{shown}`")
        }
        None => format!("there are `{shown}`"),
    };
    Error::new(ErrorCode::NotFound, format!("{source} has no skill `{id}`"), help)
}

/// Tells whether the name of a skill is rather that of a branch or a tag: `main`, `v1`.
fn may_be_revision(id: &str) -> bool {
    let version = id.trim_start_matches('v');
    matches!(id, "HEAD" | "dev" | "develop" | "latest" | "main" | "master" | "stable" | "trunk")
        || !version.is_empty() && version.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The error for a source that only a build with `feature` can fetch.
#[cfg(not(all(
    feature = "archive-https",
    feature = "object-store",
    feature = "oci",
    feature = "mcp-source"
)))]
pub(super) fn not_built(location: &dyn std::fmt::Display, feature: &'static str) -> Error {
    let message = format!("{location} is of a kind that this build does not know");
    let help = format!("build it with the feature `{feature}`");
    Error::new(ErrorCode::InvalidParam, message, help)
        .with_remedy(repertoire::Remedy::Build { feature })
}
