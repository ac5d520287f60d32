//! The tools of toolsets in a session: their definitions and their calls.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{SessionTools, no_tool};
use crate::catalog::{Audience, Catalog, Entry};
use crate::engine::CallIo;
use crate::engine::tools::{begins_with, has_toolsets};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::session::SessionState;
use crate::spans;
use crate::tool_definition::ToolFormat;
use crate::toolset::{Tool, ToolPolicy};

impl SessionTools {
    /// The definitions of the tools of toolsets. Tools whose name another tool has as well are left out.
    pub(super) fn plugin_definitions(&self, format: ToolFormat) -> Vec<Value> {
        let state = self.session.state().unwrap_or_default();
        let catalog = self.engine.catalog();
        let mut tools = self.engine.listed_tools(self.skills_with_tools(&catalog, &state));
        for failure in &tools.failures {
            let (skill, error) = (&failure.skill, &failure.error);
            tracing::warn!(%skill, %error, "a toolset could not be loaded");
        }
        let names: Vec<String> = tools.tools.iter().map(Tool::provider_name).collect();
        let mut n_same: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *n_same.entry(name).or_default() += 1;
        }
        let mut places = names.iter();
        tools.tools.retain(|_| {
            let Some(name) = places.next() else { return false };
            let is_distinct = n_same[&**name] == 1 && !Self::NAMES.contains(&&**name);
            if !is_distinct {
                tracing::warn!(tool = name, "left out: another tool has this name");
            }
            is_distinct
        });
        match tools.to_json(format) {
            Value::Array(definitions) => definitions,
            _ => Vec::new(),
        }
    }

    /// Calls a tool of a toolset. Fails with `NOT_FOUND` if there is no such tool.
    pub(super) fn call_plugin(
        &self,
        name: &str,
        arguments: &Value,
        io: CallIo<'_>,
    ) -> Result<Envelope, Error> {
        let tool = match self.find_tool(name, &io) {
            Ok(tool) => tool,
            Err(error) if error.code() == ErrorCode::NotFound => return Err(error),
            Err(error) => return Ok(Envelope::from(&error)),
        };
        tracing::Span::current().record("skill", tool.skill.as_str());
        let span = spans::toolset(tool.skill.as_str(), &tool.short_name);
        let output = match spans::within(&span, || tool.call(arguments, &io)) {
            Ok(output) => output,
            Err(error) => {
                if let (Some(tell), Some(request)) = (io.refusal, tool.rights_request(&error)) {
                    tell(&request);
                }
                return Ok(Envelope::from(&error));
            }
        };
        span.record("output.bytes", spans::int(output.output.len()));
        if let Err(error) = self.session.record_use(&tool.skill) {
            // The tool has run, and its effects cannot be undone: only log the error.
            tracing::warn!(tool = name, %error, "the use of a tool is not noted");
        }
        let text = self.paged(tool.skill.as_str(), output.output);
        let data = json!({"output": text, "title": output.title, "metadata": output.metadata});
        Ok(Envelope::success(&data, text))
    }

    /// The tool that `name` means. If the name begins with that of a skill, the libraries of that skill
    /// are opened first. Fails with `NOT_FOUND`, or with `TIMEOUT` or `CANCELLED` if the library was not
    /// ready in time.
    fn find_tool(&self, name: &str, io: &CallIo<'_>) -> Result<Tool, Error> {
        let (catalog, state) = (self.engine.catalog(), self.session.state()?);
        let tools = self.engine.search_tools(self.skills_with_tools(&catalog, &state), name, io);
        if let Ok(tool) = tools.find(name) {
            return Ok(tool.clone());
        }
        // The tool may be missing because its library could not be loaded.
        let failed = tools.failures.iter().filter(|failure| begins_with(name, &failure.skill));
        let errors: Vec<&Error> = failed.map(|failure| &*failure.error).collect();
        let is_late =
            |error: &&&Error| [ErrorCode::Timeout, ErrorCode::Cancelled].contains(&error.code());
        if let Some(late) = errors.iter().find(is_late) {
            return Err(late.reworded(format!("tool `{name}`: {}", late.message())));
        }
        if !errors.is_empty() {
            let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let help = format!("not loaded: {}", why.join("; "));
            return Err(Error::new(ErrorCode::NotFound, no_tool(name).message(), help));
        }
        let mut others = catalog.listed(Audience::Model).filter(|entry| has_toolsets(entry));
        Err(match others.find(|entry| begins_with(name, &entry.id)) {
            Some(entry) => {
                let help = format!("load the skill `{}` first, with `use_skill`", entry.id);
                Error::new(ErrorCode::NotFound, no_tool(name).message(), help)
            }
            None => no_tool(name),
        })
    }

    /// The skills whose tools the model has: those whose instructions came into the context, in the
    /// order in which they came, or all skills if the host asks for that.
    fn skills_with_tools<'c>(&self, catalog: &'c Catalog, state: &SessionState) -> Vec<&'c Entry> {
        let is_all =
            self.options.all_toolsets || self.engine.tool_policy() == Some(ToolPolicy::All);
        if is_all {
            let listed = catalog.listed(Audience::Model);
            return listed.filter(|entry| has_toolsets(entry)).collect();
        }
        let mut joined: Vec<_> = state
            .skills
            .iter()
            .filter(|known| known.in_context || known.joined.is_some())
            .map(|known| (known.joined.unwrap_or(u64::MAX), &known.skill))
            .collect();
        joined.sort_unstable();
        let entries = joined.into_iter().filter_map(|(_, id)| catalog.get(id.as_str()));
        let is_usable = |entry: &&Entry| {
            let audiences = [Audience::Model, Audience::User];
            entry.is_available() && audiences.into_iter().any(|who| entry.is_loadable(who))
        };
        entries.filter(is_usable).filter(|entry| has_toolsets(entry)).collect()
    }
}
