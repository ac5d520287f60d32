//! A run as the answer of a tool.

use super::ScriptOutput;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};

impl ScriptOutput {
    /// The answer of a tool that ran `script` of `skill`. A run that took too long is a `TIMEOUT`,
    /// one that was cancelled or killed an `EXECUTION_ERROR`, both with the output there is; one
    /// that ended by itself is a success, whatever its exit code.
    pub fn to_envelope(&self, skill: &str, script: &str) -> Envelope {
        let Some(reason) = &self.reason else {
            return Envelope::success(self, self.text());
        };
        let message = format!("the script `{script}` of the skill `{skill}` was stopped: {reason}");
        let (code, remedy) = if self.timed_out {
            (ErrorCode::Timeout, "ask it for less; ")
        } else if self.truncated {
            (ErrorCode::ExecutionError, "ask it for less, or have it write to a file; ")
        } else {
            (ErrorCode::ExecutionError, "")
        };
        let mut help = format!("{remedy}what it printed is in `data`");
        if let Some(withheld) = self.withheld() {
            help = format!("{help}; {withheld}");
        }
        Envelope::from(&Error::new(code, message, help)).with_data(self)
    }

    /// The output for a model: both streams, how it ended if that is not well, and what it missed.
    fn text(&self) -> String {
        let mut parts = Vec::new();
        parts.extend((!self.stdout.is_empty()).then(|| self.stdout.trim_end().to_owned()));
        if !self.stderr.is_empty() {
            parts.push(format!("[standard error]\n{}", self.stderr.trim_end()));
        }
        if let Some(code) = self.exit_code.filter(|code| *code != 0) {
            parts.push(format!("[exit code {code}]"));
        }
        if let Some(offline) = self.offline.filter(|_| self.exit_code != Some(0)) {
            parts.push(format!("[the network was closed to it: {}]", offline.reason()));
        }
        parts.extend(self.withheld().map(|withheld| format!("[{withheld}]")));
        if parts.is_empty() { "[no output]".to_owned() } else { parts.join("\n") }
    }

    /// The files that were not there for it, and why.
    fn withheld(&self) -> Option<String> {
        let names: Vec<_> = self.withheld.iter().map(|path| format!("`{path}`")).collect();
        (!names.is_empty())
            .then(|| format!("left out, as the user has not approved it: {}", names.join(", ")))
    }
}
