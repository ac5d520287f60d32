//! A run as the answer of a tool.

use super::ScriptOutput;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};

impl ScriptOutput {
    /// The answer of a tool that ran `script` of `skill`. A run that took too long is a `TIMEOUT`,
    /// one that was cancelled an `EXECUTION_ERROR`, both with the output there is; one that ended
    /// by itself is a success, whatever its exit code.
    pub fn to_envelope(&self, skill: &str, script: &str) -> Envelope {
        if !self.timed_out && !self.cancelled {
            return Envelope::success(self, self.text());
        }
        let reason = self.reason.as_deref().unwrap_or("it was stopped");
        let message = format!("the script `{script}` of the skill `{skill}` was stopped: {reason}");
        let (code, help) = if self.timed_out {
            (ErrorCode::Timeout, "ask it for less; what it printed is in `data`")
        } else {
            (ErrorCode::ExecutionError, "what it printed is in `data`")
        };
        Envelope::from(&Error::new(code, message, help)).with_data(self)
    }

    /// The output for a model: both streams, and how it ended if that is not well.
    fn text(&self) -> String {
        let mut parts = Vec::new();
        parts.extend((!self.stdout.is_empty()).then(|| self.stdout.trim_end().to_owned()));
        if !self.stderr.is_empty() {
            parts.push(format!("[standard error]\n{}", self.stderr.trim_end()));
        }
        if let Some(reason) = &self.reason {
            parts.push(format!("[{reason}]"));
        }
        match (self.exit_code, self.signal) {
            (Some(0), _) => {}
            (Some(code), _) => parts.push(format!("[exit code {code}]")),
            (None, Some(signal)) if self.reason.is_none() => {
                parts.push(format!("[ended by signal {signal}]"));
            }
            (None, _) => {}
        }
        if parts.is_empty() { "[no output]".to_owned() } else { parts.join("\n") }
    }
}
