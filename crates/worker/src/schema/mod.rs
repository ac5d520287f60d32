//! The schemas of a toolset's tools, and their arguments: brought into the form that a schema asks for before a call,
//! and checked where the tool runs.

mod check;
mod described;
mod integers;
mod keywords;
mod nulls;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeSet, HashMap};

use percent_encoding::percent_decode_str;
use repertoire_plugin::ToolsetDescription;
use serde_json::Value;

use keywords::Schema;

pub use integers::with_integers;
pub use nulls::without_nulls;

/// The schemas of a toolset, by tool.
#[derive(Debug)]
pub struct Schemas(HashMap<String, Schema>);

impl Schemas {
    /// Reads the schemas of all tools. The error names the tool, and what is wrong with its schema.
    pub fn of(description: &ToolsetDescription) -> Result<Schemas, String> {
        let schemas = description.tools.iter().map(|tool| {
            let schema = Schema::read(&tool.parameters)
                .map_err(|why| format!("the tool `{}` has no valid schema: {why}", tool.name))?;
            Ok((tool.name.clone(), schema))
        });
        schemas.collect::<Result<_, _>>().map(Schemas)
    }

    /// Checks the arguments of a tool. The error lists the problems in one line, each with its place.
    pub fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        // The toolset itself reports that it does not have the tool.
        self.0.get(tool).map_or(Ok(()), |schema| schema.check(arguments))
    }
}

/// Returns the parts of a schema that no value is checked against, as phrases.
pub fn unchecked(schema: &Value) -> BTreeSet<String> {
    Schema::read(schema).map(|schema| schema.unchecked).unwrap_or_default()
}

/// Returns the subschema of `root` that a reference means, if `root` has it.
pub fn target<'r>(root: &'r Value, reference: &str) -> Option<&'r Value> {
    let id = root["$id"].as_str().unwrap_or_default();
    let fragment = reference.strip_prefix(id).unwrap_or(reference).strip_prefix('#')?;
    root.pointer(&percent_decode_str(fragment).decode_utf8_lossy())
}
