//! Paged outputs of tools: the answer has the first page, `read_skill_file` reads the others.

use serde_json::json;

use super::SessionTools;
use super::parameters::ReadSkillFile;
use crate::engine::outputs::{Outputs, page};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};

impl SessionTools {
    /// Returns the output of a tool of `skill` if it is short enough, otherwise its first page and a
    /// note on how to read on.
    pub(in crate::engine) fn paged(&self, skill: &str, output: String) -> String {
        let max_bytes = self.options.output_bytes;
        if output.len() <= max_bytes {
            return output;
        }
        let Some(first) = page(&output, 1, None, max_bytes) else { return output };
        let name = self.engine.0.outputs.keep(&output);
        let line_end = if first.text.ends_with('\n') { "" } else { "\n" };
        format!(
            "{}{line_end}[lines 1 to {} of {}; to read on, call `read_skill_file` with skill \
             `{skill}`, path `{name}`, offset {}]",
            first.text,
            first.lines,
            first.total_lines,
            first.lines + 1
        )
    }

    /// Reads a page of an output; `None` if the path of the call is not the name of an output.
    pub(super) fn read_output(&self, call: &ReadSkillFile) -> Option<Result<Envelope, Error>> {
        Outputs::is_name(&call.path).then(|| {
            let output = self.engine.0.outputs.get(&call.path).ok_or_else(|| {
                let message = format!("the output `{}` is no longer kept", call.path);
                Error::new(ErrorCode::NotFound, message, "call the tool again")
            })?;
            let offset = call.offset.unwrap_or(1);
            let read = page(&output, offset, call.limit, self.options.output_bytes);
            let page = read.ok_or_else(|| {
                let message = format!("the output `{}` has no line {offset}", call.path);
                Error::new(ErrorCode::InvalidParam, message, "give an `offset` within its lines")
            })?;
            let next = page.first_line + page.lines;
            let data = json!({
                "path": call.path,
                "content": page.text,
                "first_line": page.first_line,
                "lines": page.lines,
                "total_lines": page.total_lines,
            });
            let text = if next <= page.total_lines {
                format!("{}\n[{} lines; read on from offset {next}]", page.text, page.total_lines)
            } else {
                page.text.to_owned()
            };
            Ok(Envelope::success(&data, text))
        })
    }
}
