//! Tests of the checker. `benches/rivals` runs the same cases with the crate `jsonschema`.

use std::time::{Duration, Instant};

use repertoire_plugin::ToolSpec;
use serde_json::{Map, json};

use super::*;

/// Reads the schema of a tool named `it`.
fn schemas(parameters: &Value) -> Result<Schemas, String> {
    let mut tool = ToolSpec::default();
    (tool.name, tool.parameters) = ("it".to_owned(), parameters.clone());
    let mut description = ToolsetDescription::default();
    description.tools = vec![tool];
    Schemas::of(&description)
}

#[test]
fn every_case_is_decided() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let about = &case["about"];
        let schemas = match schemas(&case["schema"]) {
            Ok(_) if case["invalid"] == true => {
                wrong.push(format!("{about}: the schema is taken"));
                continue;
            }
            Ok(schemas) => schemas,
            Err(_) if case["invalid"] == true => continue,
            Err(error) => {
                wrong.push(format!("{about}: {error}"));
                continue;
            }
        };
        for (key, fits) in [("fits", true), ("unfit", false)] {
            for value in case[key].as_array().unwrap() {
                let checked = schemas.check("it", value);
                if checked.is_ok() != fits {
                    wrong.push(format!("{about}: {value} {checked:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn problems_are_told_with_their_places() {
    let variants = |n: usize| {
        let variant = |i| {
            json!({
                "properties": {"kind": {"const": format!("k{i}")}, "n": {"type": "integer"}},
                "required": ["kind", "n"],
            })
        };
        json!({"oneOf": (0..n).map(variant).collect::<Vec<_>>()})
    };
    let long = "x".repeat(100);
    for (schema, value, wanted) in [
        (
            json!({"type": "object"}),
            json!([1]),
            "the arguments: must be of type `object`, is a list",
        ),
        (
            json!({"properties": {"n": {"type": ["integer", "null"]}}}),
            json!({"n": "two"}),
            "`/n`: must be of type `integer` or `null`, is \"two\"",
        ),
        (
            json!({"properties": {"a/b~": {"items": {"enum": ["m", "ft", 3]}}}}),
            json!({"a/b~": ["m", "km"]}),
            "`/a~1b~0/1`: must be `\"m\"` or `\"ft\"` or `3`, is \"km\"",
        ),
        (
            json!({"properties": {"name": {}, "n": {}}, "required": ["name", "n"],
                "additionalProperties": false}),
            json!({"nam": 1}),
            "the arguments: `name` is missing; the arguments: `n` is missing; the arguments: `nam` \
             is not one of the properties (`n`, `name`)",
        ),
        (json!({"minimum": 1}), json!(0), "the arguments: must be at least 1, is 0"),
        (json!({"exclusiveMaximum": 1.5}), json!(2), "the arguments: must be less than 1.5, is 2"),
        (json!({"multipleOf": 5}), json!(7), "the arguments: must be a multiple of 5, is 7"),
        (
            json!({"minLength": 3}),
            json!("éé"),
            "the arguments: must have at least 3 characters, has 2",
        ),
        (json!({"maxItems": 1}), json!([1, 2]), "the arguments: must have at most 1 items, has 2"),
        (
            json!({"uniqueItems": true}),
            json!(["a", "a"]),
            "the arguments: must not have an item twice, has \"a\" twice",
        ),
        (
            json!({"pattern": "^a"}),
            json!(long),
            &format!("the arguments: must match the pattern `^a`, is \"{}…\"", &long[..60]),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(true),
            "the arguments: must fit one of 2 alternatives (the arguments: must be of type \
             `string`, is true, or the arguments: must be of type `null`, is true)",
        ),
        (
            json!({"oneOf": [{}, true]}),
            json!(1),
            "the arguments: must fit only one alternative of `oneOf`, fits 2",
        ),
        (json!({"not": {}}), json!(1), "the arguments: must not fit the schema of `not`"),
        (json!({"properties": {"a": false}}), json!({"a": 1}), "`/a`: no value is allowed"),
    ] {
        assert_eq!(schemas(&schema).unwrap().check("it", &value), Err(wanted.to_owned()));
    }

    // Of many variants, the message explains the one that is meant.
    let schema = schemas(&variants(30)).unwrap();
    let problem = schema.check("it", &json!({"kind": "k20", "n": "x"})).unwrap_err();
    assert!(problem.contains("`/n`: must be of type `integer`"), "{problem}");

    let items: Vec<Value> = (0..100).map(Value::from).collect();
    let schema = schemas(&json!({"items": {"type": "string"}})).unwrap();
    let problems = schema.check("it", &items.into()).unwrap_err();
    assert_eq!(problems.matches("; ").count(), 4, "{problems}");
    let names: Vec<String> = (0..100).map(|i| format!("n{i}")).collect();
    let missing = schemas(&json!({"required": names})).unwrap().check("it", &json!({}));
    assert_eq!(missing.unwrap_err().matches("is missing").count(), 5);
    assert_eq!(schema.check("another", &json!(1)), Ok(()), "the toolset itself reports that");
}

#[test]
fn an_invalid_schema_is_refused_by_name() {
    for (schema, why) in [
        (json!({"items": {"type": "objekt"}}), "`type` cannot be \"objekt\""),
        (json!({"$ref": "#/$defs/a"}), "`$ref` cannot be \"#/$defs/a\""),
        (json!({"items": 5}), "5 is not a schema"),
        (json!({"properties": {"a": {"$id": "http://x/y"}}}), "`$id` cannot be \"http://x/y\""),
    ] {
        let error = schemas(&schema).unwrap_err();
        let problem = error.strip_prefix("the tool `it` has no valid schema: ");
        assert_eq!(problem, Some(why), "{error}");
    }
}

#[test]
fn what_is_not_checked_is_named() {
    let schema = json!({
        "properties": {
            "a": {"format": "email", "pattern": "^(?!x)", "title": "A"},
            "b": {"$ref": "https://example.com/b.json", "format": "uri"},
            "c": {"$ref": "#/$defs/c"},
            "format": {"default": {"nothing": 1}},
        },
        "$defs": {"c": {"x-c": 1, "items": {"$ref": "#/$defs/c"}}, "unused": {"x-d": 1}},
    });
    let wanted =
        ["`format`", "`x-c`", "the pattern `^(?!x)`", "the reference `https://example.com/b.json`"];
    assert!(unchecked(&schema).iter().eq(&wanted), "{:?}", unchecked(&schema));
    let long = json!({"pattern": format!("^{}", "a".repeat(40_000))});
    assert_eq!(unchecked(&long).len(), 1);
}

/// Makes `n` definitions, each of which combines the next one with itself by `twice`.
fn nested(n: usize, twice: impl Fn(&Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for i in 0..n {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        definitions.insert(format!("d{i}"), twice(&next));
    }
    definitions.insert(format!("d{n}"), json!({"type": ["string", "object"]}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn no_schema_takes_long() {
    let mut list = json!("a");
    for _ in 0..40 {
        list = json!([list]);
    }
    let mut deep = json!([]);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    let mut map = Map::new();
    for i in 0..500 {
        map.insert(format!("{i}{}", "x".repeat(100)), json!(["a", {"b": "c".repeat(100)}]));
    }
    let map = Value::from(map);
    let patterns: Map<String, Value> =
        (0..500).map(|i| (format!("[a-w]{{9}}{i}"), json!(i % 2 == 0))).collect();
    let both = |next: &Value| json!({"allOf": [next, next]});
    for (schema, value) in [
        (nested(40, both), json!("a")),
        (nested(40, |next| json!({"anyOf": [next, next]})), json!(1)),
        (nested(40, |next| json!({"allOf": [{"items": next}, {"items": next}]})), list.clone()),
        (json!({"$ref": "#"}), json!(1)),
        (json!({"allOf": [{"$ref": "#"}, {"type": "object"}]}), json!({})),
        (json!({"not": {"$ref": "#"}}), json!({})),
        (json!({"anyOf": [{"$ref": "#"}]}), json!({})),
        (json!({"items": {"oneOf": [{"allOf": [{"not": {"$ref": "#"}}]}]}}), deep),
        (
            json!({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "uniqueItems": true}),
            list.clone(),
        ),
        (nested(20, |next| json!({"allOf": [next, next], "enum": [map]})), map.clone()),
        (
            nested(12, |next| json!({"allOf": [next, next], "patternProperties": patterns})),
            map.clone(),
        ),
        (
            nested(20, |next| json!({"allOf": [next, next], "pattern": "x.*y"})),
            json!("xy".repeat(100_000)),
        ),
    ] {
        let text: String = schema.to_string().chars().take(100).collect();
        let schemas = schemas(&schema).unwrap();
        let began = Instant::now();
        let error = schemas.check("it", &value).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}: {text}", began.elapsed());
        assert!(error.contains("takes too long"), "{error}: {text}");
    }
}

#[test]
fn schemas_and_arguments_of_use_are_far_from_the_limits() {
    let variants: Vec<Value> = (0..300)
        .map(|i| json!({"properties": {"kind": {"const": i}, "of": {"type": "string"}}}))
        .collect();
    let tree = json!({"$defs": {"node": {"type": "object", "properties": {
        "left": {"$ref": "#/$defs/node"}, "right": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
    }}}, "$ref": "#/$defs/node"});
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"right": deep});
    }
    let row = json!({"id": 1, "name": "a", "tags": ["x", "y"], "at": "2024-05-01"});
    let rows = json!({"items": {"type": "object", "required": ["id", "name"], "properties": {
        "id": {"type": "integer", "minimum": 1}, "name": {"type": "string", "minLength": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "at": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
    }, "additionalProperties": false}});
    let text = json!({"type": "string", "pattern": "^[^\\0]*$"});
    for (schema, value) in [
        (json!({"oneOf": variants}), json!({"kind": 299, "of": "x"})),
        (tree, deep),
        (rows, vec![row; 10_000].into()),
        (text, "a".repeat(10_000_000).into()),
    ] {
        let schemas = schemas(&schema).unwrap();
        assert_eq!(schemas.check("it", &value), Ok(()));
    }
}
