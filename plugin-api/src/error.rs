//! The error of a tool.

use std::fmt::Display;

use crate::ToolOutput;

/// The result of a tool, and of everything else an author writes.
pub type ToolResult<T = ToolOutput> = Result<T, ToolError>;

/// The reason why a tool failed, in words for the model.
///
/// Every error that can be displayed becomes one with `?`, a `String` included. So that this is
/// possible, `ToolError` itself does not implement [`std::error::Error`].
///
/// ```
/// use repertoire_plugin::ToolResult;
///
/// fn double(number: &str) -> ToolResult<i64> {
///     let number: i64 = number.parse()?;
///     number.checked_mul(2).ok_or("the number is too large".into())
/// }
/// assert_eq!(double("ten").unwrap_err().message(), "invalid digit found in string");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    code: ErrorCode,
    message: String,
}

/// The kinds of failure a host tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The tool reported an error.
    Failed,
    /// The arguments do not fit the tool's parameters.
    InvalidArguments,
    /// The toolset has no tool of that name.
    UnknownTool,
    /// The host asked the tool to stop, and it did.
    Cancelled,
    /// The tool panicked; the panic was caught.
    Panicked,
    /// The time for the call is over.
    DeadlineExceeded,
    /// The other side of the border sent something that cannot be read.
    Border,
    /// A kind that a newer version knows.
    Other(u32),
}

impl ErrorCode {
    /// The number that crosses the border.
    pub fn number(self) -> u32 {
        match self {
            Self::Failed => 1,
            Self::InvalidArguments => 2,
            Self::UnknownTool => 3,
            Self::Cancelled => 4,
            Self::Panicked => 5,
            Self::DeadlineExceeded => 6,
            Self::Border => 7,
            Self::Other(number) => number,
        }
    }

    /// The kind of a number from the border.
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Failed,
            2 => Self::InvalidArguments,
            3 => Self::UnknownTool,
            4 => Self::Cancelled,
            5 => Self::Panicked,
            6 => Self::DeadlineExceeded,
            7 => Self::Border,
            number => Self::Other(number),
        }
    }
}

impl ToolError {
    /// A failure in the tool's own words.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::Failed, message)
    }

    /// A failure of one of the kinds a host tells apart.
    pub fn with_code(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Arguments that fit the parameters' types and are wrong nevertheless.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::InvalidArguments, message)
    }

    /// The tool stopped because the host asked for it.
    pub fn cancelled() -> Self {
        Self::with_code(ErrorCode::Cancelled, "cancelled")
    }

    /// The kind of failure.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The words for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same failure, with its context before its words.
    ///
    /// ```
    /// use repertoire_plugin::ToolError;
    ///
    /// let error = ToolError::new("no such file").context("reading `notes.md`");
    /// assert_eq!(error.message(), "reading `notes.md`: no such file");
    /// ```
    #[must_use]
    pub fn context(mut self, doing: impl Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }
}

/// The alternate form (`{:#}`) is used, with which `anyhow` and others print the whole chain.
impl<E: Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(format!("{error:#}"))
    }
}
