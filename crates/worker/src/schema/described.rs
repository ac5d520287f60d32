//! Values with the parts of a schema that describe them.

use serde_json::Value;

use super::target;

/// The most references and choices from a schema to the ones that it names.
pub(super) const MAX_STEPS: usize = 8;

/// Calls `change` for a value, and then for those in it, each with the schema that describes it. Looks at properties
/// and items, directly, through a `$ref`, or as the only choice but `null`, which is how Pydantic writes optional values;
/// values below other keywords are not found.
pub(super) fn each_described(
    value: &mut Value,
    schema: &Value,
    change: &mut dyn FnMut(&mut Value, &Value),
) {
    walk(value, schema, schema, change);
}

fn walk(
    value: &mut Value,
    schema: &Value,
    root: &Value,
    change: &mut dyn FnMut(&mut Value, &Value),
) {
    let schema = describing(schema, root);
    change(value, schema);
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                walk(value, &schema["properties"][name], root, change);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(item, &schema["items"], root, change);
            }
        }
        _ => {}
    }
}

/// Returns the schema that describes the values of `schema`: what its `$ref` names, or its only choice
/// but `null`.
fn describing<'s>(mut schema: &'s Value, root: &'s Value) -> &'s Value {
    for _ in 0..MAX_STEPS {
        let target = schema["$ref"].as_str().and_then(|reference| target(root, reference));
        match target.or_else(|| only_choice(schema)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn only_choice(schema: &Value) -> Option<&Value> {
    let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array())?;
    let mut others = choices.iter().filter(|choice| choice["type"] != "null");
    others.next().filter(|_| others.next().is_none())
}
