//! The arguments of the façade's methods.

use repertoire_bindings::{BudgetValue, DisclosureSettings, HowToLoadSetting, PromptSettings};
use serde::Deserialize;
use serde_json::Value;

/// A number of characters, or a text such as `1000t` or `2%`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Budget {
    Characters(usize),
    Text(String),
}

impl Budget {
    pub(crate) fn value(self) -> BudgetValue {
        match self {
            Budget::Characters(n) => BudgetValue::Characters(n),
            Budget::Text(text) => BudgetValue::Text(text),
        }
    }
}

/// Skills that the host's agent lists and loads by itself: their directories, and how it loads one.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Native {
    roots: Vec<String>,
    how_to_load: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct DisclosureOptions {
    format: Option<String>,
    max_skills: Option<usize>,
    max_all_skills: Option<usize>,
    max_lines: Option<usize>,
    relevance: Option<bool>,
    budget: Option<Budget>,
    restore: Option<Budget>,
    context_window: Option<usize>,
    how_to_load: Option<String>,
    native: Option<Native>,
}

impl DisclosureOptions {
    pub(crate) fn settings(self) -> DisclosureSettings {
        DisclosureSettings {
            format: self.format,
            max_skills: self.max_skills,
            max_all_skills: self.max_all_skills,
            max_lines: self.max_lines,
            relevance: self.relevance,
            budget: self.budget.map(Budget::value),
            restore: self.restore.map(Budget::value),
            context_window: self.context_window,
            how_to_load: self.how_to_load.as_deref().map(HowToLoadSetting::read),
            native: self.native.map(|native| (native.roots, native.how_to_load)),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct PromptOptions {
    format: Option<String>,
    budget: Option<Budget>,
    context_window: Option<usize>,
    locations: Option<bool>,
    how_to_load: Option<String>,
    native: Option<Native>,
}

impl PromptOptions {
    pub(crate) fn settings(self) -> PromptSettings {
        PromptSettings {
            format: self.format,
            budget: self.budget.map(Budget::value),
            context_window: self.context_window,
            locations: self.locations,
            how_to_load: self.how_to_load.as_deref().map(HowToLoadSetting::read),
            native: self.native.map(|native| (native.roots, native.how_to_load)),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ToolsOptions {
    pub(crate) names_chars: Option<usize>,
    pub(crate) read_bytes: Option<usize>,
    pub(crate) output_bytes: Option<usize>,
    pub(crate) all_toolsets: Option<bool>,
}

/// The arguments of all methods; each method uses some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Arguments {
    pub(crate) message: String,
    pub(crate) paths: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) budget: Option<Budget>,
    pub(crate) options: Option<DisclosureOptions>,
    pub(crate) prompt: PromptOptions,
    pub(crate) tools: ToolsOptions,
    pub(crate) limit: Option<usize>,
    pub(crate) name: String,
    pub(crate) args: String,
    pub(crate) audience: Option<String>,
    pub(crate) by: Option<String>,
    pub(crate) inline: bool,
    /// True if a task failed.
    pub(crate) failed: bool,
    pub(crate) format: Option<String>,
    #[serde(rename = "arguments")]
    pub(crate) values: Value,
    /// The time limit, in milliseconds.
    pub(crate) timeout: Option<f64>,
    pub(crate) progress: Option<u32>,
}
