//! The libraries among trusted code: the rights that their classes ask for, and their tools.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use repertoire::skill::ToolsetRights;
use repertoire::toolset::{Tool, ToolsetEntry};
use repertoire::trust::{ContentHash, TrustedFile};
use repertoire::{Engine, Source};
use serde_json::{Value as Json, json};

use super::Code;
use crate::args::Common;
use crate::failure::Failure;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::{sanitize, setup};

/// Returns the rights that the classes of a library ask for, by class. Their paths are absolute,
/// with links followed.
pub(super) fn asked(code: &Code) -> BTreeMap<String, ToolsetRights> {
    let Some(owner) = &code.owner else { return BTreeMap::new() };
    let rights = entries(code).filter_map(|(text, entry)| {
        Some((entry.class().to_owned(), owner.toolset_rights.get(text)?.resolved()))
    });
    rights.collect()
}

/// Returns the classes of a library or an MCP server that its skill uses.
pub(super) fn classes(code: &Code) -> Vec<String> {
    entries(code).map(|(_, entry)| entry.class().to_owned()).collect()
}

/// Iterates over the entries of a skill's toolsets that mean the file of `code`.
fn entries(code: &Code) -> impl Iterator<Item = (&String, ToolsetEntry)> {
    let file = code.file.canonicalize().ok();
    let all = code.owner.iter().flat_map(|owner| owner.toolsets.iter().map(move |it| (owner, it)));
    all.filter_map(move |(owner, text)| {
        let entry: ToolsetEntry = text.parse().ok()?;
        let library = entry.library(&owner.dir).ok()?.canonicalize().ok();
        (library.is_some() && library == file).then_some((text, entry))
    })
}

/// The tools of a library that was just trusted, and those that it had when it was trusted before.
pub(super) struct Shown {
    tools: Vec<Tool>,
    before: BTreeMap<String, ContentHash>,
}

impl Shown {
    /// Lists the tools of the library in `code`, which is trusted, and records them in the trust
    /// store. Reports toolsets that cannot be loaded. `None` if `code` has no tools.
    pub(super) fn of(
        code: &Code,
        before: &[TrustedFile],
        common: &Common,
        out: Output,
    ) -> anyhow::Result<Option<Shown>> {
        let Some(owner) = code.owner.as_ref().filter(|_| code.has_tools()) else {
            return Ok(None);
        };
        let options = setup::cached_toolset_options(common)?;
        let trust = Arc::new(setup::trust_store(common)?);
        let source = Source::project(&owner.dir);
        let builder = Engine::builder().source(source).brand(&common.brand);
        let engine = builder.toolsets(options).trust(Arc::clone(&trust)).build()?;
        let mut all = engine.all_tools();
        let real = |path: &Path| path.canonicalize().ok();
        let file = real(&code.file);
        all.tools.retain(|tool| real(tool.library_path()) == file);
        for failure in &all.failures {
            out.partial_failure(&Failure::from(&*failure.error));
        }
        let tools = all.tools.iter().map(|tool| (tool.short_name.clone(), print(tool))).collect();
        trust.record_tools(&code.file, tools)?;
        let known = before.iter().find(|known| Some(&known.path) == file.as_ref());
        let before = known.map(|known| known.tools.clone()).unwrap_or_default();
        Ok(Some(Shown { tools: all.tools, before }))
    }

    /// Says in a word how a tool changed since the library was trusted before.
    fn change(&self, tool: &Tool) -> &'static str {
        match self.before.get(&tool.short_name) {
            _ if self.before.is_empty() => "tool",
            None => "new",
            Some(known) if *known == print(tool) => "same",
            Some(_) => "changed",
        }
    }

    fn gone(&self) -> impl Iterator<Item = &String> {
        let is_there = |name: &String| self.tools.iter().any(|tool| tool.short_name == *name);
        self.before.keys().filter(move |name| !is_there(name))
    }

    pub(super) fn to_json(&self) -> Json {
        let tools = self.tools.iter().map(|tool| {
            json!({"name": tool.short_name, "description": tool.description, "change": self.change(tool)})
        });
        let gone = self.gone().map(|name| json!({"name": name, "change": "gone"}));
        tools.chain(gone).collect()
    }

    pub(super) fn show(&self, text: &mut Page) {
        for tool in &self.tools {
            let change = self.change(tool);
            let style = if ["new", "changed"].contains(&change) { WARNING } else { DIM };
            let line = tool.description.lines().next().unwrap_or_default();
            text.line(format_args!(
                "  {} {} {}",
                styled(style, format_args!("{change:7}")),
                styled(NAME, sanitize::line(&tool.short_name)),
                sanitize::line(line)
            ));
        }
        for name in self.gone() {
            let name = sanitize::line(name);
            text.line(format_args!("  {} {name}", styled(WARNING, "gone   ")));
        }
    }
}

/// Returns the hash of what a model is told of a tool: description, parameters and annotations.
fn print(tool: &Tool) -> ContentHash {
    let told = json!([tool.description, tool.parameters, tool.annotations]);
    ContentHash::of(told.to_string().as_bytes())
}
