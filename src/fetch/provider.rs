//! The interface of providers: what kinds of sources have in common.

use std::io::Read;

use crate::error::{Error, ErrorCode};

/// A kind of source. Calls block; a host with an event loop makes them on a thread of its own.
///
/// A provider lists a source and reads from it; it writes nothing and decides nothing. Names, links
/// and sizes of what it lists are checked by the caller.
pub trait SourceProvider: Send + Sync {
    /// The newest revision, if it can be asked for without fetching the source.
    ///
    /// Fails with `EXECUTION_ERROR` or `TIMEOUT` if the source cannot be reached, and with
    /// `NOT_FOUND` if the revision that was asked for is not there.
    fn newest(&self) -> Result<Option<String>, Error>;

    /// Opens the source at `revision`, or at the newest one. Fails as
    /// [`newest`](SourceProvider::newest).
    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error>;
}

/// A source at one revision.
pub trait SourceTree {
    /// The revision; `None` if the content alone tells it.
    fn revision(&self) -> Option<&str>;

    /// All entries except directories, in any order.
    fn entries(&self) -> &[TreeEntry];

    /// Calls `take` with each of these files, in any order, and its content. Fails with the error of
    /// `take`, and if a file cannot be read.
    fn read(&mut self, files: &[&str], take: &mut Take<'_>) -> Result<(), Error>;
}

/// A receiver of files: their path and their content.
pub type Take<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<(), Error> + 'a;

/// An entry of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its path as it was found, `/`-separated; nothing is known of it.
    pub path: String,
    /// Its kind.
    pub kind: TreeKind,
}

/// The kind of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeKind {
    /// A regular file.
    File {
        /// Its size in bytes.
        bytes: u64,
        /// True if it may be run.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// The text of the link.
        target: String,
    },
    /// Anything else, in a phrase: `is a device`.
    Other(&'static str),
}

/// The error of a skill that a source does not have; `known` are those that it has.
pub(super) fn no_skill(source: &str, id: &str, known: &[String]) -> Error {
    let near = known.iter().map(|name| (strsim::jaro_winkler(name, id), name));
    let near = near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(near, _)| *near > 0.8);
    let shown = known.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("`, `");
    let help = match near {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("there are `{shown}`"),
    };
    Error::new(ErrorCode::NotFound, format!("{source} has no skill `{id}`"), help)
}

/// The error of a source that only a build with `feature` fetches.
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
        .with_remedy(crate::error::Remedy::Build { feature })
}
