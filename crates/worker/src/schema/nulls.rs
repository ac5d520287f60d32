//! `null` in the arguments of tools.
//!
//! Frameworks and models that fill in every parameter write `null` for those that they leave out. Many schemas
//! name the type of an optional parameter alone, so that the tool would refuse the call.

use serde_json::Value;

use super::described::{MAX_STEPS, each_described};
use super::target;

/// Removes each property that is `null` from `arguments` if `schema` neither requires it nor allows `null` for it, as
/// far as `each_described` finds them.
pub fn without_nulls(mut arguments: Value, schema: &Value) -> Value {
    each_described(&mut arguments, schema, &mut |value, described| {
        let Value::Object(map) = value else { return };
        let required = described["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        map.retain(|name, value| {
            let is_required = required.iter().any(|required| required == name);
            let property = &described["properties"][name];
            !value.is_null() || is_required || allows_null(property, schema, 0)
        });
    });
    arguments
}

/// Tells whether `null` may fit a schema, which is so where only keywords that are not read here speak of it.
fn allows_null(schema: &Value, root: &Value, n_steps: usize) -> bool {
    if n_steps > MAX_STEPS {
        return true;
    }
    let listed = |key: &str| schema[key].as_array();
    let allows = |schema: &Value| allows_null(schema, root, n_steps + 1);
    let of_type = match &schema["type"] {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        _ => true,
    };
    let of_values = listed("enum").is_none_or(|values| values.contains(&Value::Null));
    let of_choices = ["anyOf", "oneOf"]
        .iter()
        .all(|key| listed(key).is_none_or(|choices| choices.iter().any(allows)));
    let reference = schema["$ref"].as_str().and_then(|reference| target(root, reference));
    of_type && of_values && of_choices && reference.is_none_or(allows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_goes_where_it_stands_for_nothing_and_would_be_refused() {
        let text = json!({"type": "string"});
        let schema = json!({
            "properties": {
                "text": text, "named": {"$ref": "#/$defs/t"}, "choice": {"enum": ["a", "b"]},
                "either": {"anyOf": [text, {"type": "integer"}]}, "needed": text,
                "nested": {"properties": {"text": text}},
                "list": {"items": {"properties": {"text": text}}},
                "maybe": {"type": ["string", "null"]}, "pydantic": {"anyOf": [text, {"type": "null"}]},
                "choice_or_null": {"enum": ["a", null]}, "any": {}, "loop": {"$ref": "#/properties/loop"},
            },
            "required": ["needed"],
            "$defs": {"t": text},
        });
        for (given, wanted) in [
            (json!({"text": null, "named": null, "choice": null, "either": null}), json!({})),
            (json!({"text": "a", "named": null}), json!({"text": "a"})),
            (json!({"nested": {"text": null}}), json!({"nested": {}})),
            (json!({"list": [{"text": null}, null]}), json!({"list": [{}, null]})),
        ] {
            assert_eq!(without_nulls(given.clone(), &schema), wanted, "{given}");
        }
        for kept in [
            json!({"needed": null}),
            json!({"maybe": null, "pydantic": null, "choice_or_null": null, "any": null}),
            json!({"loop": null, "unknown": null}),
            json!(null),
            json!([null]),
        ] {
            assert_eq!(without_nulls(kept.clone(), &schema), kept);
            assert_eq!(without_nulls(kept.clone(), &json!(true)), kept);
        }
    }
}
