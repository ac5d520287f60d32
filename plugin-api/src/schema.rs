//! Parameters as JSON Schema, in the dialect that every provider accepts.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Formats that JSON Schema itself defines; some providers refuse others, such as `uint32`.
const STANDARD_FORMATS: &[&str] = &[
    "date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri",
    "uri-reference", "uuid", "json-pointer", "regex",
];

/// Returns the JSON Schema of a tool's arguments: one object, with everything inlined, and no other
/// keys allowed.
pub fn parameters_of<A: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    tidy(&mut schema);
    // The doc comment of the arguments' struct does not describe the tool, so it would only be noise.
    if let Value::Object(root) = &mut schema {
        root.remove("description");
        complete(root);
    }
    schema
}

/// Adds what providers require of every tool and schemars omits.
fn complete(root: &mut Map<String, Value>) {
    let is_choice = root.contains_key("oneOf") || root.contains_key("anyOf");
    if is_choice {
        root.entry("type").or_insert_with(|| json!("object"));
    }
    if root.get("type") == Some(&json!("object")) && !is_choice {
        root.entry("properties").or_insert_with(|| json!({}));
        root.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

fn tidy(schema: &mut Value) {
    let Value::Object(map) = schema else {
        if *schema == Value::Bool(true) {
            *schema = json!({});
        }
        return;
    };
    map.remove("$schema");
    map.remove("title");
    if map.get("format").is_some_and(|f| !f.as_str().is_some_and(is_standard)) {
        map.remove("format");
    }
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(tidy),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(tidy);
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                value @ Value::Object(_),
            ) => tidy(value),
            _ => {}
        }
    }
}

fn is_standard(format: &str) -> bool {
    STANDARD_FORMATS.contains(&format)
}

/// Returns the parameters as a phrase: "`name` (string), `times` (integer, optional)".
pub(crate) fn summary(parameters: &Value) -> String {
    let Some(properties) = parameters["properties"].as_object().filter(|map| !map.is_empty())
    else {
        return "no arguments".to_owned();
    };
    let required = parameters["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|r| r == name));
    let one = |(name, schema): (&String, &Value)| {
        let kind = kind(schema);
        let optional = if is_required(name) { "" } else { ", optional" };
        format!("`{name}` ({kind}{optional})")
    };
    properties.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}
