//! Conversion of arguments from the model's JSON to the author's types.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::error::Category;

use crate::{ToolError, ToolResult, ToolSpec, schema};

/// The arguments of a tool that takes no arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Parses a tool's arguments. An error names the wrong argument and says what the tool takes.
pub(crate) fn parse<A: DeserializeOwned>(text: &str, spec: &ToolSpec) -> ToolResult<A> {
    let text = match text {
        object if object.starts_with('{') => object,
        other => match other.trim() {
            "" | "null" => "{}",
            text => text,
        },
    };
    read(text).map_err(|problem| {
        let name = &spec.name;
        let takes = schema::summary(&spec.parameters);
        ToolError::invalid_arguments(format!("{problem}; `{name}` takes {takes}"))
    })
}

/// Parses a toolset's configuration; a missing configuration counts as `{}`.
pub fn parse_config<C: DeserializeOwned>(config: Value) -> ToolResult<C> {
    let config = if config.is_null() { Value::Object(serde_json::Map::new()) } else { config };
    serde_path_to_error::deserialize(config).map_err(|error| {
        let problem = described(&error.path().to_string(), &error.inner().to_string());
        ToolError::invalid_arguments(format!("the configuration does not fit: {problem}"))
    })
}

fn read<A: DeserializeOwned>(text: &str) -> Result<A, String> {
    // Serde would accept a list in place of a struct, field by field.
    if !text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return Err("the arguments are not a JSON object".to_owned());
    }
    // Tracking the path costs as much as parsing, so it is done only to explain an error.
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match inner.classify() {
            Category::Data => described(&path, &without_position(&inner)),
            _ => format!("the arguments are not JSON: {inner}"),
        }
    })?;
    deserializer.end().map_err(|error| format!("the arguments are not JSON: {error}"))?;
    Ok(value)
}

fn described(path: &str, problem: &str) -> String {
    match path {
        "." | "?" | "" => problem.to_owned(),
        path => format!("argument `{path}`: {problem}"),
    }
}

/// Drops the position in the JSON text, which does not help a model.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}
