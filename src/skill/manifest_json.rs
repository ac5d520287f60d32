//! A manifest as JSON, for display.

use serde_json::{Map, Value as Json, json};

use super::context::Context;
use super::examples::Examples;
use super::manifest::Manifest;
use super::rights::ToolsetRights;
use super::spanned::Spanned;

impl Manifest {
    /// Returns the manifest as JSON: the fields that are set, with names spelt with `_`.
    pub fn to_json(&self) -> Json {
        let mut map = Map::new();
        let mut put = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                map.insert(name.to_owned(), value);
            }
        };
        let text = |field: &Option<Spanned<String>>| {
            field.as_ref().map(|field| Json::from(field.value.as_str()))
        };
        let boolean = |field: &Option<Spanned<bool>>| field.as_ref().map(|f| Json::from(f.value));
        let filled = |entries: &[Spanned<String>]| (!entries.is_empty()).then(|| list(entries));
        put("name", text(&self.name));
        put("description", text(&self.description));
        put("brief_description", text(&self.brief_description));
        put("when_to_use", text(&self.when_to_use));
        put("version", self.version.as_ref().map(|version| version.value.to_string().into()));
        let kinds = self.triggers.kinds().into_iter();
        let triggers = kinds.map(|(kind, entries)| (kind.to_owned(), list(entries)));
        put("triggers", self.triggers.declared.then(|| triggers.collect::<Map<_, _>>().into()));
        put("trigger_phrases", filled(&self.trigger_phrases));
        put("examples", (!self.examples.is_empty()).then(|| examples_json(&self.examples)));
        put("toolsets", filled(&self.toolsets));
        let rights = &self.toolset_rights;
        put("toolset_rights", (!rights.is_empty()).then(|| json!(rights)));
        put("scripts", self.scripts.as_deref().map(list));
        put("rights", self.script_rights.as_ref().map(script_rights));
        put("default_enabled", boolean(&self.default_enabled));
        put("disable_model_invocation", boolean(&self.disable_model_invocation));
        put("closed_by_policy", self.closed_by_policy.then(|| true.into()));
        put("user_invocable", boolean(&self.user_invocable));
        put("allowed_tools", self.allowed_tools.as_deref().map(list));
        put("context", (self.context != Context::Inline).then(|| self.context.as_str().into()));
        put("agent", text(&self.agent));
        put("model", text(&self.model));
        put("argument_hint", text(&self.argument_hint));
        put("arguments", text(&self.arguments));
        put("always", boolean(&self.always));
        put("requires_bins", filled(&self.requires_bins));
        put("requires_env", filled(&self.requires_env));
        put("host_bins", filled(&self.host_bins));
        put("host_env", filled(&self.host_env));
        put("requires_skills", filled(&self.requires_skills));
        put("restore", boolean(&self.restore));
        put("knowledge", filled(&self.knowledge));
        put("license", text(&self.license));
        put("compatibility", text(&self.compatibility));
        put("metadata", (!self.metadata.is_empty()).then(|| self.metadata.clone().into()));
        put("extra", (!self.extra.is_empty()).then(|| self.extra.clone().into()));
        map.into()
    }
}

fn examples_json(examples: &Examples) -> Json {
    json!({"should": list(&examples.should), "should_not": list(&examples.should_not)})
}

fn list(entries: &[Spanned<String>]) -> Json {
    entries.iter().map(|entry| entry.value.as_str()).collect()
}

/// The rights of scripts; `read` is left out if they read nothing more.
fn script_rights(rights: &ToolsetRights) -> Json {
    let mut json = json!({"network": rights.network});
    if let (Some(map), false) = (json.as_object_mut(), rights.read.is_empty()) {
        map.insert("read".to_owned(), json!(rights.read));
    }
    json
}
