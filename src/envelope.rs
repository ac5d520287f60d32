//! The envelope: the common form of all tool answers.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, ErrorCode};

/// The answer of a tool: `{"status":"success","data":…,"text":…}`, or
/// `{"status":"error","error":{"code","message"}}`.
///
/// ```
/// use repertoire::{Envelope, Error, ErrorCode};
///
/// let error = Error::new(ErrorCode::NotFound, "no skill `gti`", "did you mean `git`?");
/// let answer = serde_json::to_string(&Envelope::from(&error))?;
/// assert_eq!(
///     answer,
///     r#"{"status":"error","error":{"code":"NOT_FOUND","message":"no skill `gti`; did you mean `git`?"}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Envelope {
    /// The call succeeded.
    Success {
        /// The answer for programs.
        data: Value,
        /// The answer for a model.
        text: String,
    },
    /// The call failed.
    Error {
        /// The reason for the failure.
        error: Fault,
        /// A partial answer, if there is one, such as the output of a script that timed out.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
}

/// The reason why a tool failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The code of the error, for programs.
    pub code: ErrorCode,
    /// The problem and the advice on what to do.
    pub message: String,
}

impl Envelope {
    /// A successful answer. Data that cannot be JSON is an `INTERNAL_ERROR`.
    pub fn success(data: &impl Serialize, text: impl Into<String>) -> Envelope {
        match serde_json::to_value(data) {
            Ok(data) => Envelope::Success { data, text: text.into() },
            Err(error) => {
                let message = format!("an answer cannot be written as JSON: {error}");
                Envelope::from(&Error::new(ErrorCode::InternalError, message, ""))
            }
        }
    }

    /// Adds a partial answer to an error. Leaves a success unchanged.
    #[must_use]
    pub fn with_data(self, partial: &impl Serialize) -> Envelope {
        match self {
            Envelope::Error { error, .. } => {
                Envelope::Error { error, data: serde_json::to_value(partial).ok() }
            }
            success @ Envelope::Success { .. } => success,
        }
    }

    /// The answer as a model should get it: the text of a success, or the code and the message of an
    /// error, followed by its partial answer as JSON. The envelope as JSON would repeat most of a text
    /// in its data.
    ///
    /// ```
    /// use repertoire::{Engine, Skill};
    ///
    /// let skill: Skill = "---\nname: tdd\ndescription: d\n---\nTest first.".parse()?;
    /// let engine = Engine::builder().skill(skill).build()?;
    /// let tools = engine.tools(&engine.session("chat-7"));
    /// let answer = tools.call("use_skill", &serde_json::json!({"skill": "tdd"}));
    /// assert_eq!(answer.text(), "Test first.");
    /// let answer = tools.call("use_skill", &serde_json::json!({"skill": "x"}));
    /// assert!(answer.text().starts_with("NOT_FOUND: no skill `x`"));
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Envelope::Success { text, .. } => Cow::Borrowed(text),
            Envelope::Error { error, data } => {
                let partial = data.as_ref().map_or_else(String::new, |data| format!("\n{data}"));
                Cow::Owned(format!("{}: {}{partial}", error.code.as_str(), error.message))
            }
        }
    }

    /// The code of the error; `None` for a success.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Envelope::Success { .. } => None,
            Envelope::Error { error, .. } => Some(error.code),
        }
    }
}

impl From<&Error> for Envelope {
    fn from(error: &Error) -> Envelope {
        let message = match error.help() {
            "" => error.message().to_owned(),
            help => format!("{}; {help}", error.message()),
        };
        Envelope::Error { error: Fault { code: error.code(), message }, data: None }
    }
}
