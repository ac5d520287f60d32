//! The calls of the built-in tools.

use serde_json::json;
use tracing::Span;

use super::SessionTools;
use super::parameters::{FindSkills, ReadSkillFile, UseSkill};
use crate::activation::{ConsentPolicy, Content, ReadOptions};
use crate::catalog::{Audience, Entry};
use crate::disclosure::{ARGUMENTS_NOTE, TaskRunner};
use crate::engine::{Activate, EngineCounts, keep_query};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::skill::placeholder::ARGUMENTS;

/// The default limit of `find_skills`.
const FOUND: usize = 5;

impl SessionTools {
    pub(super) fn use_skill(&self, call: UseSkill) -> Result<Envelope, Error> {
        // The whole call uses one catalog, so that the skill it activates is the one it compared with
        // the context.
        let catalog = self.engine.catalog();
        let (entry, args) = catalog.find_with_args(&call.skill, &call.args, Audience::Model)?;
        Span::current().record("skill", entry.id.as_str());
        let is_plain = args.trim().is_empty();
        let by = call.by.filter(|by| !by.trim().is_empty());
        if is_plain && by.is_none() && self.is_in_context(entry)? {
            let id = &entry.id;
            self.session.record_use(id)?;
            self.engine.1.counters.add(EngineCounts { used: 1, ..EngineCounts::default() });
            let text = format!(
                "The instructions of the skill `{id}` are in this conversation already: follow them."
            );
            return Ok(Envelope::success(&json!({"id": id, "in_context": true}), text));
        }
        let by = by.map(Into::into);
        // If the host cannot spawn a task, the instructions join the conversation.
        let inline = !self.engine.spawns_tasks();
        let how = Activate { by, inline, ..Activate::default() };
        // Without arguments, the placeholder is kept: it stands for the request in the conversation.
        let is_open = is_plain && entry.skill.body().is_ok_and(|body| body.contains(ARGUMENTS));
        let args = if is_open { ARGUMENTS } else { &args };
        let activation =
            self.engine.activate_entry(&catalog, entry, args, &self.session, &how, None)?;
        let text = activation.to_text();
        let is_open = is_open && activation.task.is_none();
        let text = if is_open { format!("{ARGUMENTS_NOTE}\n\n{text}") } else { text };
        Ok(Envelope::success(&activation, text))
    }

    /// Tells whether the context already has the instructions of a skill as a call without arguments
    /// would give them, so that they need not be repeated.
    fn is_in_context(&self, entry: &Entry) -> Result<bool, Error> {
        let asks_each_time = self.engine.0.consent.policy == ConsentPolicy::Always;
        if asks_each_time || self.engine.runs_as_task(entry, TaskRunner::Host) {
            return Ok(false);
        }
        Ok(self.session.state()?.shows(&entry.id, &entry.skill))
    }

    pub(super) fn find_skills(&self, call: &FindSkills) -> Result<Envelope, Error> {
        let limit = call.limit.unwrap_or(FOUND);
        if limit == 0 {
            let help = format!("give a `limit` of at least 1, or none for the default of {FOUND}");
            return Err(Error::new(ErrorCode::InvalidParam, "a `limit` of 0 finds nothing", help));
        }
        let turn = self.engine.turn(&call.query, &self.session);
        let (found, failure) = turn.find_or_failure(limit);
        keep_query(&self.session, &call.query, &found);
        let lines = found.iter().map(|skill| match &*skill.brief {
            "" => format!("- {}", skill.id),
            brief => format!("- {}: {brief}", skill.id),
        });
        let mut lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            lines.push("No skill fits.".to_owned());
        }
        let mut data = json!({"skills": found});
        if let Some(failure) = failure {
            lines.push(format!("[found by words alone: {failure}]"));
            data["failure"] = failure.into();
        }
        Ok(Envelope::success(&data, lines.join("\n")))
    }

    pub(super) fn read_skill_file(&self, call: &ReadSkillFile) -> Result<Envelope, Error> {
        if let Some(output) = self.read_output(call) {
            return output;
        }
        let read = |offset| {
            let options =
                ReadOptions { max_bytes: self.options.read_bytes, offset, limit: call.limit };
            self.engine.read_resource(&call.skill, &call.path, &self.session, &options)
        };
        let mut resource = read(call.offset);
        let is_too_long = |error: &Error| error.code() == ErrorCode::ExecutionError;
        if call.offset.is_none() && resource.as_ref().is_err_and(is_too_long) {
            // Answer a text that is too long in parts, instead of refusing it.
            let part = read(Some(1));
            let is_binary = |error: &Error| error.code() == ErrorCode::InvalidParam;
            resource = if part.as_ref().is_err_and(is_binary) { resource } else { part };
        }
        let resource = resource?;
        if let Ok(entry) = self.engine.catalog().find(&call.skill, Audience::Model) {
            self.session.note_use(&entry.id);
        }
        let text = match &resource.content {
            Content::Text { text, first_line, lines, total_lines }
                if first_line + lines <= *total_lines =>
            {
                let next = first_line + lines;
                format!("{text}\n[{total_lines} lines; read on from offset {next}]")
            }
            Content::Text { text, .. } => text.clone(),
            Content::Base64(_) => {
                format!("{}: {} of {} bytes", resource.path, resource.media_type, resource.size)
            }
        };
        Ok(Envelope::success(&resource, text))
    }

    #[cfg(feature = "scripts")]
    pub(super) fn run_skill_script(
        &self,
        call: &super::parameters::RunSkillScript,
        io: crate::engine::CallIo<'_>,
    ) -> Result<Envelope, Error> {
        let is_over = || io.is_over();
        let mut tell = |stream, written: &[u8]| {
            if let Some(output) = io.output {
                output(stream, written);
            }
        };
        let io = crate::script::ScriptIo {
            stdin: call.stdin.as_bytes(),
            on_output: Some(&mut tell),
            is_cancelled: Some(&is_over),
        };
        let mut output =
            self.engine.run_script(&call.skill, &call.script, &call.args, &self.session, io)?;
        output.stdout = self.paged(&call.skill, output.stdout);
        output.stderr = self.paged(&call.skill, output.stderr);
        Ok(output.to_envelope(&call.skill, &call.script))
    }
}
