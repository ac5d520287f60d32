//! The tools of the example skill `hello-extended`: greetings by language, politeness and hour.
//!
//! The greetings come from the table in the skill's own reference, so that the tool and the text that
//! the model reads cannot disagree.
#![forbid(unsafe_code)]

mod table;

use repertoire_plugin::prelude::*;

use table::{Language, Table};

/// Greets in the languages of the table.
pub struct HelloToolset {
    table: Table,
}

/// The politeness of a greeting.
#[arguments]
#[derive(Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub enum Politeness {
    /// For friends and family.
    Casual,
    /// For colleagues and strangers.
    #[default]
    Neutral,
    /// For customers, elders and officials.
    Formal,
}

/// Greetings in over thirty languages.
#[toolset]
impl HelloToolset {
    fn create(_config: Value) -> ToolResult<Self> {
        Ok(Self {
            table: Table::read(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../skills/hello-extended/references/greetings.md"
            ))),
        })
    }

    /// Greets somebody by name in a language of the table.
    #[tool(read_only, idempotent)]
    pub fn greet(
        &self,
        /** Who to greet, as the person is addressed */
        name: String,
        /** English name of the language; English by default */
        language: Option<String>,
        /** Neutral by default */
        politeness: Option<Politeness>,
        /** The hour at the recipient's place, 0 to 23, for a form that fits it */
        hour: Option<u8>,
    ) -> ToolResult {
        let name = name.trim();
        if name.is_empty() {
            return Err(ToolError::invalid_arguments("nobody to greet: `name` is empty"));
        }
        if let Some(hour) = hour.filter(|hour| *hour > 23) {
            return Err(ToolError::invalid_arguments(format!("there is no hour {hour}: 0 to 23")));
        }
        let language = language.as_deref().unwrap_or("English");
        let language = self.table.find(language).ok_or_else(|| {
            let message = format!("`{language}` is not in the table; `languages` lists what is");
            ToolError::invalid_arguments(message)
        })?;
        let cell = language.form(politeness.unwrap_or_default(), hour);
        let output = ToolOutput::text(addressed(language, cell, name))
            .title(format!("Greeted {name} in {}", language.name))
            .meta("language", language.name.as_str());
        Ok(if language.note.is_empty() {
            output
        } else {
            output.meta("note", language.note.as_str())
        })
    }

    /// Lists the languages that `greet` knows.
    #[tool(read_only, idempotent)]
    pub fn languages(&self) -> ToolResult {
        let names: Vec<&str> = self.table.names().collect();
        Ok(names.join(", ").into())
    }
}

/// Returns the greeting in a cell of the table, addressed to `name`. If the cell offers a choice or
/// leaves the place of the name open, it is returned as it is, with a hint.
fn addressed(language: &Language, cell: &str, name: &str) -> String {
    if cell.contains(['/', '…', ',']) {
        return format!("{cell} (choose what fits {name})");
    }
    let (form, reading) = match cell.split_once(" (") {
        Some((form, reading)) => (form, format!(" ({reading}")),
        None => (cell, String::new()),
    };
    let (before, after) = match language.name.as_str() {
        "Spanish" => ("¡", "!"),
        "French" => ("", " !"),
        _ => ("", "!"),
    };
    format!("{before}{form}, {name}{after}{reading}")
}

export_toolsets!(HelloToolset);

#[cfg(test)]
mod tests;
