//! Errors: what was wrong with which file, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::layout::Refusal;

/// The kind of fault that an [`Error`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read.
    Io,
    /// The bytes are not a table of this crate.
    NotATable,
    /// The bytes end too early, or sizes and places in them contradict each other.
    Damaged,
    /// The file is of a kind that this version cannot use.
    Unsupported,
    /// The model is a sentence transformer, and the feature `transformer` is off.
    NotBuilt,
}

/// The reason why a table could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, path: None, message: message.into() }
    }

    /// A transformer, which this program was built without.
    #[cfg(not(feature = "transformer"))]
    pub(crate) fn not_built() -> Self {
        Error::new(
            ErrorKind::NotBuilt,
            "a sentence transformer, which this program was built without",
        )
    }

    /// The same error, about this file unless it already is about one.
    pub(crate) fn of(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The kind of fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file that was read, if the bytes came from a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Advice for the person who supplied the file, as a fragment in lower case.
    pub fn help(&self) -> &'static str {
        match self.kind {
            ErrorKind::Io => "check that the file exists and may be read",
            ErrorKind::NotATable => "name a file that this crate wrote, or a model2vec directory",
            ErrorKind::Damaged => "fetch or build the file again",
            ErrorKind::Unsupported => {
                "use a model2vec model, or a sentence transformer of the BERT family such as MiniLM or e5-small"
            }
            ErrorKind::NotBuilt => {
                "use a model2vec model, or a program with the feature `transformer`: released ones, and those built \
                 with `--features full`, have it"
            }
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let (kind, message) = match refusal {
            Refusal::NotATable => (ErrorKind::NotATable, "not a table of word pieces"),
            Refusal::Sizes => (ErrorKind::Damaged, "sizes do not fit the file"),
            Refusal::Dimensions => (ErrorKind::Unsupported, "unknown form of rows"),
            Refusal::Tokenizer => (ErrorKind::Unsupported, "unknown tokenizer"),
        };
        Error::new(kind, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}", path.display(), self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
