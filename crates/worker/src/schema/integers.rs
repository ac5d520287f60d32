//! Whole numbers in the arguments of tools.
//!
//! JSON Schema accepts `2.0` as an `integer`, and models and JavaScript write it. Many languages do not
//! read it as one, so the tool would fail after its arguments passed the schema.

use serde_json::{Number, Value};

use super::described::each_described;

/// The integers that a float holds exactly are below this number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns `arguments` with integers in place of the whole floats for which `schema` says `integer`, as far as
/// `each_described` finds them.
pub fn with_integers(mut arguments: Value, schema: &Value) -> Value {
    each_described(&mut arguments, schema, &mut |value, schema| {
        let Value::Number(number) = value else { return };
        if let Some(integer) = integer(number).filter(|_| is_integer(&schema["type"])) {
            *number = integer.into();
        }
    });
    arguments
}

/// Tells whether the type of a schema is `integer`, alone or in a list without `number`.
fn is_integer(kind: &Value) -> bool {
    let has = |name: &str| kind.as_array().is_some_and(|kinds| kinds.iter().any(|k| k == name));
    kind == "integer" || has("integer") && !has("number")
}

/// The integer that a float equals; `None` for other floats and for integers.
fn integer(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.abs() < EXACT)?;
    (float.fract() == 0.0).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_floats_become_integers_where_the_schema_says_so() {
        let integer = json!({"type": "integer"});
        let optional = json!({"type": ["integer", "null"]});
        let nested = json!({"$ref": "#/$defs/a%20b"});
        let schema = json!({
            "properties": {
                "n": integer, "o": optional, "f": {"type": "number"}, "any": {},
                "both": {"type": ["integer", "number"]},
                "list": {"items": integer}, "nested": nested, "loop": {"$ref": "#/properties/loop"},
                "maybe": {"anyOf": [integer, {"type": "null"}]},
                "maybe_nested": {"oneOf": [{"type": "null"}, nested]},
                "one_of_two": {"anyOf": [integer, {"type": "number"}]},
            },
            "$defs": {"a b": {"properties": {"n": integer, "nested": nested}}},
        });
        for (given, wanted) in [
            (json!({"n": 2.0}), json!({"n": 2})),
            (json!({"n": -0.0, "o": 1e3}), json!({"n": 0, "o": 1000})),
            (json!({"maybe": 2.0}), json!({"maybe": 2})),
            (json!({"maybe_nested": {"n": 2.0}}), json!({"maybe_nested": {"n": 2}})),
            (json!({"o": null, "list": [1.0, 2, 3.0]}), json!({"o": null, "list": [1, 2, 3]})),
            (
                json!({"nested": {"n": 1.0, "nested": {"n": 2.0}}}),
                json!({"nested": {"n": 1, "nested": {"n": 2}}}),
            ),
        ] {
            assert_eq!(with_integers(given.clone(), &schema), wanted, "{given}");
        }
        for kept in [
            json!({"f": 2.0, "any": 2.0, "both": 2.0, "more": 2.0}),
            json!({"n": 2.5, "o": 1e300, "list": 2.0, "nested": [2.0]}),
            json!({"loop": 2.0, "maybe": null, "one_of_two": 2.0}),
            json!({"n": u64::MAX, "nested": {"n": "2.0"}}),
            json!([2.0]),
            json!(2.0),
        ] {
            assert_eq!(with_integers(kept.clone(), &schema), kept);
            assert_eq!(with_integers(kept.clone(), &json!(true)), kept);
        }
    }
}
