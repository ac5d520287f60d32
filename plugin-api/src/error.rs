//! The error of a tool.

use std::fmt::Display;

use crate::ToolOutput;

/// The result of a tool, and of every other function that an author writes.
pub type ToolResult<T = ToolOutput> = Result<T, ToolError>;

/// The reason why a tool failed, in words for the model.
///
/// Every value that can be displayed, such as an error or a `String`, becomes a `ToolError` with `?`.
/// To make this possible, `ToolError` itself does not implement [`std::error::Error`].
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

/// The kinds of failure that a host distinguishes.
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
    /// The call ran out of time.
    DeadlineExceeded,
    /// The other side of the border sent data that cannot be read.
    Border,
    /// A kind that only a newer version knows.
    Other(u32),
}

impl ErrorCode {
    /// Returns the number that stands for this kind at the border.
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

    /// Returns the kind that a number stands for at the border.
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
    /// Creates an error with [`ErrorCode::Failed`].
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::Failed, message)
    }

    /// Creates an error of any kind.
    pub fn with_code(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Creates an error for arguments that have the right types but wrong values.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::with_code(ErrorCode::InvalidArguments, message)
    }

    /// Creates the error of a tool that stopped because the host asked it to.
    pub fn cancelled() -> Self {
        Self::with_code(ErrorCode::Cancelled, "cancelled")
    }

    /// Returns the kind of failure.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the message for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Puts `doing` and a colon before the message.
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

/// Formats the error in its alternate form (`{:#}`), in which `anyhow` and others print the whole
/// chain.
impl<E: Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(format!("{error:#}"))
    }
}
