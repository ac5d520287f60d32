//! JSON with comments, edited so that unchanged parts stay byte for byte.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::edit::Problem;

/// Splits off a byte order mark, if there is one.
pub(crate) fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches('\u{feff}').len())
}

pub(crate) fn parse(text: &str) -> Result<CstRootNode, Problem> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| Problem {
        at: Some((error.line_display(), error.column_display())),
        ..Problem::new(format!("is not JSON: {}", error.kind()))
    })
}

pub(crate) fn object(root: &CstRootNode) -> Result<CstObject, Problem> {
    root.object_value().ok_or_else(|| Problem::new("is not a JSON object"))
}

/// Returns the property `name`. Fails if there are several: agents read the last one, and would not find
/// what is written into another.
pub(crate) fn property(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, Problem> {
    let is_named = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    let mut properties = object.properties().into_iter().filter(is_named);
    let first = properties.next();
    match properties.next() {
        None => Ok(first),
        Some(_) => Err(Problem::new(format!("has the key `{name}` twice in one object"))),
    }
}

/// Parses `text`; `null` if it is not JSON.
pub(crate) fn value(text: &str) -> Value {
    parse(without_mark(text).1).ok().and_then(|root| root.to_serde_value()).unwrap_or_default()
}

/// Converts `value` for writing, with the fields that say most about a hook first.
pub(crate) fn input(value: &Value) -> CstInputValue {
    let order =
        |name: &str| ["type", "matcher", "hooks", "command"].iter().position(|n| *n == name);
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            let mut fields: Vec<_> = values.iter().collect();
            fields.sort_by_key(|(name, _)| order(name).unwrap_or(usize::MAX));
            let fields = fields.into_iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
