//! The libraries among trusted code: the rights that their classes ask for, and their tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repertoire::toolset::{Tool, Tools, ToolsetEntry};
use repertoire::trust::{ContentHash, Owner, TrustStore, TrustedFile};
use repertoire::{Engine, Source};
use serde_json::{Value as Json, json};

use super::Code;
use super::kept::Kept;
use crate::args::Common;
use crate::failure::Failure;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::tool::texts::{first_line, show_others};
use crate::{sanitize, setup};

/// The tools that the user saw of a library, by class: the hash of each, by its name.
pub(super) type SeenTools = BTreeMap<String, BTreeMap<String, ContentHash>>;

/// The tools of a library that was just trusted, and those that it had when it was trusted before.
pub(super) struct Shown {
    tools: Vec<Tool>,
    before: SeenTools,
}

impl Shown {
    /// Lists the tools of the library in `code`, which is trusted, and records them in the trust
    /// store. Reports toolsets that cannot be loaded. `None` if `code` has no tools.
    pub(super) fn of(
        code: &Code,
        before: &[TrustedFile],
        kept: &Kept,
        common: &Common,
        out: Output,
    ) -> anyhow::Result<Option<Shown>> {
        let Some(owner) = code.owner.as_ref().filter(|_| code.has_tools) else {
            return Ok(None);
        };
        let trust = Arc::new(setup::trust_store(common)?);
        let Tools { tools, failures, .. } = current_tools(owner, Arc::clone(&trust), common)?;
        let file = real(&code.file);
        let tools: Vec<Tool> =
            tools.into_iter().filter(|tool| real(tool.library_path()) == file).collect();
        // The tools of a class that cannot be loaded now were not seen, and are refused later.
        let mut seen: SeenTools = failures
            .iter()
            .filter_map(|failure| failure.entry.parse::<ToolsetEntry>().ok())
            .filter(|entry| entry.library(&owner.dir).is_ok_and(|path| real(&path) == file))
            .map(|entry| (entry.class().to_owned(), BTreeMap::new()))
            .collect();
        for failure in &failures {
            out.partial_failure(&Failure::from(&*failure.error));
        }
        for tool in &tools {
            kept.keep_text(&tool.written_definition().to_string());
            let class = seen.entry(tool.toolset.clone()).or_default();
            class.insert(tool.short_name.clone(), hash(tool));
        }
        trust.record_tools(&code.file, seen)?;
        let known = before.iter().find(|known| Some(&known.path) == file.as_ref());
        let before = known.map(|known| known.tools.clone()).unwrap_or_default();
        Ok(Some(Shown { tools, before }))
    }

    /// Says in a word how a tool changed since the library was trusted before.
    fn change(&self, tool: &Tool) -> &'static str {
        let before = self.before.get(&tool.toolset);
        match before.and_then(|before| before.get(&tool.short_name)) {
            _ if self.before.is_empty() => "tool",
            None => "new",
            Some(known) if *known == hash(tool) => "same",
            Some(_) => "changed",
        }
    }

    fn gone(&self) -> impl Iterator<Item = &String> {
        let is_there = |class: &str, name: &str| {
            self.tools.iter().any(|tool| tool.toolset == class && tool.short_name == name)
        };
        let before = self.before.iter();
        before
            .flat_map(move |(class, tools)| tools.keys().filter(move |name| !is_there(class, name)))
    }

    pub(super) fn to_json(&self) -> Json {
        let tools = self.tools.iter().map(|tool| {
            let written = tool.written_definition();
            json!({
                "name": tool.short_name,
                "description": written[0],
                "parameters": written[1],
                "annotations": written[2],
                "change": self.change(tool),
            })
        });
        let gone = self.gone().map(|name| json!({"name": name, "change": "gone"}));
        tools.chain(gone).collect()
    }

    /// Shows all texts that a model gets.
    pub(super) fn show(&self, text: &mut Page) {
        for tool in &self.tools {
            let change = self.change(tool);
            let style = if ["new", "changed"].contains(&change) { WARNING } else { DIM };
            text.line(format_args!(
                "  {} {} {}",
                styled(style, format_args!("{change:7}")),
                styled(NAME, sanitize::line(&tool.short_name)),
                first_line(tool)
            ));
            show_others(tool, "          ", text);
        }
        for name in self.gone() {
            let name = sanitize::line(name);
            text.line(format_args!("  {} {name}", styled(WARNING, "gone   ")));
        }
    }
}

/// Lists the tools of a skill as its toolsets describe them now, without the cache of descriptions: the
/// user must see what the model will get. `trust` must trust their code.
pub(super) fn current_tools(
    owner: &Owner,
    trust: Arc<TrustStore>,
    common: &Common,
) -> anyhow::Result<Tools> {
    let mut options = setup::cached_toolset_options(common)?;
    options.cache = None;
    let source = Source::project(&owner.dir);
    let builder = Engine::builder().source(source).brand(&common.brand);
    Ok(builder.toolsets(options).trust(trust).build()?.all_tools())
}

pub(super) fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Returns the hash that is recorded for a tool: that of what a model is told of it.
pub(super) fn hash(tool: &Tool) -> ContentHash {
    ContentHash::of(tool.written_definition().to_string().as_bytes())
}
