//! Converts a run into the answer of a tool.

use super::ScriptOutput;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};

impl ScriptOutput {
    /// The answer of a tool that ran `script` of `skill`. A run that ended by itself is a success,
    /// whatever its exit code. A run that took too long is a `TIMEOUT`, and one that was cancelled or
    /// killed is an `EXECUTION_ERROR`; both have the output so far.
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

    /// The output for a model: both streams, the exit code if it is not zero, and what was not
    /// available.
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

    /// Lists the files that were not available to the script, and says why; `None` if there are none.
    fn withheld(&self) -> Option<String> {
        let names: Vec<_> = self.withheld.iter().map(|path| format!("`{path}`")).collect();
        (!names.is_empty())
            .then(|| format!("left out, as the user has not approved it: {}", names.join(", ")))
    }
}
