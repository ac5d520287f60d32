//! The arguments of the façade's methods.

use repertoire_bindings::repertoire::activation::text_of_arguments;
use repertoire_bindings::{
    BudgetValue, DisclosureSettings, HowToLoadSetting, LOADED_BY_THE_AGENT, PromptSettings,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads the arguments of a skill, as hosts write them.
pub(crate) fn skill_arguments<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    text_of_arguments(&value)
        .ok_or_else(|| D::Error::custom("`args` is a string, a number, or an array of them"))
}

/// Reads a value for which `null` stands for its default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a list, or one value, which stands for a list of one; `null` does not count as a value.
pub(crate) fn several<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Several<T> {
        All(Vec<T>),
        One(T),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Several::All(all)) => all,
        Some(Several::One(one)) => vec![one],
    })
}

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
    #[serde(deserialize_with = "several")]
    roots: Vec<String>,
    how_to_load: Option<String>,
}

impl Native {
    fn setting(self) -> (Vec<String>, String) {
        let how_to_load = self.how_to_load.unwrap_or_else(|| LOADED_BY_THE_AGENT.to_owned());
        (self.roots, how_to_load)
    }
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
            native: self.native.map(Native::setting),
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
            native: self.native.map(Native::setting),
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
    #[serde(deserialize_with = "several")]
    pub(crate) paths: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) budget: Option<Budget>,
    pub(crate) options: Option<DisclosureOptions>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) prompt: PromptOptions,
    #[serde(deserialize_with = "or_default")]
    pub(crate) tools: ToolsOptions,
    pub(crate) limit: Option<usize>,
    pub(crate) name: String,
    #[serde(deserialize_with = "skill_arguments")]
    pub(crate) args: String,
    pub(crate) audience: Option<String>,
    pub(crate) by: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) inline: bool,
    /// True if a task failed.
    #[serde(deserialize_with = "or_default")]
    pub(crate) failed: bool,
    pub(crate) format: Option<String>,
    #[serde(rename = "arguments")]
    pub(crate) values: Value,
    /// The time limit, in milliseconds.
    pub(crate) timeout: Option<f64>,
    pub(crate) progress: Option<u32>,
}
