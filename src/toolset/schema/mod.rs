//! The schemas of a toolset's tools. Arguments are checked where the tool runs, against schemas whose
//! cost was bounded when they were read.

mod cost;
mod nodes;

use std::collections::HashMap;

use jsonschema::Validator;
use repertoire_plugin::ToolsetDescription;
use serde_json::Value;

pub(super) use nodes::fragment;

/// The most problems that an error lists.
const MAX_PROBLEMS: usize = 5;

/// The compiled schemas of a toolset, by tool.
#[derive(Debug)]
pub(super) struct Schemas(HashMap<String, Validator>);

impl Schemas {
    /// Compiles the schemas of all tools.
    ///
    /// The error names the tool, and the problem with its schema: it is invalid, or checking arguments
    /// against it could take very long.
    pub(super) fn of(description: &ToolsetDescription) -> Result<Schemas, String> {
        let schemas = description.tools.iter().map(|tool| {
            let name = &tool.name;
            cost::check(&tool.parameters)
                .map_err(|why| format!("the schema of the tool `{name}` {why}"))?;
            let validator = jsonschema::validator_for(&tool.parameters)
                .map_err(|error| format!("the tool `{name}` has no valid schema: {error}"))?;
            Ok((name.clone(), validator))
        });
        schemas.collect::<Result<_, _>>().map(Schemas)
    }

    /// Checks the arguments of a tool. The error lists the problems in one line, each with its place.
    pub(super) fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        // The toolset itself reports that it does not have the tool.
        let Some(validator) = self.0.get(tool) else { return Ok(()) };
        if validator.is_valid(arguments) {
            return Ok(());
        }
        let problems = validator.iter_errors(arguments).take(MAX_PROBLEMS).map(|error| {
            let place = error.instance_path().to_string();
            let place =
                if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
            format!("{place}: {error}")
        });
        Err(problems.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use repertoire_plugin::ToolSpec;
    use serde_json::json;

    use super::*;

    fn schemas(parameters: Value) -> Result<Schemas, String> {
        let mut tool = ToolSpec::default();
        (tool.name, tool.parameters) = ("it".to_owned(), parameters);
        let mut description = ToolsetDescription::default();
        description.tools = vec![tool];
        Schemas::of(&description)
    }

    #[test]
    fn problems_are_told_with_their_places() {
        let parameters = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "all": {"items": {"type": "string"}}},
            "required": ["n"],
        });
        let schemas = schemas(parameters).unwrap();
        assert_eq!(schemas.check("it", &json!({"n": 1, "all": ["a"]})), Ok(()));
        assert_eq!(schemas.check("another", &json!(1)), Ok(()));
        let problems = schemas.check("it", &json!({"all": [1]})).unwrap_err();
        for part in ["`/all/0`: 1 is not of type", "the arguments: \"n\" is a required property"] {
            assert!(problems.contains(part), "{problems}");
        }
    }

    #[test]
    fn a_schema_that_is_none_is_refused_by_name() {
        let error = schemas(json!({"type": "objekt"})).unwrap_err();
        assert!(error.starts_with("the tool `it` has no valid schema: "), "{error}");
    }
}
