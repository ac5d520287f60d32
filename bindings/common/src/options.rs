//! Options of disclosures and of the catalog prompt, as plain values.

use std::borrow::Cow;

use repertoire::disclosure::{NativeSkills, RelevanceMargin};
use repertoire::{Budget, DisclosureOptions, Error, ErrorCode, HowToLoad, PromptOptions};

/// The maximum length of a text, as a host writes it.
#[derive(Debug, Clone, PartialEq)]
pub enum BudgetValue {
    /// A number of characters.
    Characters(usize),
    /// `4000` (characters), `1000t` (tokens) or `2%` (of the context window).
    Text(String),
    /// No limit.
    Unlimited,
}

impl BudgetValue {
    /// Returns the budget; `None` if there is no limit. Percentages refer to a window of `window`
    /// tokens.
    pub fn read(&self, window: Option<usize>) -> Result<Option<Budget>, Error> {
        match self {
            BudgetValue::Characters(n) => Ok(Some(Budget::Characters(*n))),
            BudgetValue::Text(text) if text == "unlimited" => Ok(None),
            BudgetValue::Text(text) => Budget::parse(text, window).map(Some),
            BudgetValue::Unlimited => Ok(None),
        }
    }
}

/// The way for the model to load a listed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HowToLoadSetting {
    /// With the tool of this name.
    Tool(String),
    /// By reading the skill's file.
    File,
    /// As this sentence of the host says.
    Sentence(String),
}

impl HowToLoadSetting {
    /// Parses `file`, `tool:NAME`, or a sentence.
    pub fn read(text: &str) -> HowToLoadSetting {
        match text.strip_prefix("tool:") {
            Some(name) => HowToLoadSetting::Tool(name.trim().to_owned()),
            None if text == "file" => HowToLoadSetting::File,
            None => HowToLoadSetting::Sentence(text.to_owned()),
        }
    }

    fn to_engine(&self) -> HowToLoad {
        match self {
            HowToLoadSetting::Tool(name) => HowToLoad::Tool(name.clone()),
            HowToLoadSetting::File => HowToLoad::File,
            HowToLoadSetting::Sentence(text) => HowToLoad::Sentence(text.clone()),
        }
    }
}

/// The sentence about skills that the host's agent loads by itself, unless the host has another one.
pub const LOADED_BY_THE_AGENT: &str = "Load it with your own skill tool.";

/// The options of disclosures. Options that are `None` keep the engine's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisclosureSettings {
    /// `markdown`, `xml` or `json`.
    pub format: Option<String>,
    /// The maximum number of matching skills shown in full.
    pub max_skills: Option<usize>,
    /// The maximum number of skills shown in full when the message asks for all of them.
    pub max_all_skills: Option<usize>,
    /// The maximum number of skills that are listed, with one line each, because they are relevant.
    pub max_lines: Option<usize>,
    /// False if relevance alone never shows a skill in full.
    pub relevance: Option<bool>,
    /// The budget for the text.
    pub budget: Option<BudgetValue>,
    /// The budget for the skills that are shown again after the context was compacted.
    pub restore: Option<BudgetValue>,
    /// The size of the context window in tokens, for budgets that are a percentage of it.
    pub context_window: Option<usize>,
    /// The way for the model to load a listed skill.
    pub how_to_load: Option<HowToLoadSetting>,
    /// Directories of skills that the host's agent lists and loads by itself, and the agent's
    /// instructions for loading one.
    pub native: Option<(Vec<String>, String)>,
}

impl DisclosureSettings {
    /// Returns `options`, changed by these settings.
    pub fn apply(&self, mut options: DisclosureOptions) -> Result<DisclosureOptions, Error> {
        if let Some(format) = &self.format {
            options.format = format.parse()?;
        }
        options.max_skills = self.max_skills.unwrap_or(options.max_skills);
        options.max_all_skills = self.max_all_skills.unwrap_or(options.max_all_skills);
        options.max_lines = self.max_lines.unwrap_or(options.max_lines);
        if let Some(relevance) = self.relevance {
            let margin = options.relevance.unwrap_or_default();
            options.relevance = relevance.then_some::<RelevanceMargin>(margin);
        }
        if let Some(budget) = &self.budget {
            options.budget = budget.read(self.context_window)?;
        }
        if let Some(restore) = &self.restore {
            options.restore = restore.read(self.context_window)?.ok_or_else(|| {
                let message = "`restore` cannot be without limit";
                Error::new(ErrorCode::InvalidParam, message, "write a budget such as `5000t`")
            })?;
        }
        if let Some(how) = &self.how_to_load {
            options.how_to_load = how.to_engine();
        }
        if let Some((roots, words)) = &self.native {
            options.native = Some(native(roots, words));
        }
        Ok(options)
    }
}

/// The options of the catalog prompt. Options that are `None` keep the engine's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptSettings {
    /// `markdown`, `xml` or `json`.
    pub format: Option<String>,
    /// The budget for the text.
    pub budget: Option<BudgetValue>,
    /// The size of the context window in tokens.
    pub context_window: Option<usize>,
    /// True if the prompt gives the path of each skill's file.
    pub locations: Option<bool>,
    /// The way for the model to load a listed skill.
    pub how_to_load: Option<HowToLoadSetting>,
    /// Skills that the agent loads by itself; see [`DisclosureSettings::native`].
    pub native: Option<(Vec<String>, String)>,
}

impl PromptSettings {
    /// Returns `options`, changed by these settings.
    pub fn apply(&self, mut options: PromptOptions) -> Result<PromptOptions, Error> {
        if let Some(format) = &self.format {
            options.format = format.parse()?;
        }
        options.context_window = self.context_window.or(options.context_window);
        if let Some(budget) = &self.budget {
            // `None` would stand for the default budget here, so "unlimited" becomes the largest
            // number.
            let unlimited = Budget::Characters(usize::MAX);
            options.budget = Some(budget.read(options.context_window)?.unwrap_or(unlimited));
        }
        options.locations = self.locations.unwrap_or(options.locations);
        if let Some(how) = &self.how_to_load {
            options.how_to_load = how.to_engine();
        }
        if let Some((roots, words)) = &self.native {
            options.native = Some(native(roots, words));
        }
        Ok(options)
    }
}

fn native(roots: &[String], words: &str) -> NativeSkills {
    let mut native = NativeSkills::default();
    native.roots = Cow::Owned(roots.iter().cloned().map(Cow::Owned).collect());
    native.how_to_load = Cow::Owned(words.to_owned());
    native
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_only_what_they_name() {
        let settings = DisclosureSettings {
            max_skills: Some(1),
            budget: Some(BudgetValue::Text("2%".to_owned())),
            context_window: Some(1000),
            relevance: Some(false),
            how_to_load: Some(HowToLoadSetting::read("tool: load_skill")),
            ..DisclosureSettings::default()
        };
        let options = settings.apply(DisclosureOptions::default()).unwrap();
        let default = DisclosureOptions::default();
        assert_eq!((options.max_skills, options.max_lines), (1, default.max_lines));
        assert_eq!(options.budget, Some(Budget::Share { percent: 2.0, window: 1000 }));
        assert_eq!(options.relevance, None);
        assert_eq!(options.how_to_load, HowToLoad::Tool("load_skill".to_owned()));
        assert_eq!(options.restore, default.restore);
    }

    #[test]
    fn budgets_without_limit_are_only_refused_where_there_must_be_one() {
        let unlimited = Some(BudgetValue::Text("unlimited".to_owned()));
        let settings = DisclosureSettings { budget: unlimited.clone(), ..Default::default() };
        assert_eq!(settings.apply(DisclosureOptions::default()).unwrap().budget, None);
        let settings = DisclosureSettings { restore: unlimited, ..Default::default() };
        let error = settings.apply(DisclosureOptions::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam);
    }
}
